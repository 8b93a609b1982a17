import { cacheDir, findEnvoy, pinnedEnvoy } from '../../envoy/find-envoy.ts';
import { prepareFolder } from '../../../shared/files/prepare-folder.ts';
import { removeUnfinished } from '../../../shared/files/whole-file.ts';
import { attempt, exitCodes, Fatal } from '../../../shared/program/exit.ts';
import { type Holder, lockFolder } from './folder-lock.ts';

/**
 * Returns the path of Envoy for this process: `binaryPath`, or the one that is found without it.
 * Throws a {@link Fatal} (69) if there is none.
 */
export function envoyBinary(
  binaryPath: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): string {
  const envoy = findEnvoy({
    binaryPath,
    env,
    cacheDir: cacheDir(env),
    version: pinnedEnvoy.version,
  });
  if (!envoy.ok) throw new Fatal(envoy.reason, exitCodes.unavailable);
  return envoy.path;
}

/** How an agent gets its Envoy. */
export interface EnvoyChoice {
  readonly line: { readonly env?: NodeJS.ProcessEnv };
  /**
   * `install`: if there is none, and no path is given, the pinned one is installed into the cache.
   */
  readonly envoy: 'find' | 'install';
  /** Cancels an installation, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Resolves to the path of Envoy, as {@link envoyBinary} returns it, but may install an Envoy first.
 */
export async function envoyOrInstalled(
  binaryPath: string | undefined,
  { line: { env = process.env }, envoy, signal }: EnvoyChoice,
): Promise<string> {
  try {
    return envoyBinary(binaryPath, env);
  } catch (error) {
    if (envoy === 'find' || binaryPath !== undefined) throw error;
    const { installEnvoy } = await import('../../envoy/install-envoy.ts');
    return installEnvoy({
      cacheDir: cacheDir(env),
      env,
      ...(signal !== undefined && { signal }),
    }).catch((failure: unknown) => {
      signal?.throwIfAborted();
      throw new Fatal((failure as Error).message, exitCodes.unavailable);
    });
  }
}

/** A locked folder, and what is unusual about it. */
export interface LockedFolder {
  readonly oddities: readonly string[];
  /** Releases the folder. Synchronous; may be called again. */
  readonly release: () => void;
}

/**
 * Creates `--configPath` if it does not exist, and locks it until it is released. Rejects with a
 * {@link Fatal} if it is not writable (78), or belongs to another agent (69); then nothing in it
 * has changed. The agent answers on a socket in the folder; `tells` is part of each answer.
 */
export async function holdFolder(
  path: string,
  version: string,
  tells: object = {},
): Promise<LockedFolder> {
  attempt(() => prepareFolder(path), `--configPath ${path} cannot be written`);
  const lock = await lockFolder(path, version, tells).catch((error: unknown) => {
    throw new Fatal(
      `--configPath ${path} cannot have a socket: ${(error as Error).message}`,
      exitCodes.config,
    );
  });
  if (!lock.ok)
    throw new Fatal(
      `--configPath ${path} belongs to another agent${holderText(lock.holder)}`,
      exitCodes.unavailable,
    );
  removeUnfinished(path);
  return {
    oddities: lock.isSilent
      ? [
          `--configPath ${path} is on a full disk: another agent with the same --configPath would not notice this one`,
        ]
      : [],
    release: () => lock.release(),
  };
}

function holderText(holder: Holder | undefined): string {
  const way = 'end it, or give this one a --configPath of its own';
  if (holder === undefined)
    return `, which does not say who it is (it is stopped, busy, or another user's): ${way}`;
  return ` (process ${holder.pid}, version ${holder.version}, since ${holder.since}): ${way}`;
}
