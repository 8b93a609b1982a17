import { headerName } from '../fields/read-header-name.ts';
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
} from '../fields/members.ts';
import { nobodysKeys, tokenKeys } from './token-keys.ts';
import type { KeysAddress, TokenRule } from './token-rule.ts';

/** Reads the header of a claim. Kubernetes accepts no other names. */
const claimHeaderName: ReadMember<string> = (value, place) => {
  const name = needed(value, place);
  if (!/^[-\w]*$/.test(name))
    wrong(
      place,
      `'${name}' is not a valid name of a header for a claim (letters, digits, - and _)`,
    );
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

/** The default of Istio, in ms. */
const usualTimeout = 5_000;

/** The longest address that Kubernetes accepts. */
const longestAddress = 2_048;

const keysAddress: ReadMember<string> = (value, place) => {
  const read = needed(value, place);
  if (read !== '' && !isHttpUrl(read))
    wrong(place, `'${read.slice(0, 200)}' is not http://HOST… or https://HOST…`);
  if (read.length > longestAddress)
    wrong(place, `it has ${read.length} characters, and the limit is ${longestAddress}`);
  return read;
};

const isHttpUrl = (address: string): boolean =>
  /^https?:\/\/[^/]/i.test(address) && URL.canParse(address);

/** Reads a member of `jwtRules`. */
export const tokenRule: ReadMember<TokenRule> = (value, place) =>
  members(value, place, [], (get, has) => {
    const issuer = get('issuer', needed);
    const inlineKeys = get('jwks', keys);
    const address = get('jwksUri', maybe(keysAddress));
    const timeoutMs = get('timeout', durationAbove0) ?? usualTimeout;
    if (has('jwks') && has('jwksUri'))
      wrong(below(place, 'jwksUri'), 'it cannot be beside jwks: give one of the two');
    const from = fetchedFrom(issuer, address, timeoutMs);
    if (inlineKeys === undefined && from === undefined && issuer !== '') sayUnknown(issuer, place);
    return {
      issuer,
      audiences: get('audiences', list(needed)),
      keys:
        inlineKeys === undefined && from !== undefined
          ? { type: 'fetched', from }
          : { type: 'known', keys: inlineKeys ?? nobodysKeys },
      fromHeaders: get(
        'fromHeaders',
        list((header, headerPlace) =>
          members(header, headerPlace, [], (headerMember) => ({
            name: headerMember('name', headerName),
            prefix: headerMember('prefix', prefix),
          })),
        ),
      ),
      fromParams: get('fromParams', list(needed)),
      fromCookies: get('fromCookies', list(needed)),
      original: get('forwardOriginalToken', boolean) === true ? 'forwarded' : 'removed',
      payloadHeader: get('outputPayloadToHeader', (header, headerPlace) =>
        header === '' ? '' : (maybe(headerName)(header, headerPlace) ?? ''),
      ),
      claimHeaders: get(
        'outputClaimToHeaders',
        list((claimHeader, claimPlace) =>
          members(claimHeader, claimPlace, [], (claimMember) => ({
            header: claimMember('header', claimHeaderName),
            claim: claimMember('claim', needed),
          })),
        ),
      ),
    };
  });

function fetchedFrom(
  issuer: string,
  address: string | undefined,
  timeoutMs: number,
): KeysAddress | undefined {
  if (address !== undefined) return { has: 'keys', url: address, timeoutMs };
  if (!isHttpUrl(issuer)) return undefined;
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  return { has: 'discovery', url, timeoutMs };
}

function sayUnknown(issuer: string, place: Place): void {
  warn(
    place,
    `it has no jwks and no jwksUri, so each token of the issuer '${issuer.slice(0, 200)}' is refused`,
  );
}
