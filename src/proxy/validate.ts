import { filter, map, type Observable, type SchedulerLike, timer } from 'rxjs';
import type { Verdict } from '../agent/ports.ts';
import { refusalReason } from './refusal-reason.ts';
import { spawnEnvoy, type Tools } from './spawn-envoy.ts';

export interface Validation {
  readonly binary: string;
  /** The real arguments of an epoch. */
  readonly args: readonly string[];
  readonly folder: string;
  readonly tools: Tools;
  /** Without an Envoy a start can do no harm: only Envoy's own refusal counts then. */
  readonly alone: () => boolean;
  readonly scheduler: SchedulerLike;
}

/** 60–80 ms as a rule (measured, Envoy 1.36.2). In ms. */
const patience = 20_000;

/** Lets Envoy try its configuration in a process of its own (`--mode validate`), and emits what it says of it. Cold; one verdict; never errors. */
export function validate({ binary, args, folder, tools, alone, scheduler }: Validation): Observable<Verdict> {
  return spawnEnvoy({
    binary,
    args: [...args, '--mode', 'validate'],
    fifo: `${folder}/validate.stderr`,
    tools,
    stdout: 'ignore',
    onLine: () => undefined,
    signals$: timer(patience, scheduler).pipe(map(() => 'SIGKILL' as const)),
    scheduler,
  }).pipe(
    filter((event) => event.type === 'exited'),
    map(({ exit }): Verdict => {
      // Another code than 1, a signal, a program that is none: no word about the configuration.
      const refused = exit.kind === 'failed' && exit.code === 1;
      return exit.kind === 'clean' || (!refused && alone()) ? { ok: true } : { ok: false, reason: refusalReason(exit) };
    }),
  );
}
