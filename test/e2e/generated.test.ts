import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { realEnvoy, run, withoutDrain } from '../support/e2e/bad-input-program.ts';
import { injectedPods } from '../support/e2e/injected.ts';
import { program } from '../support/e2e/program.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

let rig: Rig;
let pod: string;
beforeEach(async () => {
  rig = await makeRig();
  pod = join(rig.folder, 'pod');
  mkdirSync(pod);
});
afterEach(() => rig.dispose());

/**
 * A bootstrap without a control plane. Envoy would wait 15 s for listeners of a control plane that
 * does not answer; here it has nothing to wait for.
 */
const alone = JSON.stringify({
  admin: { address: { socket_address: { address: '127.0.0.1', port_value: '@admin@' } } },
  static_resources: { clusters: [{ name: 'first', type: 'STATIC', connect_timeout: '1s' }] },
}).replace('"@admin@"', '{{ .config.ProxyAdminPort }}');

const write = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
};
const template = () => join(pod, 'bootstrap.json');
const start = (flags: readonly string[] = [], env: NodeJS.ProcessEnv = {}) => {
  if (!existsSync(template())) write(template(), alone);
  return rig.start(['--templateFile', template(), ...flags], {
    generated: true,
    cwd: pod,
    env: { ...withoutDrain, ...env },
  });
};
const epochFile = (epoch: number) => join(rig.folder, 'run', `envoy-rev${epoch}.json`);

describe('a generated bootstrap', () => {
  it('is a file of the epoch, for its owner alone, and gone with the epoch', async () => {
    const agent = start();
    await agent.said('epoch.live', 0);
    expect(statSync(epochFile(0)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(epochFile(0), 'utf8'))).toHaveProperty(
      'static_resources.clusters.0.name',
      'first',
    );

    write(template(), alone.replace('first', 'second'));
    await agent.said('epoch.live', 1);
    expect(JSON.parse(readFileSync(epochFile(1), 'utf8'))).toHaveProperty(
      'static_resources.clusters.0.name',
      'second',
    );
    await agent.said('epoch.ended', 0);
    await expect
      .poll(() =>
        readdirSync(join(rig.folder, 'run')).filter((name) => name.startsWith('envoy-rev')),
      )
      .toEqual(['envoy-rev1.json']);

    agent.kill('SIGTERM');
    expect(await agent.exit).toEqual({ code: 0, signal: null });
    expect(readdirSync(join(rig.folder, 'run'))).toEqual(['ended.json']);
  });

  it.each<[what: string, file: () => string, before: string | undefined, after: string]>([
    [
      'the mesh file',
      () => join(pod, 'mesh.yaml'),
      'defaultConfig: {}',
      'defaultConfig: {serviceCluster: x, zipkinAddress: y, discoveryAddress: "there:15010"}',
    ],
    ['the labels of the pod', () => join(pod, 'etc/istio/pod/labels'), undefined, 'app="changed"'],
    [
      'the annotations of the pod',
      () => join(pod, 'etc/istio/pod/annotations'),
      'a="b"',
      'proxy.istio.io/config="{extraStatTags: [one]}"',
    ],
    ['the override', () => join(pod, 'override.yaml'), '{}', 'node: {metadata: {OVER: ridden}}'],
  ])('follows %s', async (_what, file, before, after) => {
    const everything = alone.replace(
      '"admin"',
      '"node":{"metadata":{"M":{{ toJSON .meta_json_str }},"T":{{ toJSON .extraStatTags }},"D":{{ toJSON .discovery_address }}}},"admin"',
    );
    write(template(), everything);
    if (before !== undefined) write(file(), before);
    const agent = start(['--meshConfig', join(pod, 'mesh.yaml')], {
      ISTIO_BOOTSTRAP_OVERRIDE: join(pod, 'override.yaml'),
    });
    await agent.said('epoch.live', 0);
    write(file(), after);
    await agent.said('epoch.live', 1);
    expect((await rig.ready()).status).toBe(200);
  });

  it('that can not be made any more leaves the old epoch in peace, and says why; the next good one is started', async () => {
    const mesh = join(pod, 'mesh.yaml');
    write(mesh, 'defaultConfig: {}');
    const agent = start(['--meshConfig', mesh]);
    await agent.said('epoch.live', 0);
    write(mesh, 'defaultConfig: {drainDuration: [}');
    const refusal = await agent.said('config.refused');
    expect(refusal['reason']).toMatch(/^mesh file .*mesh\.yaml: line 1, column \d+: /);
    expect((await rig.ready()).status).toBe(200);

    write(template(), alone.replace('first', 'third'));
    write(mesh, 'defaultConfig: {}');
    await agent.said('epoch.live', 1);
  });

  it('goes on without an override that vanishes, and warns', async () => {
    const override = join(pod, 'override.yaml');
    write(override, 'node: {cluster: over}');
    const agent = start([], { ISTIO_BOOTSTRAP_OVERRIDE: override });
    await agent.said('epoch.live', 0);
    rmSync(override);
    await agent.said('epoch.live', 1);
    const { warning } = await agent.said('config.warning');
    expect(warning).toMatch(
      /^ISTIO_BOOTSTRAP_OVERRIDE .*override\.yaml is left out: cannot be read: ENOENT/,
    );
  });

  it('is not moved by what only a new agent can honour, which is said', async () => {
    const annotations = join(pod, 'etc/istio/pod/annotations');
    write(annotations, 'a="b"');
    const agent = start(['--log_output_level', 'default:debug']);
    await agent.said('epoch.live', 0);
    write(
      annotations,
      'proxy.istio.io/config="drainDuration: 7s\\nparentShutdownDuration: 9s\\nconcurrency: 3\\nextraStatTags: [one]"',
    );
    const { warning } = await agent.said('config.warning');
    // The other fields have flags, which take precedence.
    expect(warning).toBe('concurrency: the change takes effect when the agent is restarted');
    const shown = async (): Promise<unknown> =>
      (await fetch(`http://127.0.0.1:${rig.ports.status}/debug/config`)).json();
    // The agent logs the change only if it watched the file before, and the order of the two may
    // vary.
    await expect.poll(shown).toMatchObject({
      concurrency: { value: null, source: 'default' },
      extraStatTags: { value: ['one'], source: 'annotation proxy.istio.io/config' },
    });
    expect(agent.log().filter(({ event }) => event === 'epoch.started')).toHaveLength(1);
  });
});

describe('certificates that a variable names', () => {
  const awaited = () => join(rig.folder, 'late');
  const named = () => ({
    ISTIO_META_TLS_CLIENT_CERT_CHAIN: join(awaited(), 'cert-chain.pem'),
    ISTIO_META_TLS_CLIENT_KEY: join(awaited(), 'key.pem'),
    ISTIO_META_TLS_CLIENT_ROOT_CERT: join(awaited(), 'root-cert.pem'),
  });

  it('are waited for while the status port says so, and the first epoch comes with them', async () => {
    const agent = start([], named());
    await expect.poll(async () => (await rig.ready()).body).toMatch(/^waiting for/);
    expect(await rig.ready()).toEqual({
      status: 503,
      body: `waiting for ${Object.values(named()).join(', ')}\n`,
    });
    expect(agent.log().map(({ event }) => event)).not.toContain('epoch.started');

    mkdirSync(awaited());
    for (const name of ['cert-chain.pem', 'key.pem'])
      copyFileSync(join(rig.certDir, name), join(awaited(), name));
    await expect
      .poll(async () => (await rig.ready()).body)
      .toBe(`waiting for ${join(awaited(), 'root-cert.pem')}\n`);
    copyFileSync(join(rig.certDir, 'root-cert.pem'), join(awaited(), 'root-cert.pem'));
    await agent.said('files.found');
    await agent.said('epoch.live', 0);
    expect((await rig.ready()).status).toBe(200);
  });

  it('do not hold the agent back from ending', async () => {
    const agent = start([], named());
    await agent.said('files.awaited');
    agent.kill('SIGTERM');
    expect(await agent.exit).toEqual({ code: 0, signal: null });
  });
});

describe('the drop-in', () => {
  it.each(injectedPods)(
    'takes the command line and the variables of $by as they are, and Envoy takes what comes of it',
    async (by) => {
      const variables = Object.entries(by.env).map(([name, value]) => `${name}=${value}`);
      const args = ['bootstrap', ...by.args.slice(1), '--validate', '--binaryPath', realEnvoy()];
      const done = run(rig, ['env', ...variables, ...program, ...args]);
      expect(await done.exit, done.errors()).toEqual({ code: 0, signal: null });
      expect(JSON.parse(done.output())).toHaveProperty(
        'node.id',
        expect.stringMatching(/^(sidecar|router)~/),
      );
      expect(done.errors()).toBe(
        by.warnings.map((warning) => `pilot-agent: ${warning}\n`).join(''),
      );
    },
  );
});
