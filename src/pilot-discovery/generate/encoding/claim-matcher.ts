import type { MetadataMatcherSchema } from '../../../shared/proto/envoy/type/matcher/v3/metadata_pb.ts';
import type { ValueMatcherSchema } from '../../../shared/proto/envoy/type/matcher/v3/value_pb.ts';
import type { Init } from './typed-config.ts';

type ValueMatcher = Init<typeof ValueMatcherSchema>;

/** The name of the filter that validates tokens, which is also the name of its metadata. */
export const tokenFilterName = 'envoy.filters.http.jwt_authn';

/** The member of this metadata that has the claims. */
export const claimsMember = 'payload';

/** Matches a value, and a list that contains it. */
export const oneOrInList = (value: ValueMatcher): ValueMatcher => ({
  matchPattern: {
    case: 'orMatch',
    value: {
      valueMatchers: [
        {
          matchPattern: {
            case: 'listMatch',
            value: { matchPattern: { case: 'oneOf', value } },
          },
        },
        value,
      ],
    },
  },
});

/** Matches requests with a valid token whose claim has such a value. */
export const claimMatcher = (
  path: readonly string[],
  value: ValueMatcher,
): Init<typeof MetadataMatcherSchema> => ({
  filter: tokenFilterName,
  path: [claimsMember, ...path].map((key) => ({ segment: { case: 'key', value: key } })),
  value,
});
