import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isSupported, supportedReleases } from '../envoy/supported-envoys.ts';
import { envoyBinary } from '../run/start/hold-folder.ts';
import { Fatal } from '../../shared/program/exit.ts';
import { explainRefusal } from '../envoy/explain-refusal.ts';
import { tryConfig } from '../run/start/try-config.ts';
import type { Around } from './around.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn, fail } = findingsOf('envoy');

/** In ms. An Envoy usually answers within 30 ms. */
const timeoutMs = 5_000;

/** Checks that an Envoy runs here, and that the agent supports its release. */
export async function checkEnvoy(around: Around): Promise<readonly Finding[]> {
  let path: string;
  try {
    path = envoyBinary(around.config.binaryPath);
  } catch (error) {
    if (!(error instanceof Fatal)) throw error;
    return [
      fail(
        'envoy missing',
        error.message,
        'give --binaryPath the path of an Envoy, or run: pilot-agent envoy install',
      ),
    ];
  }
  try {
    const version = judged(path, await versionOf(path));
    return version.level === 'fail' ? [version] : [version, ...(await tried(around, path))];
  } catch (error) {
    return [
      fail(
        'envoy broken',
        `${path} does not run: ${(error as Error).message}`,
        'use an Envoy that is built for this machine',
      ),
    ];
  }
}

function judged(path: string, text: string): Finding {
  const [, version] = /\/(\d+\.\d+\.\d+[^/\s]*)\//.exec(text) ?? [];
  if (version === undefined)
    return fail(
      'envoy broken',
      `${path} is not an Envoy: --version prints no version of Envoy`,
      'use the binary of an Envoy',
    );
  if (isSupported(version)) return ok(`${version}, ${path}`);
  return warn(
    'envoy.unsupported',
    `${path} is ${version}, and ${supportedReleases} are supported`,
    `use one of ${supportedReleases}`,
  );
}

/** Asks Envoy whether it accepts the configuration. */
async function tried(
  { config, epochConfig: envoyConfig }: Around,
  path: string,
): Promise<readonly Finding[]> {
  if (envoyConfig.kind === 'refused') return []; // the check of the configuration reports this
  try {
    const verdict = await tryConfig(config, envoyConfig, path);
    if (verdict.kind === 'refused')
      return [
        fail(
          'config.refused',
          `it refuses its configuration: ${(await explainRefusal(envoyConfig, verdict.reason, path)).reason}`,
          'correct what it names; see: pilot-agent bootstrap',
        ),
      ];
    return verdict.kind === 'unchecked'
      ? [untried(verdict.reason)]
      : [ok('it accepts its configuration')];
  } catch (error) {
    return [untried((error as Error).message)];
  }
}

function untried(reason: string): Finding {
  return warn(
    'check unfinished',
    `it was not asked about its configuration: ${reason}`,
    'set TMPDIR to a folder that can be written',
  );
}

/** Resolves to the output of `--version`; rejects with the reason if there is none. */
async function versionOf(path: string): Promise<string> {
  try {
    return (
      await promisify(execFile)(path, ['--version'], { timeout: timeoutMs, killSignal: 'SIGKILL' })
    ).stdout;
  } catch (error) {
    const {
      signal,
      stderr = '',
      message,
    } = error as Error & { readonly signal?: string; readonly stderr?: string };
    const lastLine = stderr.trim().split('\n').at(-1) ?? '';
    throw new Error(
      signal === 'SIGKILL'
        ? `no version after ${timeoutMs / 1_000} s`
        : lastLine === ''
          ? message
          : lastLine,
    );
  }
}
