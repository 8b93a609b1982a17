import {
  asyncScheduler,
  concat,
  debounce,
  distinctUntilChanged,
  EMPTY,
  map,
  NEVER,
  type Observable,
  share,
  skip,
  timer,
} from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { agent, type Inputs } from '../epochs/agent.ts';
import type { RestartPolicy } from '../epochs/exits.ts';
import type { AgentState, ConfigEvent } from '../epochs/model.ts';
import type { Launch } from '../epochs/ports.ts';
import { fixedTiming, type Timing } from '../epochs/timing.ts';
import { readingOf } from './reading.ts';
import { fakeProxy } from './fake-proxy.ts';
import { answerTime, type Script } from './fake-script.ts';

export interface Settings {
  readonly policy?: Partial<RestartPolicy>;
  readonly timing?: Partial<Timing>;
  readonly random?: () => number;
}

/**
 * The inputs of the agent, with readings by their hashes. The files are awaited before the first
 * reading.
 */
export interface DrawnInputs extends Partial<Omit<Inputs, 'config$' | 'restart$'>> {
  readonly awaited$?: Observable<readonly string[]>;
  readonly hash$?: Observable<string>;
  readonly restart$?: Observable<string>;
}

/** Emits the last value of each ms, after everything in that ms has happened. */
const lastOfEachMs =
  <T>() =>
  (source: Observable<T>): Observable<T> =>
    source.pipe(debounce(() => timer(1 - (asyncScheduler.now() % 1) - answerTime / 2)));

const endings = {
  asked: 'A',
  envoy: 'E',
  refused: 'R',
  'address-taken': 'P',
  'address-denied': 'D',
} as const;

/**
 * Returns the sign of the epoch that serves: its number, or n for none; D while draining, T while
 * stopping; at the end A (asked), E (Envoy), R (refused), P (port taken) or D (port denied).
 */
const sign = (state: AgentState): string => {
  const { epochs } = state;
  if (state.phase === 'draining') return 'D';
  if (state.phase === 'stopping') return 'T';
  if (state.phase === 'stopped') return endings[state.outcome.kind];
  const serving = [...epochs].findLast(([, { stage, answering }]) => stage === 'live' && answering);
  return serving === undefined ? 'n' : String(serving[0]);
};

/** Emits the epoch that serves; see `sign`. */
export function serving(states$: Observable<AgentState>): Observable<string> {
  return states$.pipe(map(sign), lastOfEachMs(), distinctUntilChanged());
}

/**
 * Runs an agent with a fake proxy, as streams of single characters that a diagram can show. The
 * minimum of the drain is 5 s and its cap 20 s, random numbers are in the middle (no jitter), the
 * budget is 10.
 */
export function scriptedAgent(
  m: RunHelpers,
  { awaited$ = EMPTY, hash$ = NEVER, restart$ = NEVER, ...inputs }: DrawnInputs,
  script: Script,
  { policy, timing, random = () => 0.5 }: Settings = {},
) {
  const fake = fakeProxy(m, script);
  const states$ = agent(
    {
      adopted$: EMPTY,
      leave$: NEVER,
      config$: concat(
        awaited$.pipe(map((missing): ConfigEvent => ({ type: 'files-awaited', missing }))),
        hash$.pipe(
          map((hash): ConfigEvent => ({ type: 'config-changed', reading: readingOf(hash) })),
        ),
      ),
      restart$: restart$.pipe(map((hash) => ({ by: 'SIGHUP', reading: readingOf(hash) }))),
      resources$: EMPTY,
      drain$: NEVER,
      reopen$: NEVER,
      terminate$: NEVER,
      ...inputs,
    },
    { onCrash: 'backoff', budget: 10, ...policy },
    {
      proxy: fake.proxy,
      timing: {
        ...fixedTiming,
        parentShutdown: 60_000,
        drainMinimum: 5_000,
        drainCap: 20_000,
        ...timing,
      },
      random,
    },
  ).pipe(
    map(({ state }) => state),
    share(),
  );
  return {
    ...fake,
    serving$: serving(states$),
    /** Emits why the agent ended, at its end. */
    outcome$: states$.pipe(
      map((state) => ('outcome' in state ? state.outcome : undefined)),
      distinctUntilChanged(),
      skip(1),
    ),
    ...launches(fake.launched$),
  };
}

/** Draws the launches of epochs. */
function launches(launched$: Observable<Launch>) {
  return {
    /** The hash from which each epoch was launched. */
    hashes$: launched$.pipe(map((launch) => (launch.adopted ? '' : launch.reading.hash))),
    /** The number of each epoch launched. */
    epochs$: launched$.pipe(map(({ epoch }) => String(epoch))),
    /**
     * The lineage of each epoch; a letter means that its admin endpoint is separate: a for 0, b for
     * 1.
     */
    lines$: launched$.pipe(
      map(({ lineage, ...launch }) =>
        'sideBySide' in launch && launch.sideBySide
          ? String.fromCharCode(97 + lineage)
          : String(lineage),
      ),
    ),
    /** The value of `--restart-epoch` of each epoch. */
    restartEpochs$: launched$.pipe(map(({ restartEpoch }) => String(restartEpoch))),
  };
}
