import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncScheduler, firstValueFrom, NEVER, toArray } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ProcessEvent } from '../../../src/epochs/ports.ts';
import { findExecutable } from '../../../src/pilot-agent/envoy/find-envoy.ts';
import { spawnEnvoy } from '../../../src/proxy/spawn-envoy.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'pilot-agent-spawn-'))));
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs a program to its end; returns its events and its messages. */
async function run(
  mkfifo: string | undefined,
  args: readonly string[] = ['-c', 'echo a word >&2; exit 3'],
): Promise<{ readonly events: readonly ProcessEvent[]; readonly messages: readonly string[] }> {
  const messages: string[] = [];
  const options = {
    binary: '/bin/sh',
    args,
    fifo: join(folder, 'fifo'),
    tools: { mkfifo, setpriv: undefined, sh: undefined },
    stdout: 'ignore',
  } as const;
  const life$ = spawnEnvoy({
    ...options,
    onLine: ({ message }) => messages.push(message),
    signals$: NEVER,
    scheduler: asyncScheduler,
  });
  return { events: await firstValueFrom(life$.pipe(toArray()), { defaultValue: [] }), messages };
}

/** Returns the number of descriptors of this process that lead into the folder. */
function open(): number {
  return readdirSync('/proc/self/fd').filter(
    (fd) =>
      existsSync(`/proc/self/fd/${fd}`) && readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder),
  ).length;
}

it('what Envoy says is read over a FIFO of which nothing stays', async () => {
  const { events, messages } = await run(findExecutable('mkfifo', process.env['PATH']));
  expect(events.at(-1)).toMatchObject({
    type: 'exited',
    exit: { kind: 'failed', code: 3, tail: ['a word'] },
  });
  expect(messages).toEqual(['a word']);
  expect(readdirSync(folder)).toEqual([]);
});

it('if a FIFO cannot be opened for writing, Envoy runs without, and no descriptor stays', async () => {
  const mkfifo = join(folder, 'mkfifo');
  writeFileSync(mkfifo, '#!/bin/sh\nmkdir "$3"\n'); // a folder can be opened for reading only
  chmodSync(mkfifo, 0o755);
  const { events, messages } = await run(mkfifo);
  expect(events.at(-1)).toMatchObject({ type: 'exited', exit: { kind: 'failed', code: 3 } });
  expect(messages.join()).toContain('no FIFO can be made');
  expect(open()).toBe(0);
});

it('a command line that no program can get is a failed start, and no descriptor stays', async () => {
  const { events } = await run(findExecutable('mkfifo', process.env['PATH']), ['-c', 'exit\0']);
  expect(events).toEqual([
    {
      type: 'exited',
      exit: { kind: 'spawn-failed', reason: expect.stringContaining('null bytes') as string },
    },
  ]);
  expect(open()).toBe(0);
});
