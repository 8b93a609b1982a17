import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { stringify } from 'yaml';
import { envoyConfig } from '../../demo/envoy-config.ts';
import { servedSerial } from '../../demo/served-serial.ts';
import { ask } from '../support/ask.ts';
import { startDiscovery } from '../support/discovery.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { type InstalledPackage, installPackage } from '../support/e2e/installed-package.ts';
import { type PlainSource, sourcesOf, writePlainPrograms } from '../support/e2e/plain-program.ts';
import { makeRig, type Rig, type RunningAgent } from '../support/e2e/rig.ts';
import { makeSignedRig } from '../support/e2e/signed-rig.ts';

let installed: InstalledPackage;
let programs: ReturnType<typeof writePlainPrograms>;
beforeAll(() => {
  installed = installPackage(['rxjs']);
  programs = writePlainPrograms(installed.folder);
});
afterAll(() => installed.dispose());

const env = { MINIMUM_DRAIN_DURATION: '0s' };

/** Starts an agent with one source, which reads a file. */
async function begin(
  { onTestFinished }: TestContext,
  options: Omit<PlainSource, 'name' | 'path'>,
  first: unknown,
  program = programs['plain.mjs'],
) {
  const rig = await makeRig(options.as === 'secret' ? { secret: 'mine' } : { plain: true });
  onTestFinished(() => rig.dispose());
  const path = join(rig.folder, 'mine.yaml');
  const write = (content: unknown) =>
    writeFileSync(path, typeof content === 'string' ? content : stringify(content));
  write(typeof first === 'function' ? await (first as (rig: Rig) => unknown)(rig) : first);
  const agent = rig.start([], {
    program,
    env: { ...env, ...sourcesOf({ name: 'mine', path, ...options }) },
  });
  return { agent, rig, write };
}

async function ends(agent: RunningAgent): Promise<void> {
  agent.kill('SIGTERM');
  expect(await agent.exit).toEqual({ code: 0, signal: null });
}

/** Repeats an attempt until it succeeds. `expect.poll` belongs to one test at a time. */
const until = <T>(attempt: () => T | Promise<T>) => eventually(attempt);
const answers = (port: number) => until(async () => (await ask(port, '/')).body === 'ok');
const epochs = (agent: RunningAgent) =>
  agent.log().filter(({ event }) => event === 'epoch.started').length;

describe.concurrent(
  `the installed package in Node ${process.version}, without a loader: each effect of a source`,
  () => {
    it('restart: a change starts an Envoy', async (context) => {
      const { agent, write } = await begin(context, { as: 'restart' }, 'one');
      await agent.said('epoch.live', 0);
      write('two');
      await agent.said('epoch.live', 1);
      expect(agent.errors()).toBe('');
    });

    it('envoy, in YAML: a change starts an Envoy from it', async (context) => {
      const [port = 0] = await freePorts(1);
      const document = ({ ports }: Rig, listenPort = ports.listen) =>
        envoyConfig({ adminPort: ports.admin, listenPort });
      const { agent, rig, write } = await begin(context, { as: 'envoy' }, document);
      await agent.said('epoch.live', 0);
      await answers(rig.ports.listen);
      write(document(rig, port));
      await agent.said('epoch.live', 1);
      await answers(port);
    });

    for (const program of ['plain.mjs', 'plain.cjs'] as const)
      it(`merge, in YAML: what it says is in the Envoy of a change (${program})`, async (context) => {
        const [first = 0, second = 0] = await freePorts(2);
        const listener = (listenPort: number) => {
          const { static_resources: resources } = envoyConfig({ adminPort: 0, listenPort });
          return (resources as { listeners: readonly object[] }).listeners.map(
            (listenerConfig) => ({
              ...listenerConfig,
              name: 'more',
            }),
          );
        };
        const options = { as: 'merge', at: 'static_resources.listeners' };
        const { agent, write } = await begin(context, options, listener(first), programs[program]);
        await agent.said('epoch.live', 0);
        await answers(first);
        write(listener(second));
        await agent.said('epoch.live', 1);
        await answers(second);
        expect(agent.errors()).toBe('');
      });

    it('runtime, in YAML: a change is told to the Envoy that runs', async (context) => {
      const { agent, rig, write } = await begin(
        context,
        { as: 'runtime' },
        { runtime: { mine: 'one' } },
      );
      const value = async () => (await ask(rig.ports.admin, '/runtime')).body;
      await agent.said('runtime.told', 0);
      expect(await value()).toContain('"final_value": "one"');
      write({ runtime: { mine: 'two' } });
      await until(async () => (await value()).includes('"final_value": "two"'));
      expect(epochs(agent)).toBe(1);
      await ends(agent);
      expect(agent.errors()).toBe('');
    });

    it('secret: a change is pushed to the Envoy that runs', async (context) => {
      const pair = async ({ ca }: Rig) => {
        const { certChain, key } = await ca.issue();
        return JSON.stringify({ cert: certChain, key });
      };
      const { agent, rig, write } = await begin(context, { as: 'secret' }, pair);
      const served = () => servedSerial(rig.ports.listen, rig.ca.rootCert);
      const first = await until(served);
      write(await pair(rig));
      await until(async () => ![first, undefined].includes(await served()));
      expect(epochs(agent)).toBe(1);
      await ends(agent);
    });

    it('has its configuration from YAML, and its resources from the control plane that is named there', async ({
      onTestFinished,
    }) => {
      const rig = await makeRig();
      onTestFinished(() => rig.dispose());
      const discovery = await startDiscovery();
      onTestFinished(() => discovery.close());
      const metadata = { resourceVersion: '1', name: 'mine', namespace: 'default' };
      const items = [{ metadata, data: { a: 'b' } }];
      const resources = [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true }];
      const cluster = createServer(({ url = '' }, response) => {
        if (!url.includes('watch=')) response.end(JSON.stringify({ resources, items, metadata }));
      });
      onTestFinished(() => cluster.closeAllConnections());
      await new Promise<void>((listening) => cluster.listen(0, '127.0.0.1', listening).unref());
      const place = (name: string, content: unknown) => {
        writeFileSync(join(rig.folder, name), stringify(content));
        return join(rig.folder, name);
      };
      const kubeconfig = place('kubeconfig', {
        'current-context': 'here',
        contexts: [{ name: 'here', context: { cluster: 'here' } }],
        clusters: [
          {
            name: 'here',
            cluster: { server: `http://127.0.0.1:${(cluster.address() as AddressInfo).port}` },
          },
        ],
      });
      const mesh = place('mesh.yaml', { defaultConfig: { serviceCluster: 'of-the-mesh' } });
      const map = {
        kind: 'kube',
        name: 'maps',
        resource: 'ConfigMap',
        namespace: 'default',
        object: 'mine',
        kubeconfig,
      };
      const agent = rig.start(
        ['--config', place('agent.yaml', { sources: [map] }), '--meshConfig', mesh],
        {
          generated: true,
          program: programs['plain.mjs'],
          env: {
            ...env,
            PROXY_CONFIG: stringify({
              discoveryAddress: `127.0.0.1:${discovery.port}`,
              controlPlaneAuthPolicy: 'NONE',
            }),
          },
        },
      );
      await agent.said('xds.connected');
      await agent.said('epoch.live', 0);
      await until(async () =>
        (await ask(rig.ports.status, '/debug/sources')).body.includes('"state": "read"'),
      );
      expect((await ask(rig.ports.admin, '/server_info')).body).toContain('of-the-mesh');
      expect(agent.errors()).toBe('');
    });

    it('has a certificate signed, and serves it', async ({ onTestFinished }) => {
      const signed = await makeSignedRig();
      onTestFinished(() => signed.dispose());
      const agent = signed.start(env, [], programs['plain.mjs']);
      await agent.said('certificate.issued');
      await until(() => servedSerial(signed.rig.ports.listen, signed.rig.ca.rootCert));
      await ends(agent);
    });
  },
);

/** The command that gives a program a network of its own, in which the printed ports are free. */
const inNetwork = ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'] as const;
const ownNetwork =
  spawnSync('unshare', [...inNetwork.slice(1), 'true']).status === 0 ? inNetwork : undefined;
if (ownNetwork === undefined) leftOut('the ports of the library page, as they are printed');

describe(`the programs of the library page, as they are printed, in Node ${process.version}`, () => {
  const [agent = '', mine = '', drawn = ''] = [
    ...readFileSync('docs/library.md', 'utf8').matchAll(/^```ts\n(.*?)^```$/gms),
  ].map(([, block = '']) => block);

  it('an agent in a program serves, and ends at SIGTERM', async () => {
    const [status = 0, adminPort = 0, listenPort = 0] =
      ownNetwork === undefined ? await freePorts(3) : [15_020, 15_000, 15_001];
    const folder = join(installed.folder, 'agent');
    mkdirSync(folder);
    writeFileSync(
      join(folder, 'envoy.json'),
      JSON.stringify(envoyConfig({ adminPort, listenPort })),
    );
    writeFileSync(
      join(folder, 'agent.mjs'),
      ownNetwork === undefined
        ? agent.replace('15020', `${status}, proxyAdminPort: ${adminPort}`)
        : agent,
    );
    const [command, args] =
      ownNetwork === undefined
        ? [process.execPath, []]
        : [ownNetwork[0], [...ownNetwork.slice(1), process.execPath]];
    const child = spawn(command, [...args, 'agent.mjs'], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (piece: string) => (output += piece));
    try {
      await expect.poll(() => output).toContain('"epoch.live"');
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('a source of your own reads its file', () => {
    writeFileSync(join(installed.folder, 'switches.json'), '{ "fast": true }');
    writeFileSync(join(installed.folder, 'switches.mjs'), mine);
    const use = `import { firstValueFrom } from 'rxjs'; import { switches } from './switches.mjs';
      console.log(JSON.stringify((await firstValueFrom(switches.reading$)).config[0].content))`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', use], {
      cwd: installed.folder,
      encoding: 'utf8',
    });
    expect(stdout + stderr).toBe('{"fast":true}\n');
  });

  it('a test in virtual time passes', () => {
    writeFileSync(join(installed.folder, 'drawn.test.mjs'), drawn);
    const args = ['--test', '--test-reporter', 'tap', 'drawn.test.mjs'];
    const { stdout } = spawnSync(process.execPath, args, {
      cwd: installed.folder,
      encoding: 'utf8',
    });
    expect(stdout).toMatch(/^# pass 1$/m);
  });
});
