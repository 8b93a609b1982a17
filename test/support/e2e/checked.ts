import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Finding, CheckFlaw } from '../../../src/pilot-agent/check/finding.ts';
import { troubleshooting } from '../../../src/shared/log/see-also.ts';
import { freePorts } from '../free-ports.ts';
import { program } from './program.ts';

/** The output of `pilot-agent check -o json`, and its exit code. */
export interface Checked {
  readonly code: number;
  readonly output: string;
  readonly findings: readonly Finding[];
  /** The agent that uses the folder already. */
  readonly agent?: { readonly pid: number };
}

export interface CheckOptions {
  /** The start of a command line that becomes the program. */
  readonly wrap?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

export function runCheck(
  args: readonly string[],
  { wrap = [], env = {}, cwd }: CheckOptions = {},
): Promise<Checked> {
  const [file = '', ...more] = [...wrap, ...program, 'check', '-o', 'json', ...args];
  return new Promise((done) => {
    execFile(file, more, { env: { ...process.env, ...env }, cwd }, (error, stdout, stderr) => {
      const { findings = [], agent } = stdout.startsWith('{')
        ? (JSON.parse(stdout) as Partial<Checked>)
        : {};
      done({
        code: Number(error?.code ?? 0),
        output: `${stdout}${stderr}`,
        findings,
        ...(agent && { agent }),
      });
    });
  });
}

/** Makes a folder, free ports, and a check of an agent that would use them. */
export async function makeCheck() {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-check-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [status = 0, admin = 0, prometheus = 0, health = 0] = await freePorts(4);
  const flags = {
    configPath: join(folder, 'run'),
    statusPort: String(status),
    proxyAdminPort: String(admin),
  };
  const ports = { ENVOY_PROMETHEUS_PORT: String(prometheus), ENVOY_STATUS_PORT: String(health) };
  return {
    folder,
    ports: { status, admin, prometheus, health },
    /** Runs the check in the folder; without a control plane unless a flag names one. */
    run: (
      more: Readonly<Record<string, string>> = {},
      { env = {}, ...options }: CheckOptions = {},
    ) =>
      runCheck(
        Object.entries({ ...flags, ...more }).map(([name, value]) => `--${name}=${value}`),
        { cwd: folder, env: { ...ports, ...env }, ...options },
      ),
  };
}

/** Returns the findings of one check that are not `ok`. */
export function flawsOf(check: string, { findings }: Checked): readonly Finding[] {
  return findings.filter((finding) => finding.check === check && finding.level !== 'ok');
}

/**
 * Returns a matcher of a finding with that flaw and those words, whose link leads to the flaw's
 * section.
 */
export function flawed(level: 'warn' | 'fail', flaw: CheckFlaw, what: RegExp, fix = /\S/): unknown {
  return expect.objectContaining({
    level,
    what: expect.stringMatching(what) as string,
    fix: expect.stringMatching(fix) as string,
    see: troubleshooting(flaw),
  });
}

/** Whether a command that becomes another one, such as `unshare`, can be run here. */
export function isPermitted(...command: readonly string[]): boolean {
  return spawnSync(command[0] ?? '', [...command.slice(1), 'true']).status === 0;
}
