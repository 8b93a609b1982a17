import { execFileSync } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { envoyConfig } from '../../demo/envoy-config.ts';
import { startLoad } from '../support/load.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

let rig: Rig;
afterEach(() => rig.dispose());

const ask = (port: number) =>
  new Promise<void>((done, fail) =>
    get({ host: '127.0.0.1', port, agent: false }, (response) =>
      response.resume().on('end', done),
    ).on('error', fail),
  );

it('an access log on /dev/stdout goes where the output of the agent goes', async () => {
  rig = await makeRig({ plain: true, accessLog: '/dev/stdout' });
  const agent = rig.start();
  await agent.said('epoch.live', 0);
  await ask(rig.ports.listen);
  agent.kill('SIGTERM');
  await agent.exit;
  expect(agent.output()).toMatch(/^\[\d{4}-.*"GET \/ HTTP\/1.1" 200/m);
});

it('an access log on /dev/stderr becomes lines of the log', async () => {
  rig = await makeRig({ plain: true, accessLog: '/dev/stderr' });
  const agent = rig.start();
  await agent.said('epoch.live', 0);
  await ask(rig.ports.listen);
  agent.kill('SIGTERM');
  await agent.exit;
  const access = agent.log().find(({ msg }) => msg.includes('"GET / HTTP/1.1" 200'));
  expect(access).toMatchObject({ component: 'envoy.stderr', epoch: 0, level: 'info' });
  expect(agent.errors()).toBe('');
});

it("each line of Envoy's log has its epoch, level and component", async () => {
  rig = await makeRig({ plain: true });
  const agent = rig.start(['--proxyLogLevel', 'debug', '--proxyComponentLogLevel', '']);
  await agent.said('epoch.live', 0);
  agent.kill('SIGTERM');
  await agent.exit;
  const lines = agent.output().trim().split('\n');
  expect(lines.filter((line) => !line.startsWith('{') || !line.endsWith('}'))).toEqual([]);
  const envoy = agent.log().filter(({ component }) => String(component).startsWith('envoy.'));
  expect(envoy.length).toBeGreaterThan(100);
  expect(
    envoy.every(({ epoch, level }) => epoch === 0 && ['debug', 'info', 'warn'].includes(level)),
  ).toBe(true);
  expect(
    envoy.find(({ component, level }) => component === 'envoy.connection' && level === 'debug'),
  ).toBeDefined();
});

it('a reader that does not read stalls neither Envoy nor the agent, and is told what it missed', async () => {
  rig = await makeRig({ plain: true });
  const fifo = join(rig.folder, 'output');
  execFileSync('mkfifo', [fifo]);
  const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(fifo, constants.O_WRONLY);
  const agent = rig.start(['--proxyLogLevel', 'trace', '--proxyComponentLogLevel', ''], {
    output: writer,
  });
  closeSync(writer);
  await expect.poll(async () => (await rig.ready()).status).toBe(200);

  const load = startLoad({ port: rig.ports.listen, mode: 'new-connection', clients: 2, pause: 1 });
  await expect.poll(() => load.counts.ok).toBeGreaterThan(2_000);
  expect((await load.stop()).failed).toBe(0);
  expect((await rig.ready()).status).toBe(200);

  const buffer = Buffer.alloc(1 << 16);
  let text = '';
  await expect
    .poll(
      () => {
        try {
          text += buffer.toString('utf8', 0, readSync(reader, buffer));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
        }
        return text.includes('log.dropped');
      },
      { interval: 1 },
    )
    .toBe(true);
  agent.kill('SIGTERM');
  const { code } = await agent.exit; // although no process reads the output now
  closeSync(reader);
  expect(code).toBe(0);
});

it('SIGUSR1 makes Envoy open its log files anew', async () => {
  rig = await makeRig({ plain: true });
  const path = join(rig.folder, 'access.log');
  writeFileSync(
    rig.config,
    JSON.stringify(
      envoyConfig({ adminPort: rig.ports.admin, listenPort: rig.ports.listen, accessLog: path }),
    ),
  );
  const agent = rig.start();
  await agent.said('epoch.live', 0);
  execFileSync('mv', [path, `${path}.1`]);
  agent.kill('SIGUSR1');
  // Envoy opens its log file when it next writes.
  await expect
    .poll(() => ask(rig.ports.listen).then(() => existsSync(path)), {
      timeout: 60_000,
      interval: 100,
    })
    .toBe(true);
  expect((await rig.ready()).status).toBe(200);
});
