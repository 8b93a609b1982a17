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
 * What is so around the agent, beside the addresses of the node. It is taken when an epoch is made,
 * and is no reason to make one.
 */
export interface Facts {
  readonly platform: Platform;
  /** `ip:port` of statsd; '' for none. */
  readonly statsd: string;
  /** Of the CPU and of memory. */
  readonly limits: Limits;
  /** What is not known that should be. */
  readonly warnings: readonly string[];
}

/** Before anything was asked. */
export const noFacts: Facts = {
  platform: unknownPlatform,
  statsd: '',
  limits: { cpu: undefined, memory: undefined },
  warnings: [],
};

type Asking = Pick<AgentConfig, 'statsdUdpAddress' | 'customConfigFile' | 'cpuLimit'>;

/** How long an epoch waits for the platform, in ms, from when it is asked for first. */
const platformWait = 1_000;

/**
 * Asks for the facts: emits them once, and completes.
 *
 * The platform is asked for with the first subscription, and waited for 1 s at most; what it says
 * later is known to the subscriptions after that. Statsd is looked up for each one. Never errors.
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
      map(([platform, found]) => ({
        platform,
        statsd: found?.ok === true ? found.address : '',
        limits: limits(config.cpuLimit),
        warnings: found?.ok === false ? [`statsd is left out of this epoch: ${found.reason}`] : [],
      })),
    );
}

/** Envoy takes no name for statsd. Undefined where there is none. */
function statsd({
  statsdUdpAddress,
  customConfigFile,
}: Asking): Observable<ResolvedAddress | undefined> {
  return statsdUdpAddress === '' || customConfigFile !== ''
    ? of(undefined)
    : resolveAddress(statsdUdpAddress);
}
