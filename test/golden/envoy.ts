import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificateAuthority, writeCertificates } from '../../demo/certificates.ts';
import { cacheDir, findEnvoy, pinnedEnvoy } from '../../src/pilot-agent/envoy/find-envoy.ts';
import { eventually } from '../support/eventually.ts';
import { certificates } from './cases.ts';

interface Verdict {
  readonly accepted: boolean;
  /** The output of Envoy, from warnings on. */
  readonly output: string;
}

/** A real Envoy, and a folder with the certificates that its configurations name. */
export interface TrialEnvoy {
  /**
   * Lets Envoy look at the text of a bootstrap (`--mode validate`), in which the golden folder
   * stands for the one with certificates.
   */
  validate(text: string): Promise<Verdict>;
  /**
   * Starts Envoy with a bootstrap, and accepts that if Envoy starts its main loop; `end` ends it.
   */
  start(text: string): Promise<Verdict & { end(): Promise<void> }>;
  dispose(): void;
}

const timeoutMs = 20_000;

export async function trialEnvoy(): Promise<TrialEnvoy> {
  const { env } = process;
  const envoy = findEnvoy({
    binaryPath: undefined,
    env,
    cacheDir: cacheDir(env),
    version: pinnedEnvoy.version,
  });
  if (!envoy.ok) throw new Error(envoy.reason);
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-bootstrap-'));
  writeCertificates(folder, await (await certificateAuthority()).issue());
  let count = 0;
  const run = (text: string, args: readonly string[]) => {
    const file = join(folder, `${++count}.json`);
    const log = `${file}.log`;
    writeFileSync(file, text.replaceAll(certificates, folder));
    const errors = openSync(log, 'w');
    // No output of Envoy is a pipe: the pipes of Node are sockets, and Envoy could not open
    // /dev/stdout then.
    const child = spawn(
      envoy.path,
      ['-c', file, '-l', 'warning', '--use-dynamic-base-id', ...args],
      {
        stdio: ['ignore', 'ignore', errors],
      },
    );
    closeSync(errors);
    const ended = new Promise<number | null>((done) => child.once('exit', done));
    const limit = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    void ended.then(() => clearTimeout(limit));
    return { child, ended, readLog: () => readFileSync(log, 'utf8') };
  };
  return {
    async validate(text) {
      const { ended, readLog } = run(text, ['--mode', 'validate']);
      return { accepted: (await ended) === 0, output: readLog() };
    },
    async start(text) {
      const { child, ended, readLog } = run(text, [
        '--component-log-level',
        'main:info',
        '--concurrency',
        '1',
      ]);
      const isUp = () => readLog().includes('starting main dispatch loop');
      await eventually(() => isUp() || child.exitCode !== null || child.signalCode !== null, {
        within: timeoutMs,
      });
      return {
        accepted: isUp(),
        output: readLog()
          .split('\n')
          .filter((line) => !/\[(?:info|debug)\]|^ /.test(line))
          .join('\n'),
        end: async () => {
          child.kill('SIGKILL');
          await ended;
        },
      };
    },
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}
