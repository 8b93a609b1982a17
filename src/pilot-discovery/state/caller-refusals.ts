import { setNewest } from '../../shared/maps/set-newest.ts';

/** The clients whose calls were refused lately, by their IP; the oldest line first. */
export type CallerRefusals = ReadonlyMap<string, Refusals>;

interface Refusals {
  /** When the log had its last line about the client, in ms since 1970. */
  readonly saidAt: number;
  /** The refusals since that line. */
  readonly more: number;
}

/** The time between two lines about a client, in ms. */
const pause = 60_000;
/** The number of clients that are remembered. */
const most = 256;

/**
 * Returns how many refusals of the client no line has reported yet; undefined if this one is not
 * reported either. Pure.
 *
 * @param now ms since 1970
 */
export function unloggedCount(
  refusals: CallerRefusals,
  address: string,
  now: number,
): number | undefined {
  const last = refusals.get(ipOf(address));
  if (last === undefined) return 0;
  // If the clock has gone back, a line is due.
  return now >= last.saidAt && now - last.saidAt < pause ? undefined : last.more;
}

/** Returns the refusals after one more. Pure. */
export function withRefusal(
  refusals: CallerRefusals,
  address: string,
  now: number,
): CallerRefusals {
  const ip = ipOf(address);
  const last = refusals.get(ip);
  const next = new Map(refusals);
  if (last !== undefined && unloggedCount(refusals, address, now) === undefined)
    return next.set(ip, { ...last, more: last.more + 1 });
  setNewest(next, ip, { saidAt: now, more: 0 }, most);
  return next;
}

const ipOf = (address: string): string => address.slice(0, address.lastIndexOf(':'));
