import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';
import { localLookup } from '../../../shared/http/local-lookup.ts';

/** Addresses that nothing is fetched from. */
export interface BlockedRanges {
  readonly blocks: (address: string) => boolean;
}

/**
 * This machine, and what every machine of a cloud reaches beside it, as the keys of its role.
 * `BLOCKED_CIDRS_IN_JWKS_URIS` says others instead.
 */
export const usuallyBlocked =
  '0.0.0.0/8,127.0.0.0/8,169.254.0.0/16,::/128,::1/128,fe80::/10,fd00:ec2::254/128';

/** Ranges separated by commas, `none` for none; or the first text that is no range. Pure. */
export function blockedRanges(text: string): BlockedRanges | { readonly wrong: string } {
  const list = new BlockList();
  const said = text === 'none' ? [] : text.split(',').map((one) => one.trim());
  for (const range of said) {
    const [address = '', length = '', ...more] = range.split('/');
    const bits = isIPv6(address) ? 128 : 32;
    const isRight = isIP(address) > 0 && /^\d{1,3}$/.test(length) && Number(length) <= bits;
    if (!isRight || more.length > 0) return { wrong: range };
    list.addSubnet(address, Number(length), isIPv6(address) ? 'ipv6' : 'ipv4');
  }
  return { blocks: (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4') };
}

/** Looks a host up, and fails if one of its addresses is blocked: it is asked for no other. */
export function guardedLookup({ blocks }: BlockedRanges): LookupFunction {
  return (host, options, done) =>
    localLookup(host, { ...options, all: true }, (error, found) => {
      const addresses = Array.isArray(found) ? found : [];
      const blocked = addresses.find(({ address }) => blocks(address));
      const [first] = addresses;
      if (error !== null) done(error, []);
      else if (blocked !== undefined)
        done(new Error(`${host} has the address ${blocked.address}, which is blocked`), []);
      else if (options.all === true) done(null, addresses);
      else done(null, first?.address ?? '', first?.family);
    });
}
