// Why: docs/decisions/034-facts-make-no-epoch.md
import {
  asyncScheduler,
  combineLatest,
  endWith,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  ReplaySubject,
  type SchedulerLike,
  share,
  switchMap,
  take,
  timer,
} from 'rxjs';
import type { AgentConfig } from '../../config/agent-config.ts';
import { type ResolvedAddress, resolveAddress } from '../../bootstrap/address.ts';
import { type Platform, unknownPlatform } from '../../bootstrap/cloud.ts';
import { limits, type Limits } from '../../../proxy/limits.ts';

/**
 * The facts around the agent, except the addresses of the node. They are read again at each
 * reading, and never cause an epoch.
 */
export interface Facts {
  readonly platform: Platform;
  /** `ip:port` of statsd; '' for none. */
  readonly statsd: string;
  /** The limits of CPU and memory. */
  readonly limits: Limits;
  /** Warnings about facts that are missing. */
  readonly warnings: readonly string[];
}

/** The facts before any query. */
export const noFacts: Facts = {
  platform: unknownPlatform,
  statsd: '',
  limits: { cpu: undefined, memory: undefined },
  warnings: [],
};

type Asking = Pick<AgentConfig, 'statsdUdpAddress' | 'customConfigFile' | 'cpuLimit'>;

/** How long an epoch waits for the platform, in ms, from the first query. */
const platformWait = 1_000;

/**
 * Returns a function that gets the facts: it emits them once, and completes.
 *
 * The first subscription queries the platform and waits at most 1 s; a later answer reaches later
 * subscriptions. Each subscription looks up statsd. Never errors.
 */
export function factsOf(
  platform$: Observable<Platform>,
  scheduler: SchedulerLike = asyncScheduler,
): (config: Asking) => Observable<Facts> {
  const stays = { resetOnComplete: false, resetOnError: false, resetOnRefCountZero: false };
  const shared$ = platform$.pipe(share({ connector: () => new ReplaySubject(1), ...stays }));
  const waited$ = merge(
    shared$.pipe(ignoreElements(), endWith(0)),
    timer(platformWait, scheduler),
  ).pipe(take(1), share({ connector: () => new ReplaySubject(1), ...stays }));
  const platformNow$ = waited$.pipe(
    switchMap(() => merge(shared$, of(unknownPlatform)).pipe(take(1))),
  );
  return (config) =>
    combineLatest([platformNow$, statsd(config)]).pipe(
      map(([platform, lookup]) => ({
        platform,
        statsd: lookup?.ok === true ? lookup.address : '',
        limits: limits(config.cpuLimit),
        warnings:
          lookup?.ok === false ? [`statsd is left out of this epoch: ${lookup.reason}`] : [],
      })),
    );
}

/**
 * Resolves the address of statsd, because Envoy accepts no name for it. Undefined if there is none.
 */
function statsd({
  statsdUdpAddress,
  customConfigFile,
}: Asking): Observable<ResolvedAddress | undefined> {
  return statsdUdpAddress === '' || customConfigFile !== ''
    ? of(undefined)
    : resolveAddress(statsdUdpAddress);
}
