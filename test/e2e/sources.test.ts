import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { envoyConfig } from '../../demo/envoy-config.ts';
import { servedSerial } from '../../demo/served-serial.ts';
import { ask } from '../support/ask.ts';
import { type Consul, hasConsul, startConsul } from '../support/consul.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { type Load, startLoad } from '../support/load.ts';
import { type KubeServer, kubeProgram, startKubeServer } from '../support/e2e/kube-server.ts';
import { makeRig, type Rig, type RunningAgent } from '../support/e2e/rig.ts';

const isWhole = kubeProgram !== undefined && hasConsul;
if (!isWhole)
  leftOut('an agent with five sources: there is no API server of Kubernetes, or no Consul');

/** The time that each source is away, in ms. */
const outage = 8_000;

describe.runIf(isWhole)('an agent with five sources', () => {
  let rig: Rig;
  let kube: KubeServer;
  let consul: Consul;
  let web: Server;
  let webPort: number;
  let agent: RunningAgent;
  let load: Load;
  let extraPort: number;
  let document: string;
  const folder = () => join(rig.folder, 'watched');

  const listen = () => new Promise<void>((done) => web.listen(webPort, '127.0.0.1', done));
  const listener = (port: number, name: string) => {
    const { static_resources: resources } = envoyConfig({ adminPort: 0, listenPort: port });
    return JSON.stringify(
      (resources as { listeners: readonly object[] }).listeners.map((listenerConfig) => ({
        ...listenerConfig,
        name,
      })),
    );
  };
  const setMap = (text: string) =>
    kube.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name: 'settings' },
      data: { 'settings.yaml': text },
    });
  const setSecret = async () => {
    const { certChain, key, serial } = await rig.ca.issue();
    const data = {
      'tls.crt': Buffer.from(certChain).toString('base64'),
      'tls.key': Buffer.from(key).toString('base64'),
    };
    await kube.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: 'default', name: 'front' },
      type: 'kubernetes.io/tls',
      data,
    });
    return serial;
  };
  const setFlags = (value: string) =>
    consul.ask('PUT', 'kv/envoy/runtime', `runtime: {test.flag: "${value}"}\n`);
  const runtime = async () => (await ask(rig.ports.admin, '/runtime')).body;
  const started = () => agent.log().filter(({ event }) => event === 'epoch.live').length;
  const lived = () => agent.log().filter(({ event }) => event === 'epoch.live').length;
  const status = async () =>
    JSON.parse((await ask(rig.ports.status, '/debug/sources')).body) as readonly {
      name: string;
      state: string;
      effect: string;
    }[];
  /** Runs `act`. Resolves when one more epoch is LIVE than before. */
  const nextEpoch = async (act: () => unknown) => {
    const before = lived();
    await act();
    await expect.poll(lived).toBe(before + 1);
  };
  const served = () => servedSerial(rig.ports.listen, rig.ca.rootCert);

  beforeAll(async () => {
    [kube, consul, rig] = await Promise.all([
      startKubeServer(),
      startConsul(),
      makeRig({ secret: 'front' }),
    ]);
    [extraPort = 0] = await freePorts(1);
    document = listener(extraPort, 'extra');
    web = createServer((_, response) =>
      response.writeHead(200, { connection: 'close' }).end(document),
    ).listen(0, '127.0.0.1');
    await new Promise((done) => web.once('listening', done));
    webPort = (web.address() as AddressInfo).port;
    mkdirSync(folder());
    writeFileSync(join(folder(), 'a'), '1');
    await Promise.all([setMap('one'), setSecret(), setFlags('one')]);
    const kubeTarget = { kind: 'kube', namespace: 'default', kubeconfig: kube.kubeconfig };
    const file = join(rig.folder, 'agent.json');
    writeFileSync(
      file,
      JSON.stringify({
        sources: [
          { kind: 'files', name: 'folder', paths: [folder()] },
          {
            kind: 'http',
            name: 'document',
            url: `http://127.0.0.1:${webPort}/`,
            every: '1s',
            as: 'merge',
            at: 'static_resources.listeners',
          },
          { ...kubeTarget, name: 'map', resource: 'ConfigMap', object: 'settings' },
          { ...kubeTarget, name: 'front', resource: 'Secret', object: 'front', as: 'secret' },
          {
            kind: 'consul',
            name: 'flags',
            address: consul.address,
            prefix: 'envoy/runtime',
            as: 'runtime',
          },
        ],
      }),
    );
    agent = rig.start(['--config', file]);
    await agent.said('epoch.live', 0);
    await eventually(async () => (await served()) !== undefined);
    load = startLoad({
      port: rig.ports.listen,
      tls: { ca: rig.ca.rootCert },
      mode: 'keep-alive',
      clients: 4,
      pause: 5,
      maxDuration: 170_000,
    });
  });
  afterAll(async () => {
    web.close();
    await rig.dispose();
    await Promise.all([consul.dispose(), kube.dispose()]);
  });

  it('begins with what all of them say, in one epoch', async () => {
    await expect
      .poll(async () =>
        (await status()).map(({ name, state, effect }) => `${name} ${state} ${effect}`),
      )
      .toEqual([
        'folder read epoch',
        'document read epoch',
        'map read epoch',
        'front read push',
        'flags read runtime',
      ]);
    await expect.poll(runtime).toContain('"test.flag"');
    expect((await ask(extraPort, '/')).status).toBe(200);
    expect(started()).toBe(1);
  });

  it('has the right effect for a change of each', async () => {
    await nextEpoch(() => writeFileSync(join(folder(), 'a'), '2'));
    await nextEpoch(() => setMap('two'));
    const [nextPort = 0] = await freePorts(1);
    await nextEpoch(() => (document = listener(nextPort, 'extra')));
    expect((await ask(nextPort, '/')).status).toBe(200);
    expect(
      agent.log().flatMap(({ event, changed }) => (event === 'config.changed' ? [changed] : [])),
    ).toEqual([[`folder ${folder()}/a`], ['map settings.yaml'], ['document']]);

    const epochs = started();
    const serial = await setSecret();
    await expect.poll(served).toBe(serial);
    await setFlags('two');
    await expect.poll(runtime).toContain('two');
    expect(started()).toBe(epochs);
    expect(agent.log().findLast(({ event }) => event === 'runtime.changed')).toMatchObject({
      effect: 'runtime',
      because: 'only runtime settings differ (source flags)',
    });
  });

  it('makes one epoch of changes of all of them at once', async () => {
    const epochs = started();
    let serial = '';
    await nextEpoch(async () => {
      writeFileSync(join(folder(), 'a'), '3');
      [serial] = await Promise.all([setSecret(), setMap('three'), setFlags('three')]);
    });
    await expect.poll(served).toBe(serial);
    await expect.poll(runtime).toContain('three');
    await pause(1_000);
    expect(started()).toBe(epochs + 1);
  });

  it('refuses what cannot be merged over the configuration, and names the source', async () => {
    const epochs = started();
    const right = document;
    document = '[{"nane": "extra"}]';
    const { reason } = await agent.said('config.refused');
    expect(reason).toMatch(/^source document:1:3: static_resources\.listeners.*nane/);
    document = right;
    await agent.said('config.refusal_ended');
    expect(started()).toBe(epochs);
  });

  it('goes on with what they said while each is away, says which, and takes what they say after it', async () => {
    const epochs = started();
    web.close();
    web.closeAllConnections();
    await kube.stop();
    await consul.stop();
    const away = ['document', 'map', 'front', 'flags'];
    const failing = async () =>
      (await status()).filter(({ state }) => state === 'failing').map(({ name }) => name);
    await expect.poll(failing).toEqual(away);
    const ready = await fetch(`http://127.0.0.1:${rig.ports.status}/healthz/ready`, {
      headers: { accept: 'application/json' },
    });
    expect(ready.status).toBe(200);
    const { notes } = (await ready.json()) as { notes: readonly string[] };
    for (const name of away) expect(notes.join('\n')).toContain(`source ${name}: `);
    await pause(outage);
    expect(started()).toBe(epochs);
    expect(await served()).toBeDefined();

    await Promise.all([listen(), kube.start(), consul.start().then(() => setFlags('four'))]);
    const serial = await setSecret();
    await expect.poll(served).toBe(serial);
    await expect.poll(runtime).toContain('four');
    await expect.poll(failing).toEqual([]);
    expect(started()).toBe(epochs);
    await nextEpoch(() => setMap('four'));
    const again = agent
      .log()
      .flatMap(({ event, source }) => (event === 'source.read_again' ? [source] : []));
    expect([...new Set(again)].sort()).toEqual(away.sort());
  });

  it('has lost no request meanwhile, and ends cleanly', async () => {
    const { ok, failed, errors } = await load.stop();
    expect([...errors]).toEqual([]);
    expect(failed).toBe(0);
    expect(ok).toBeGreaterThan(1_000);
    agent.kill('SIGTERM');
    expect(await agent.exit).toEqual({ code: 0, signal: null });
  });
});
