import { isHeaderName } from './header-format.ts';
import {
  below,
  boolean,
  durationAbove0,
  list,
  maybe,
  members,
  needed,
  type Place,
  type ReadMember,
  text,
  warn,
  wrong,
} from './members.ts';
import { nobodysKeys, tokenKeys } from './token-keys.ts';
import type { TokenRule } from './token-rule.ts';

const headerName: ReadMember<string> = (value, place) => {
  const name = needed(value, place);
  if (name !== '' && !isHeaderName(name)) wrong(place, `'${name}' is no name of a header`);
  return name;
};

/** The header of a claim; Kubernetes takes no other. */
const claimHeaderName: ReadMember<string> = (value, place) => {
  const name = needed(value, place);
  if (!/^[-\w]*$/.test(name))
    wrong(place, `'${name}' is no name of a header for a claim (letters, digits, - and _)`);
  return name;
};

const prefix: ReadMember<string> = (value, place) => {
  const read = text(value, place);
  if (/[\0\r\n]/.test(read)) wrong(place, 'a line end or NUL cannot be in a header');
  return read;
};

const keys: ReadMember<string | undefined> = (value, place) => {
  const given = text(value, place);
  if (given === '') return undefined;
  const read = tokenKeys(given);
  if (!read.ok) {
    wrong(place, read.reason);
    return undefined;
  }
  if (read.noToken !== undefined) warn(place, `${read.noToken}, so no token is valid`);
  return read.keys;
};

/** Longer ones Kubernetes does not take. */
const longestAddress = 2_048;

const keysAddress: ReadMember<string> = (value, place) => {
  const read = needed(value, place);
  if (read !== '' && !isHttpUrl(read))
    wrong(place, `'${read.slice(0, 200)}' is not http://HOST… or https://HOST…`);
  if (read.length > longestAddress)
    wrong(place, `it has ${read.length} characters, and ${longestAddress} are the limit`);
  return read;
};

const isHttpUrl = (address: string): boolean =>
  /^https?:\/\/[^/]/i.test(address) && URL.canParse(address);

/** A member of `jwtRules`. */
export const tokenRule: ReadMember<TokenRule> = (value, place) =>
  members(value, place, [], (get, has) => {
    const issuer = get('issuer', needed);
    const inline = get('jwks', keys);
    get('jwksUri', maybe(keysAddress));
    get('timeout', durationAbove0);
    if (has('jwks') && has('jwksUri'))
      wrong(below(place, 'jwksUri'), 'it cannot be beside jwks: give one of both');
    if (inline === undefined) sayUnknown(issuer, has('jwksUri'), place);
    return {
      issuer,
      audiences: get('audiences', list(needed)),
      keys: inline ?? nobodysKeys,
      fromHeaders: get(
        'fromHeaders',
        list((one, at) =>
          members(one, at, [], (of) => ({
            name: of('name', headerName),
            prefix: of('prefix', prefix),
          })),
        ),
      ),
      fromParams: get('fromParams', list(needed)),
      fromCookies: get('fromCookies', list(needed)),
      original: get('forwardOriginalToken', boolean) === true ? 'forwarded' : 'removed',
      payloadHeader: get('outputPayloadToHeader', (one, at) =>
        one === '' ? '' : (maybe(headerName)(one, at) ?? ''),
      ),
      claimHeaders: get(
        'outputClaimToHeaders',
        list((one, at) =>
          members(one, at, [], (of) => ({
            header: of('header', claimHeaderName),
            claim: of('claim', needed),
          })),
        ),
      ),
    };
  });

function sayUnknown(issuer: string, hasAddress: boolean, place: Place): void {
  if (issuer === '') return;
  const what = hasAddress ? 'jwksUri is not fetched yet' : 'it has no jwks';
  warn(place, `${what}, so each token of the issuer '${issuer.slice(0, 200)}' is refused`);
}
