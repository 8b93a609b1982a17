import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeCertificates } from '../../demo/certificates.ts';
import { cacheDir, findEnvoy, pinnedEnvoy } from '../../src/pilot-agent/envoy/find-envoy.ts';
import { mergeOverride } from '../../src/proxy/merge-override.ts';
import { ask } from '../support/ask.ts';
import { eventually } from '../support/eventually.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

const lookup = findEnvoy({
  binaryPath: undefined,
  env: process.env,
  cacheDir: cacheDir(process.env),
  version: pinnedEnvoy.version,
});
const binary = lookup.ok ? lookup.path : expect.unreachable(lookup.reason);

describe('an override', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'pilot-agent-override-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Resolves to the bootstrap that a real Envoy reports. */
  async function understood(config: string, override?: string): Promise<unknown> {
    const [path, address] = [join(folder, 'envoy.json'), join(folder, 'address')];
    writeFileSync(path, config);
    const options = ['-c', path, ...(override === undefined ? [] : ['--config-yaml', override])];
    const envoy = spawn(
      binary,
      [...options, '--disable-hot-restart', '--admin-address-path', address, '-l', 'error'],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    let output = '';
    envoy.stderr.on('data', (piece: Buffer) => (output += String(piece)));
    try {
      const port = await eventually(() => {
        if (envoy.exitCode !== null) throw new Error(output);
        return Number(/:(\d+)$/.exec(readOr(address))?.[1]) || undefined;
      });
      const dump = JSON.parse((await ask(port, '/config_dump')).body) as {
        readonly configs: readonly { readonly bootstrap?: unknown }[];
      };
      const { node, ...rest } = dump.configs.find(({ bootstrap }) => bootstrap !== undefined)
        ?.bootstrap as Readonly<Record<string, object>>;
      // The node that Envoy reports also contains what Envoy knows about itself.
      const { id, cluster, metadata, locality } = node as Readonly<Record<string, unknown>>;
      return { ...rest, node: { id, cluster, metadata, locality } };
    } finally {
      envoy.kill('SIGKILL');
      if (envoy.exitCode === null && envoy.signalCode === null) await once(envoy, 'exit');
      rmSync(address, { force: true });
    }
  }

  const base = {
    node: {
      id: 'id',
      cluster: 'cluster',
      metadata: { a: { b: 1, c: 2 }, d: 'e' },
      locality: { region: 'r', zone: 'z' },
    },
    admin: { address: { socket_address: { address: '127.0.0.1', port_value: 0 } } },
    static_resources: { clusters: [{ name: 'first', connect_timeout: '1s' }] },
    stats_config: {
      stats_matcher: { inclusion_list: { patterns: [{ prefix: 'a' }] } },
      use_all_default_tags: true,
    },
    stats_flush_interval: '5s',
    layered_runtime: { layers: [{ name: 'one', static_layer: { x: 1 } }] },
    typed_dns_resolver_config: {
      name: 'dns',
      typed_config: {
        '@type':
          'type.googleapis.com/envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig',
        dns_resolver_options: { use_tcp_for_dns_lookups: true },
      },
    },
  };

  it.each<[what: string, override: string]>([
    ['nothing', '{}'],
    [
      'a cluster more, and a layer',
      'static_resources: {clusters: [{name: second}]}\nlayered_runtime: {layers: [{name: two, static_layer: {y: 2}}]}',
    ],
    [
      'fields of messages',
      'node: {cluster: other, locality: {zone: q, sub_zone: s}}\nstats_flush_interval: 7s',
    ],
    [
      'names in their other form',
      'staticResources: {clusters: [{name: second, connectTimeout: 2s}]}\nstatsFlushInterval: 7s',
    ],
    ['metadata, by their first names', 'node: {metadata: {a: {z: 3}, f: [1]}}'],
    [
      'another of several fields of which there is one',
      'stats_config: {stats_matcher: {reject_all: true}}',
    ],
    [
      'a list behind a list',
      'stats_config: {stats_matcher: {inclusion_list: {patterns: [{suffix: b}]}}}',
    ],
    [
      'what is false, and nothing',
      'stats_config: {use_all_default_tags: false}\nnode: {cluster: "", id: ~}',
    ],
    [
      'an Any',
      'typed_dns_resolver_config: {typed_config: {"@type": type.googleapis.com/envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig, filter_unroutable_families: true}}',
    ],
    [
      'keys that come twice',
      'node: {cluster: one}\nstats_flush_interval: 6s\nnode: {cluster: two}',
    ],
    [
      'scalars as yaml-cpp has them',
      'node: {metadata: {a: yes, b: "yes", c: On, d: 0x1F, e: 017, f: 08, g: 0.5, h: 4294967296, i: -3, j: +4, k: ~, l: 1e3, m: Null, n: y, o: .inf, p: 2020-01-01, q: "5", r: 1_000, s: 99999999999999999999}}',
    ],
    ['an anchor', 'node: {locality: {region: &r here, zone: *r}}'],
    ['JSON', '{"node": {"cluster": "json"}}'],
    ['two documents', 'node: {cluster: one}\n---\nnode: {cluster: two}'],
  ])('of %s is for Envoy what it is with --config-yaml', async (_, override) => {
    const text = JSON.stringify(base);
    const merged = await mergeOverride({ kind: 'generated', text, extension: '.json', override });
    expect(await understood(merged.ok ? merged.text : merged.reason)).toEqual(
      await understood(text, override),
    );
  });
  describe('of an agent', () => {
    let rig: Rig;
    beforeEach(async () => (rig = await makeRig()));
    afterEach(() => rig.dispose());

    it('is on no command line, and reaches Envoy', async () => {
      const file = join(rig.folder, 'override.yaml');
      writeFileSync(
        file,
        'node: {metadata: {secret: hush}}\nstats_flush_interval: 7s\nstats_flush_interval: 8s\n',
      );
      const agent = rig.start([], { env: { ISTIO_BOOTSTRAP_OVERRIDE: file } });
      await agent.said('epoch.live', 0);
      expect(
        rig
          .envoys()
          .map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
          .join(''),
      ).not.toMatch(/hush|config-yaml/);
      expect((await ask(rig.ports.admin, '/config_dump')).body).toMatch(
        /"stats_flush_interval": "8s"/,
      );
      writeFileSync(file, 'node: [hush');
      const { reason } = await agent.said('config.refused');
      expect(reason).toBe(`ISTIO_BOOTSTRAP_OVERRIDE ${file}:1:12: it is not YAML (BAD_INDENT)`);
      expect((await rig.ready()).status).toBe(200);
      writeFileSync(file, 'stats_flush_interval: 9s');
      await agent.said('epoch.live', 1);
      expect(agent.output() + agent.errors()).not.toContain('hush');
    });

    it('that cannot be read as YAML ends the agent before the first Envoy, with 78 and without its contents', async () => {
      const file = join(rig.folder, 'override.yaml');
      writeFileSync(file, 'node: [hush');
      const agent = rig.start([], { env: { ISTIO_BOOTSTRAP_OVERRIDE: file } });
      expect(await agent.exit).toEqual({ code: 78, signal: null });
      expect(agent.errors()).toContain(`ISTIO_BOOTSTRAP_OVERRIDE ${file}:1:12: it is not YAML`);
      expect(agent.output() + agent.errors()).not.toContain('hush');
    });

    it('that Envoy takes and other readers of YAML do not is not a bar to a rescue', async () => {
      const file = join(rig.folder, 'override.yaml');
      writeFileSync(file, 'node: {cluster: hush}\nnode: {cluster: other}\n');
      const agent = rig.start([], { env: { ISTIO_BOOTSTRAP_OVERRIDE: file } });
      await agent.said('epoch.live', 0);
      writeCertificates(rig.certDir, await rig.ca.issue());
      await agent.said('epoch.live', 1);
      const [oldest = 0] = rig.envoys();
      process.kill(oldest, 'SIGKILL'); // the child cannot live without its parent
      await agent.said('rescue.started');
      await agent.said('epoch.live', 2);
      expect(agent.output() + agent.errors()).not.toContain('hush');
      expect((await rig.ready()).status).toBe(200);
    });
  });
});

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
