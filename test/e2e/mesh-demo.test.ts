import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'pilot-agent-mesh-demo-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What `curl --cacert ROOT -H 'Host: echo.mesh' https://localhost:PORT/` says. Never rejects. */
function asked(port: number, ca: string): Promise<string> {
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

it('`npm run mesh` answers at its gateway as the line of curl says, and leaves nothing behind', async () => {
  const demo = spawn(process.execPath, ['--import', 'tsx', resolve('demo/mesh.ts')], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(demo, 'exit');
  let said = '';
  demo.stderr.setEncoding('utf8').on('data', (piece: string) => (said += piece));
  try {
    const curl = () =>
      /curl --cacert (\S+) -H 'Host: echo\.mesh' https:\/\/localhost:(\d+)\//.exec(said);
    await expect.poll(curl).not.toBeNull();
    const [, root = '', port] = curl() ?? [];
    expect(existsSync(root)).toBe(true);
    const answer = () => asked(Number(port), readFileSync(root, 'utf8'));
    await expect.poll(answer).toMatch(/^200 v[12]$/);
    demo.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
    expect(readdirSync(folder).filter((name) => name.startsWith('pilot-'))).toEqual([]);
  } finally {
    demo.kill('SIGKILL');
  }
});
