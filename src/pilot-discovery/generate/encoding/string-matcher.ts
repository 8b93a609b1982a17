import type { StringMatch } from '../../istio/fields/values.ts';
import type { StringMatcherSchema } from '../../../shared/proto/envoy/type/matcher/v3/string_pb.ts';
import type { Init } from './typed-config.ts';

/** Returns a match of a text in the form of Envoy. */
export function stringMatcher({ type, value }: StringMatch): Init<typeof StringMatcherSchema> {
  switch (type) {
    case 'exact':
      return { matchPattern: { case: 'exact', value } };
    case 'prefix':
      return { matchPattern: { case: 'prefix', value } };
    case 'regex':
      return { matchPattern: { case: 'safeRegex', value: { regex: value } } };
  }
}
