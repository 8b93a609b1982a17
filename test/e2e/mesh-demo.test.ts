import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../support/ask.ts';
import { consulProgram, hasConsul } from '../support/consul.ts';
import { leftOut } from '../support/left-out.ts';

if (!hasConsul) leftOut('the demo of a mesh with Consul', 'a program');

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'pilot-agent-mesh-demo-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Resolves to what `curl --cacert ROOT -H 'Host: echo.mesh' https://localhost:PORT/` prints. Never
 * rejects.
 */
function answerOf(port: number, ca: string): Promise<string> {
  return new Promise((done) => {
    request(
      {
        host: 'localhost',
        servername: 'localhost',
        port,
        ca,
        headers: { host: 'echo.mesh' },
        agent: false,
        timeout: 30_000,
      },
      (response) =>
        void text(response).then((body) => done(`${response.statusCode} ${body.trim()}`)),
    )
      .on('error', ({ message }) => done(message))
      .end();
  });
}

/** Starts the demo. `output` returns what it has written. */
function startDemo(...flags: readonly string[]) {
  const demo = spawn(process.execPath, ['--import', 'tsx', resolve('demo/mesh.ts'), ...flags], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(demo, 'exit');
  let written = '';
  for (const stream of [demo.stdout, demo.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => (written += piece));
  const output = () => written;
  return {
    output,
    ended,
    kill: () => demo.kill('SIGKILL'),
    /** Sends the request of the line of curl until the gateway answers. */
    async answers() {
      const line = () =>
        /curl --cacert (\S+) -H 'Host: echo\.mesh' https:\/\/localhost:(\d+)\//.exec(output());
      await expect.poll(line).not.toBeNull();
      const [, root = '', port] = line() ?? [];
      const answer = () => answerOf(Number(port), readFileSync(root, 'utf8'));
      await expect.poll(answer).toMatch(/^200 v[12]$/);
    },
    /** Ends the demo as Ctrl-C does, and checks that it leaves nothing. */
    async endsClean() {
      demo.kill('SIGINT');
      expect(await ended).toEqual([0, null]);
      expect(readdirSync(folder).filter((name) => name.startsWith('pilot-'))).toEqual([]);
    },
  };
}

it('`npm run mesh` answers at its gateway as the line of curl says, and leaves nothing behind', async () => {
  const demo = startDemo();
  try {
    await demo.answers();
    await demo.endsClean();
  } finally {
    demo.kill();
  }
});

it('`npm run mesh -- --ca` shows who calls whom, and the certificates that it has issued', async () => {
  const demo = startDemo('--ca');
  try {
    await demo.answers();
    const plain = /curl http:\/\/([\d.]+):(\d+)\/ .*refused/.exec(demo.output());
    const [, address = '', port] = plain ?? [];
    expect(await ask(Number(port), '/', { address, host: 'echo.mesh' })).toMatchObject({
      status: 0,
    });
    for (const name of ['client', 'gateway'])
      await expect
        .poll(demo.output)
        .toMatch(
          new RegExp(
            `  spiffe://cluster.local/ns/shop/sa/${name} +→ spiffe://cluster.local/ns/default/sa/echo +[1-9]`,
          ),
        );
    for (const [name, namespace] of [
      ['client', 'shop'],
      ['echo', 'default'],
      ['gateway', 'shop'],
    ])
      expect(demo.output()).toMatch(
        new RegExp(
          `  ${name} +spiffe://cluster.local/ns/${namespace}/sa/${name} +[0-9A-F]{8,}  \\S.*root of the mesh  expires in \\d+ s`,
        ),
      );
    expect(demo.output()).not.toContain('PRIVATE KEY');
    await demo.endsClean();
  } finally {
    demo.kill();
  }
});

describe.skipIf(!hasConsul)('`npm run mesh -- --consul`', () => {
  it('calls a registered instance, and goes on without Consul', async () => {
    const demo = startDemo('--consulBinary', consulProgram());
    try {
      await demo.answers();
      const shown = (pattern: RegExp) => pattern.exec(demo.output())?.[1] ?? '';
      const url = shown(/-X PUT (http:\S+\/register) -d/);
      const registered = await fetch(url, { method: 'PUT', body: shown(/-d '(\{.*\})'/) });
      expect(registered.status).toBe(200);
      const answers = async () =>
        (await ask(Number(shown(/echo\.mesh' http:.*:(\d+)\//)), '/', { host: 'echo.mesh' })).body;
      await expect.poll(answers).toContain('v3');
      process.kill(Number(shown(/kill -9 (\d+)/)), 'SIGKILL');
      const control = new URL(shown(/curl (http:\S+\/ready)/));
      const ready = async () => (await ask(Number(control.port), '/ready')).body;
      await expect.poll(ready).toContain('Consul cannot be read');
      await expect.poll(answers).toContain('v3');
      await demo.endsClean();
    } finally {
      demo.kill();
    }
  });
});

it('`npm run mesh -- --consul` says in one line that there is no Consul, and ends with 69', async () => {
  const demo = startDemo('--consulBinary', join(folder, 'consul'));
  expect(await demo.ended).toEqual([69, null]);
  expect(demo.output()).toMatch(
    /^mesh: .* is not an executable: install Consul, .* --consulBinary FILE\n$/,
  );
});
