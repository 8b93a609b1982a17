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
   * An empty folder, or one of the agent's own, for each epoch's bootstrap, and a FIFO for a
   * moment.
   */
  readonly folder: string;
  readonly pairs: readonly KeyPair[];
  readonly tools: Tools;
  /** Tells in words for a person what Envoy has against a configuration. Never rejects. */
  readonly explain: (config: EpochConfig, words: string) => Promise<Refusal>;
}

/** What the checks have to know of what runs. */
export interface Runs {
  /** The newest Envoy. */
  readonly newest: () => RunningProcess | undefined;
  /** Names the binary that it was started from. */
  readonly identity: () => string;
}

/** The rest of what is written file by file comes within this time. In ms. */
const rest = 100;

/** The checks of a proxy that is Envoy. */
export function readingChecks(
  { binary, args, folder, pairs, tools, explain }: CheckOptions,
  { newest, identity }: Runs,
  scheduler: SchedulerLike,
): Required<Pick<Proxy, 'check' | 'checkAhead'>> {
  const isAlone = () => newest() === undefined;
  /** The hash of what Envoy has accepted ahead of its check, once. */
  let acceptedAhead: string | undefined;

  /** Envoy's own word on a configuration, by a process that has the files of `stem` for itself. */
  function validated({ config }: Reading<EpochConfig>, stem: string): Observable<Verdict> {
    return withConfigFile<Verdict>(config, stem, {
      failed: (reason, outcome) =>
        outcome === 'refused'
          ? { kind: 'refused', reason }
          : { kind: 'unchecked', reason, outOfMemory: false },
      use: (path) => {
        const tried = envoyArgs(args, {
          config: path,
          override: '',
          restartEpoch: 0,
          place: newest(),
        });
        return validate({
          binary,
          args: tried,
          fifo: `${stem}.stderr`,
          tools,
          alone: isAlone,
          scheduler,
        }).pipe(
          concatMap(async (said) =>
            said.kind === 'refused' ? { ...said, ...(await explain(config, said.reason)) } : said,
          ),
        );
      },
    });
  }

  // Where no Envoy runs there is nothing to protect, and Envoy itself knows whether it needs the
  // pairs.
  const pairs$ = defer(() =>
    isAlone() ? of<Verdict>({ kind: 'works' }) : checkPairs(pairs, scheduler),
  );

  /** One look at all. */
  function looked(reading: Reading<EpochConfig>): Observable<Verdict> {
    const accepted$ = pairs$.pipe(
      ifGood(() => {
        const isAccepted = acceptedAhead === reading.hash;
        acceptedAhead = undefined;
        return isAccepted
          ? of<Verdict>({ kind: 'works' })
          : validated(reading, `${folder}/envoy-check`);
      }),
    );
    return accepted$.pipe(
      ifGood((verdict) => from(withCompatibility(verdict, binary, identity(), newest()))),
      // The child reads the files when it starts: they may have changed since they were checked.
      ifGood((verdict) => pairs$.pipe(map((again) => (again.kind === 'works' ? verdict : again)))),
    );
  }

  return {
    check(reading) {
      const look$ = looked(reading);
      // The files may have been written at the first look, and what runs can wait for a second one.
      const again$ = timer(rest, scheduler).pipe(switchMap(() => look$));
      return look$.pipe(
        switchMap((verdict) => (verdict.kind !== 'refused' || isAlone() ? of(verdict) : again$)),
      );
    },

    checkAhead(reading) {
      return validated(reading, `${folder}/envoy-ahead`).pipe(
        tap(({ kind }) => (acceptedAhead = kind === 'works' ? reading.hash : undefined)),
        ignoreElements(),
      );
    },
  };
}

/** Goes on with what speaks for it so far. */
function ifGood(
  next$: (verdict: Verdict) => Observable<Verdict>,
): MonoTypeOperatorFunction<Verdict> {
  return (verdict$) =>
    verdict$.pipe(switchMap((verdict) => (isGood(verdict) ? next$(verdict) : of(verdict))));
}

function isGood({ kind }: Verdict): boolean {
  return kind !== 'refused' && kind !== 'unchecked';
}
