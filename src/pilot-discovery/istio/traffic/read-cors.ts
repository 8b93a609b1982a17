import { isHeaderName } from '../fields/header-format.ts';
import {
  below,
  boolean,
  duration,
  list,
  members,
  oneOf,
  type ReadMember,
  stringMatch,
  text,
  wrong,
} from '../fields/members.ts';
import type { StringMatch } from '../fields/values.ts';
import type { CorsPolicy } from './virtual-service.ts';

const methods = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  '*',
];

const methodOfCors: ReadMember<string> = (value, place) => {
  const read = text(value, place);
  if (!methods.includes(read)) wrong(place, `'${read}' is not one of ${methods.join(', ')}`);
  return read;
};

const headerOfCors: ReadMember<string> = (value, place) => {
  const read = text(value, place);
  if (read !== '*' && !isHeaderName(read))
    wrong(place, `'${read}' is not a valid name of a header`);
  return read;
};

/** Reads the `corsPolicy` of a route. */
export const cors: ReadMember<CorsPolicy> = (value, place) =>
  members(value, place, [], (get) => {
    const exact = get('allowOrigin', list(text)).map((origin): StringMatch => ({
      type: 'exact',
      value: origin,
    }));
    const allowHeaders = get('allowHeaders', list(headerOfCors));
    const maxAgeMs = get('maxAge', duration);
    if ((maxAgeMs ?? 0) % 1_000 !== 0)
      wrong(below(place, 'maxAge'), 'browsers count whole seconds');
    return {
      allowOrigins: [...get('allowOrigins', list(stringMatch)), ...exact],
      allowMethods: get('allowMethods', list(methodOfCors)),
      allowHeaders,
      exposeHeaders: get('exposeHeaders', list(headerOfCors)),
      maxAgeMs,
      allowCredentials: get('allowCredentials', boolean),
      unmatchedPreflights: get(
        'unmatchedPreflights',
        oneOf(
          { UNSPECIFIED: 'unspecified', FORWARD: 'forward', IGNORE: 'ignore' } as const,
          'unspecified',
        ),
      ),
    };
  });
