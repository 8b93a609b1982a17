import { spawn } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { freePorts } from '../support/free-ports.ts';
import { program } from '../support/e2e/program.ts';

const folder = join('docs', 'guide');
const shim = `#!/bin/sh\nexec ${program.map((word) => `'${word}'`).join(' ')} "$@"\n`;
/** The line between the outputs of two blocks. */
const line = '--- the next block ---';
/** The ports in the pages. Each run replaces them with other ports, which are free. */
const ports = [15000, 15020, 15021, 15090, 8443, 8080, 9000];

/** A block that a user types, and lines that it prints. */
interface Block {
  readonly script: string;
  readonly prints: readonly string[];
}

const textOf = (page: string) => readFileSync(join(folder, page), 'utf8');
const blocksOf = (page: string) => blocksIn(textOf(page));

/** Returns the blocks that a user types, each with the output that follows it directly, if any. */
function blocksIn(text: string): readonly Block[] {
  const matches = text.matchAll(/^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms);
  return [...matches].map(([, script = '', prints = '']) => ({
    script,
    prints: prints.split('\n').filter((printed) => printed !== ''),
  }));
}

/** Returns the blocks of the section in whose folder a page begins, if it names one. */
function beforehand(page: string): readonly Block[] {
  const [, other = '', anchor = ''] =
    /\bBegin in the folder of \[[^\]]*\]\(([\w-]+\.md)#([\w-]+)\)/.exec(textOf(page)) ?? [];
  if (other === '') return [];
  const section = textOf(other)
    .split(/^## /m)
    .find((text) => text.toLowerCase().replaceAll(' ', '-').startsWith(`${anchor}\n`));
  if (section === undefined) throw new Error(`${page}: ${other} has no section ${anchor}`);
  return blocksIn(section);
}

/** Returns an expression for a line of a page, in which `…` stands for any text. */
function matching(text: string): RegExp {
  return new RegExp(
    text
      .split('…')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*'),
  );
}

/** Returns the processes that run in a folder. */
function processesIn(root: string): readonly string[] {
  const inside = (pid: string) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(root);
    } catch {
      return false; // the process has ended
    }
  };
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && inside(name));
}

const pages = readdirSync(folder).filter((name) => blocksOf(name).length > 0);

/**
 * Runs a script in a folder of its own, and ends the processes that it leaves. Resolves to its exit
 * code and what it printed.
 */
async function type(
  home: string,
  script: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const printed = join(home, '..', 'printed'); // a pipe may have unread output when the shell ends
  const descriptor = openSync(printed, 'a');
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', `{ ${script}\n} 2>&1`], {
    cwd: home,
    env,
    stdio: ['ignore', descriptor, 'inherit'],
    detached: true,
  });
  closeSync(descriptor);
  const stuck = AbortSignal.timeout(45_000);
  const code = await new Promise<number | null>((done) => {
    shell.once('exit', done);
    stuck.addEventListener('abort', () => done(null));
  });
  try {
    process.kill(-(shell.pid ?? 0), 'SIGKILL');
  } catch {
    // No process is left.
  }
  return { code, output: readFileSync(printed, 'utf8') };
}

describe.concurrent('each block of a page runs as it is typed', () => {
  it.for(pages)('%s', async (page, { expect }) => {
    const root = mkdtempSync(join(tmpdir(), 'pilot-agent-guide-'));
    const [bin, home] = ['bin', 'home'].map((name) => join(root, name)) as [string, string];
    try {
      for (const path of [bin, home]) mkdirSync(path);
      writeFileSync(join(bin, 'pilot-agent'), shim, { mode: 0o755 });
      const free = new Map(
        (await freePorts(ports.length)).map((port, index) => [String(ports[index]), port]),
      );
      const local = (text: string) =>
        text.replace(new RegExp(`\\b(?:${ports.join('|')})\\b`, 'g'), (port) =>
          String(free.get(port)),
        );
      const blocks = [...beforehand(page), ...blocksOf(page)];
      const { code, output } = await type(
        home,
        local(blocks.map(({ script }) => script).join(`echo '${line}'\n`)),
        {
          ...process.env,
          PATH: `${bin}:${process.env['PATH'] ?? ''}`,
          PROXY_CONFIG: local('{"proxyAdminPort": 15000, "statusPort": 15020}'),
          ENVOY_STATUS_PORT: local('15021'),
          ENVOY_PROMETHEUS_PORT: local('15090'),
        },
      );
      const logs = () =>
        readdirSync(home, { recursive: true, encoding: 'utf8' })
          .filter((name) => name.endsWith('.log'))
          .map((name) => readFileSync(join(home, name), 'utf8'))
          .join('');
      expect(code, `${output}${code === 0 ? '' : logs()}`).toBe(0);
      const printed = output.split(`${line}\n`);
      for (const [index, { prints }] of blocks.entries())
        for (const text of prints) expect(printed[index]).toMatch(matching(local(text)));
      await expect.poll(() => processesIn(root)).toEqual([]);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});
