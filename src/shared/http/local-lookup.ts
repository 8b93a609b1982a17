// Why: docs/decisions/053-probes-do-not-wait-for-the-pool.md
import { lookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Observable } from 'rxjs';

const isLocalhost = (host: string) => /^localhost\.?$/i.test(host);

/** The addresses of this machine, in the order of tries. */
const localAddresses = ['127.0.0.1', '::1'] as const;

/** Returns the addresses of a host that needs no look-up; the host itself for any other. Pure. */
export function knownAddresses(host: string): readonly string[] {
  return isLocalhost(host) ? localAddresses : [host];
}

/**
 * Works as `dns.lookup`, but never looks `localhost` up: it would wait in the thread pool behind
 * names whose server is silent.
 */
export const localLookup: LookupFunction = (host, options, done) => {
  if (!isLocalhost(host)) {
    lookup(host, options, done);
    return;
  }
  const addresses = localAddresses
    .map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    .filter(
      ({ family }) =>
        options.family === undefined ||
        options.family === 0 ||
        `IPv${family}` === options.family ||
        family === options.family,
    );
  const [first] = addresses;
  process.nextTick(() => {
    if (options.all === true) done(null, addresses);
    else done(null, first?.address ?? '', first?.family);
  });
};

/**
 * Looks a host up once, on subscribe, as {@link localLookup} does; emits all its addresses and
 * completes, or errors if there are none.
 */
export function addressesOf(host: string): Observable<readonly string[]> {
  return new Observable((subscriber) => {
    localLookup(host, { all: true }, (error, addresses) => {
      if (error !== null) subscriber.error(error);
      else subscriber.next((addresses as readonly LookupAddress[]).map(({ address }) => address));
      subscriber.complete();
    });
  });
}
