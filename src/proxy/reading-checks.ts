// Why: docs/decisions/025-nothing-unchecked-reaches-envoy.md
import {
  concatMap,
  defer,
  from,
  ignoreElements,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  tap,
  timer,
} from 'rxjs';
import type { EpochConfig, Proxy, Refusal, Verdict } from '../epochs/ports.ts';
import type { Reading } from '../streams/reading.ts';
import { withCompatibility } from './compatibility.ts';
import { withConfigFile } from './config-file.ts';
import { type EnvoyArgs, envoyArgs } from './envoy-args.ts';
import { checkPairs, type KeyPair, validate } from './preflight.ts';
import type { RunningProcess } from './processes.ts';
import type { Tools } from './spawn-envoy.ts';

export interface CheckOptions {
  readonly binary: string;
  readonly args: EnvoyArgs;
  /**
   * An empty folder, or one of the agent's, for the bootstrap of each epoch, and briefly for a
   * FIFO.
   */
  readonly folder: string;
  readonly pairs: readonly KeyPair[];
  readonly tools: Tools;
  /** Explains Envoy's objection to a configuration for a person. Never rejects. */
  readonly explain: (config: EpochConfig, words: string) => Promise<Refusal>;
}

/** How long a program may take to write all files of a change, one by one. In ms. */
const rest = 100;

/** Returns the checks of a proxy that is Envoy; `newest` returns the newest Envoy that runs. */
export function readingChecks(
  options: CheckOptions,
  newest: NewestEnvoy,
  scheduler: SchedulerLike,
): Required<Pick<Proxy, 'check' | 'checkAhead'>> {
  const { binary, folder, pairs } = options;
  const isAlone = () => newest() === undefined;
  const validated$ = validation(options, newest, scheduler);
  /** The hash of the reading that Envoy accepted in advance; it is used once. */
  let acceptedAhead: string | undefined;

  // If no Envoy runs there is nothing to protect, and Envoy itself knows whether it needs the
  // pairs.
  const pairs$ = defer(() =>
    isAlone() ? of<Verdict>({ kind: 'works' }) : checkPairs(pairs, scheduler),
  );

  /** Checks everything once. */
  function looked(reading: Reading<EpochConfig>): Observable<Verdict> {
    const accepted$ = pairs$.pipe(
      ifGood(() => {
        const isAccepted = acceptedAhead === reading.hash;
        acceptedAhead = undefined;
        return isAccepted
          ? of<Verdict>({ kind: 'works' })
          : validated$(reading, `${folder}/envoy-check`);
      }),
    );
    return accepted$.pipe(
      ifGood((verdict) =>
        from(withCompatibility(verdict, binary, newest()?.identity ?? '', newest())),
      ),
      // The child reads the files when it starts: they may have changed since the check.
      ifGood((verdict) => pairs$.pipe(map((again) => (again.kind === 'works' ? verdict : again)))),
    );
  }

  return {
    check(reading) {
      const look$ = looked(reading);
      // At the first look the files may have been half written, and the running Envoy can wait for
      // a second look.
      const again$ = timer(rest, scheduler).pipe(switchMap(() => look$));
      return look$.pipe(
        switchMap((verdict) => (verdict.kind !== 'refused' || isAlone() ? of(verdict) : again$)),
      );
    },

    checkAhead(reading) {
      return validated$(reading, `${folder}/envoy-ahead`).pipe(
        tap(({ kind }) => (acceptedAhead = kind === 'works' ? reading.hash : undefined)),
        ignoreElements(),
      );
    },
  };
}

type NewestEnvoy = () => RunningProcess | undefined;

/**
 * Returns a function that emits Envoy's own verdict on a configuration. The files of `stem` belong
 * to that check alone.
 */
function validation(
  { binary, args, tools, explain }: CheckOptions,
  newest: NewestEnvoy,
  scheduler: SchedulerLike,
) {
  return ({ config }: Reading<EpochConfig>, stem: string): Observable<Verdict> =>
    withConfigFile<Verdict>(config, stem, {
      failed: (reason, outcome) =>
        outcome === 'refused'
          ? { kind: 'refused', reason }
          : { kind: 'unchecked', reason, outOfMemory: false },
      use: (path) => {
        const tried = { config: path, override: '', restartEpoch: 0, restartAddress: newest() };
        return validate({
          binary,
          args: envoyArgs(args, tried),
          fifo: `${stem}.stderr`,
          tools,
          alone: () => newest() === undefined,
          scheduler,
        }).pipe(
          concatMap(async (verdict) =>
            verdict.kind === 'refused'
              ? { ...verdict, ...(await explain(config, verdict.reason)) }
              : verdict,
          ),
        );
      },
    });
}

/** Continues with the next check if the verdict is good so far. */
function ifGood(
  next$: (verdict: Verdict) => Observable<Verdict>,
): MonoTypeOperatorFunction<Verdict> {
  return (verdict$) =>
    verdict$.pipe(switchMap((verdict) => (isGood(verdict) ? next$(verdict) : of(verdict))));
}

function isGood({ kind }: Verdict): boolean {
  return kind !== 'refused' && kind !== 'unchecked';
}
