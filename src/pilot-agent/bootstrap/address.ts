import {
  asyncScheduler,
  catchError,
  map,
  type Observable,
  of,
  type SchedulerLike,
  timeout,
  TimeoutError,
} from 'rxjs';
import { parseHostPort } from '../../shared/text/host-port.ts';
import { addressesOf } from '../../shared/http/local-lookup.ts';

/** An address without its port, or what is wrong with the text. */
export type SplitAddress =
  | { readonly ok: true; readonly host: string; readonly port: string }
  | { readonly ok: false; readonly reason: string };

/**
 * Splits `host:port` or `[host]:port`; an IPv6 address must be in brackets. Either part may be
 * empty. The parts are not checked. Pure.
 */
export function splitAddress(address: string): SplitAddress {
  if (address === '') return { ok: false, reason: 'no address specified' };
  const { host, port, isBracketed = false } = parseHostPort(address) ?? {};
  if (host === undefined || port === undefined)
    return { ok: false, reason: `'${address}' is not host:port: the port is missing` };
  if (!isBracketed && host.includes(':'))
    return {
      ok: false,
      reason: `'${address}' has too many colons: an IPv6 address goes in brackets`,
    };
  return { ok: true, host, port };
}

/** An address whose host is a number, or the reason why there is none. */
export type ResolvedAddress =
  { readonly ok: true; readonly address: string } | { readonly ok: false; readonly reason: string };

/** Looks up the addresses of hosts. */
export interface HostNames {
  /**
   * Looks up the host once, on subscribe. Emits the addresses and completes; errors if there are
   * none.
   */
  lookup(host: string): Observable<readonly string[]>;
}

/** In ms. The Go agent waits for 15 s, and its Envoy waits with it. */
const timeoutMs = 5_000;

const systemNames: HostNames = { lookup: addressesOf };

/**
 * Resolves the host of `host:port` once, on subscribe: to its first IPv4 address, or, if it has
 * none, to its first address. Emits one value within 5 s and completes. Never errors. The port
 * stays as it is, even if it is empty.
 */
export function resolveAddress(
  address: string,
  names: HostNames = systemNames,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<ResolvedAddress> {
  const split = splitAddress(address);
  if (!split.ok) return of(split);
  const { host, port } = split;
  const failed = (why: string): ResolvedAddress => ({
    ok: false,
    reason: `lookup failed for '${host}': ${why}`,
  });
  if (host === '') return of(failed('there is no host'));
  return names.lookup(host).pipe(
    timeout({ first: timeoutMs, scheduler }),
    map((addresses): ResolvedAddress => {
      const [best] = [...addresses.filter((ip) => !ip.includes(':')), ...addresses];
      if (best === undefined) return failed('no such host');
      return { ok: true, address: `${best.includes(':') ? `[${best}]` : best}:${port}` };
    }),
    catchError((error: unknown) => {
      const why =
        error instanceof TimeoutError
          ? `no answer within ${timeoutMs / 1000} s`
          : (error as Error).message;
      return of(failed(why));
    }),
  );
}
