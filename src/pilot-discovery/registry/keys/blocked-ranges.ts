import { isIP, isIPv6, type LookupFunction } from 'node:net';
import { localLookup } from '../../../shared/http/local-lookup.ts';
import { withinRanges } from '../../../shared/text/within-ranges.ts';

/** Addresses from which nothing is fetched. */
export interface BlockedRanges {
  readonly blocks: (address: string) => boolean;
}

/**
 * The addresses of this machine, and of the metadata services of clouds, which give a machine the
 * credentials of its role. `BLOCKED_CIDRS_IN_JWKS_URIS` replaces them.
 */
export const usuallyBlocked =
  '0.0.0.0/8,127.0.0.0/8,169.254.0.0/16,::/128,::1/128,fe80::/10,fd00:ec2::254/128';

/**
 * Reads ranges that are separated by commas; `none` for none. Returns the first text that is not a
 * range, if there is one. Pure.
 */
export function blockedRanges(text: string): BlockedRanges | { readonly wrong: string } {
  const ranges = text === 'none' ? [] : text.split(',').map((range) => range.trim());
  for (const range of ranges) {
    const [address = '', length = '', ...more] = range.split('/');
    const bits = isIPv6(address) ? 128 : 32;
    const isRight = isIP(address) > 0 && /^\d{1,3}$/.test(length) && Number(length) <= bits;
    if (!isRight || more.length > 0) return { wrong: range };
  }
  return { blocks: withinRanges(ranges) };
}

/**
 * Returns a lookup that fails if one address of the host is blocked. The host's other addresses are
 * not used then.
 */
export function guardedLookup({ blocks }: BlockedRanges): LookupFunction {
  return (host, options, done) =>
    localLookup(host, { ...options, all: true }, (error, results) => {
      const addresses = Array.isArray(results) ? results : [];
      const blocked = addresses.find(({ address }) => blocks(address));
      const [first] = addresses;
      if (error !== null) done(error, []);
      else if (blocked !== undefined)
        done(new Error(`${host} has the address ${blocked.address}, which is blocked`), []);
      else if (options.all === true) done(null, addresses);
      else done(null, first?.address ?? '', first?.family);
    });
}
