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
/** Between the outputs of two blocks. */
const line = '--- the next block ---';
/** The ports in the pages; each run has others, which are free. */
const ports = [15000, 15020, 15021, 15090, 8443, 8080, 9000];

/** A block that a user types, and lines that it prints. */
interface Block {
  readonly script: string;
  readonly prints: readonly string[];
}

const textOf = (page: string) => readFileSync(join(folder, page), 'utf8');
const blocksOf = (page: string) => blocksIn(textOf(page));

/** The blocks that are typed; each with the text after it, where that comes at once. */
function blocksIn(text: string): readonly Block[] {
  const matches = text.matchAll(/^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms);
  return [...matches].map(([, script = '', prints = '']) => ({
    script,
    prints: prints.split('\n').filter((printed) => printed !== ''),
  }));
}

/** The blocks of the section in which a page begins, if it says so. */
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

/** A line of a page, in which `…` stands for anything. */
function matching(text: string): RegExp {
  return new RegExp(
    text
      .split('…')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*'),
  );
}

/** The processes that run in a folder. */
function processesIn(root: string): readonly string[] {
  const inside = (pid: string) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(root);
    } catch {
      return false; // it has ended
    }
  };
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && inside(name));
}

const pages = readdirSync(folder).filter((name) => blocksOf(name).length > 0);

/**
 * Runs a script in a folder of its own; what it starts besides ends with it. Resolves to its exit
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
    // Nothing is left.
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
