import {
  catchError,
  connect,
  defer,
  map,
  mergeMap,
  type Observable,
  of,
  type SchedulerLike,
  startWith,
  timer,
  withLatestFrom,
} from 'rxjs';
import type { Verdict, Exit } from '../epochs/ports.ts';
import { largest, type OutsideFile, readOutside } from '../shared/files/outside-file.ts';
import { refusalOf } from '../shared/log/envoy-refusal.ts';
import { spawnEnvoy, type Tools } from './spawn-envoy.ts';

/** The two files of a TLS identity. */
export interface KeyPair {
  readonly chain: string;
  readonly key: string;
}

/**
 * Reads each pair from the disk, and emits whether all can be served. Cold; one verdict; never
 * errors.
 *
 * A pair without files passes: only Envoy knows whether it needs the pair. Half a pair is still
 * being written, and does not pass.
 */
export function checkPairs(
  pairs: readonly KeyPair[],
  scheduler: SchedulerLike,
): Observable<Verdict> {
  return defer(async (): Promise<Verdict> => {
    const { keyPairFlaw } = await import('../shared/certificates/key-pair-flaw.ts');
    for (const pair of pairs) {
      const [chain, key] = await Promise.all([read(pair.chain), read(pair.key)]);
      if (chain.kind === 'unreadable')
        return refusal(pair.chain, `the certificate cannot be read: ${chain.reason}`);
      if (key.kind === 'unreadable')
        return refusal(pair.key, `the key cannot be read: ${key.reason}`);
      if (chain.kind === 'absent' && key.kind === 'absent') continue;
      if (key.kind === 'absent') return refusal(pair.key, 'the key is missing');
      if (chain.kind === 'absent') return refusal(pair.chain, 'the certificate is missing');
      const flaw = keyPairFlaw(chain.bytes.toString(), key.bytes, scheduler.now());
      if (flaw !== undefined) return refusal(`${pair.chain}, ${pair.key}`, flaw);
    }
    return { kind: 'works' };
  }).pipe(
    catchError((error: unknown) =>
      of<Verdict>({ kind: 'unchecked', reason: String(error), outOfMemory: false }),
    ),
  );
}

function refusal(path: string, flaw: string): Verdict {
  return { kind: 'refused', reason: `${path}: ${flaw}` };
}

async function read(path: string): Promise<OutsideFile> {
  const file = await readOutside(path, largest.pem);
  if (file.kind !== 'read' && file.isShort) throw new Error(file.reason);
  return file;
}

export interface Validation {
  readonly binary: string;
  /** The arguments of a real epoch. */
  readonly args: readonly string[];
  /** A path where a FIFO for its error stream can be made. */
  readonly fifo: string;
  readonly tools: Tools;
  /** Whether no Envoy runs. Then a start can do no harm, and only Envoy's own refusal counts. */
  readonly alone: () => boolean;
  readonly scheduler: SchedulerLike;
}

/** In ms. Usually it takes 60–80 ms (measured, Envoy 1.36.2). */
const timeoutMs = 20_000;

/**
 * Lets Envoy check its configuration in a separate process (`--mode validate`), and emits the
 * verdict. Cold; one verdict; never errors.
 */
export function validate({
  binary,
  args,
  fifo,
  tools,
  alone,
  scheduler,
}: Validation): Observable<Verdict> {
  return timer(timeoutMs, scheduler).pipe(
    map(() => 'SIGKILL' as const),
    connect((late$) =>
      spawnEnvoy({
        binary,
        args: [...args, '--mode', 'validate'],
        fifo,
        tools,
        stdout: 'ignore',
        expendable: true,
        onLine: () => undefined,
        signals$: late$,
        scheduler,
      }).pipe(withLatestFrom(late$.pipe(startWith(undefined)))),
    ),
    mergeMap(([event, late]) =>
      event.type === 'exited' ? [verdictOf(event.exit, late !== undefined, alone())] : [],
    ),
  );
}

/**
 * Returns the verdict from the end of `--mode validate`. Only code 1 is a certain refusal. A crash
 * may be the configuration's fault, so it counts as a refusal if an Envoy runs.
 */
function verdictOf(exit: Exit, isLate: boolean, isAlone: boolean): Verdict {
  const isRefusal = exit.kind === 'failed' && exit.code === 1;
  if (exit.kind === 'clean' || (isAlone && !isRefusal)) return { kind: 'works' };
  if (isLate)
    return {
      kind: 'unchecked',
      reason: `--mode validate took longer than ${timeoutMs / 1_000} s`,
      outOfMemory: false,
    };
  const isKilled = exit.kind === 'signaled' && !crashes.includes(exit.signal);
  if (!isKilled && exit.kind !== 'spawn-failed')
    return { kind: 'refused', reason: refusalReason(exit) };
  const outOfMemory = exit.kind === 'signaled' && exit.outOfMemory === true;
  return {
    kind: 'unchecked',
    reason: `${outOfMemory ? 'memory is short: ' : ''}${refusalReason(exit)}`,
    outOfMemory,
  };
}

/** The signals by which a program ends itself, or is ended for its own fault. */
const crashes: readonly NodeJS.Signals[] = [
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGILL',
  'SIGSEGV',
  'SIGSYS',
  'SIGTRAP',
];

/** In characters. */
const longest = 4_000;

/**
 * Returns why Envoy refused a configuration, in its own words and on one line, from how `--mode
 * validate` ended.
 */
export function refusalReason(exit: Exit): string {
  if (exit.kind === 'clean') return 'Envoy accepts it';
  if (exit.kind === 'spawn-failed') return exit.reason;
  const envoyReason = exit.tail.map(refusalOf).find((reason) => reason !== undefined);
  const ended =
    exit.kind === 'failed'
      ? `Envoy ended with ${exit.code}`
      : exit.kind === 'signaled'
        ? `Envoy was ended by ${exit.signal}`
        : 'Envoy is gone';
  return (envoyReason ?? exit.tail.at(-1) ?? ended).replace(/\s+/g, ' ').trim().slice(0, longest);
}
