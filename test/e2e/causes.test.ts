import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { writeCertificates } from '../../demo/certificates.ts';
import { envoyConfig } from '../../demo/envoy-config.ts';
import { type Clear, clearedAfter } from '../support/cleared-after.ts';
import { leftOut } from '../support/left-out.ts';
import { startLoad } from '../support/load.ts';
import { groupable, ownGroup } from '../support/e2e/machine-faults.ts';
import { makeRig, type RunningAgent, type StartOptions } from '../support/e2e/rig.ts';

const isRoot = spawnSync('unshare', ['-m', 'true']).status === 0;
if (!isRoot) leftOut('facts that change while Envoy runs');
else if (!groupable('memory')) leftOut('a limit of memory that changes while Envoy runs');

/**
 * Returns the template of a bootstrap with a listener. The node's metadata contains `meta_json_str`
 * and `statsd`.
 */
function template(adminPort: number, listenPort: number): string {
  const metadata = { told: '@M@', statsd: '@S@' };
  const text = JSON.stringify(
    envoyConfig({ adminPort, listenPort, extra: { node: { id: 'n', cluster: 'c', metadata } } }),
  );
  return text
    .replace('"@M@"', '{{ toJSON .meta_json_str }}')
    .replace('"@S@"', '{{ toJSON .statsd }}');
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

async function prepare(clear: Clear) {
  const rig = await makeRig();
  clear(() => rig.dispose());
  const pod = join(rig.folder, 'pod');
  const file = (name: string) => join(pod, name);
  write(file('bootstrap.json'), template(rig.ports.admin, rig.ports.listen));
  const start = (flags: readonly string[], { env, ...options }: StartOptions = {}): RunningAgent =>
    rig.start(
      ['--templateFile', file('bootstrap.json'), '--meshConfig', file('mesh.yaml'), ...flags],
      {
        ...options,
        generated: true,
        cwd: pod,
        env: {
          MINIMUM_DRAIN_DURATION: '0s',
          ISTIO_BOOTSTRAP_OVERRIDE: file('override.yaml'),
          ...env,
        },
      },
    );
  const ask = async (path: string) =>
    (await fetch(`http://127.0.0.1:${rig.ports.status}${path}`)).text();
  const underLoad = () => {
    const load = startLoad({
      port: rig.ports.listen,
      mode: 'keep-alive',
      clients: 2,
      pause: 10,
      maxDuration: Infinity,
    });
    clear(() => load.stop());
    return load;
  };
  return { rig, file, start, ask, underLoad };
}

it.skipIf(!isRoot)(
  'no fact makes an epoch: addresses, answers of name servers and of the cloud, limits',
  () =>
    clearedAfter(async (clear) => {
      const group = groupable('memory') ? ownGroup('memory') : undefined;
      clear(() => group?.dispose());
      const { rig, file, start, ask, underLoad } = await prepare(clear);
      const link = `pa${process.pid}`;
      clear(() => void spawnSync('ip', ['link', 'delete', link]));
      // The cloud answers after 1.5 s, which is too late for the first epoch.
      const cloud = createServer(
        (_, response) => void setTimeout(() => response.end('learnt-late'), 1_500),
      );
      await new Promise<void>((done) => cloud.listen(0, '127.0.0.1', done));
      clear(() => void cloud.close());
      const hosts = file('hosts');
      write(hosts, '127.0.0.1 localhost statsd.test\n');
      const wrap = [
        ...(group?.start.wrap ?? []),
        'unshare',
        '-m',
        'sh',
        '-c',
        `mount --bind ${hosts} /etc/hosts && exec "$@"`,
        'sh',
      ];
      const env = { GCE_METADATA_HOST: `127.0.0.1:${(cloud.address() as AddressInfo).port}` };
      const agent = start(
        ['--statsdUdpAddress', 'statsd.test:8125', '--log_output_level', 'default:debug'],
        { wrap, env },
      );
      await agent.said('epoch.live', 0);
      const load = underLoad();

      const facts: Readonly<Record<string, () => unknown>> = {
        'the cloud has answered': () => sleep(2_000),
        'a new address of an interface': () => {
          execFileSync('ip', [
            'link',
            'add',
            link,
            'up',
            'type',
            'veth',
            'peer',
            'name',
            `${link}p`,
          ]);
          execFileSync('ip', ['link', 'set', `${link}p`, 'up']);
          execFileSync('ip', ['address', 'add', '10.98.7.6/32', 'dev', link]);
        },
        'a limit of memory': () => group?.write('memory.limit_in_bytes', String(2 ** 30)),
        'a name that is not resolved any more': () => writeFileSync(hosts, '127.0.0.1 localhost\n'),
        'a name of another address': () =>
          writeFileSync(hosts, '127.0.0.1 localhost\n127.0.0.9 statsd.test\n'),
      };
      const readings = () => agent.log().filter(({ event }) => event === 'config.unchanged').length;
      for (const [index, change] of Object.values(facts).entries()) {
        await change();
        write(file('etc/istio/pod/labels'), ''); // makes the agent read everything again
        await expect.poll(readings).toBeGreaterThan(index);
      }
      expect(
        agent.log().filter(({ event }) => event === 'config.changed' || event === 'epoch.claimed'),
      ).toEqual([]);

      expect(await rig.post(rig.ports.status, '/restart')).toBe(200);
      await agent.said('epoch.live', 1);
      const dump = await (await fetch(`http://127.0.0.1:${rig.ports.admin}/config_dump`)).text();
      expect(
        ['learnt-late', '10.98.7.6', '127.0.0.9'].filter((fact) => !dump.includes(fact)),
      ).toEqual([]);
      expect(JSON.parse(await ask('/debug/epochs'))).toMatchObject({
        epochs: [
          { why: 'first' },
          { why: 'by hand', changed: [{ source: 'POST /restart', part: '' }] },
        ],
      });
      const { failed, errors } = await load.stop();
      expect([failed, [...errors]]).toEqual([0, []]);
    }),
);

it('each source makes one epoch, whose cause is in the log, the timeline and the metrics', () =>
  clearedAfter(async (clear) => {
    const { rig, file, start, ask, underLoad } = await prepare(clear);
    const next = await rig.ca.issue();
    const chain = join(rig.certDir, 'cert-chain.pem');
    write(file('mesh.yaml'), 'defaultConfig: {}');
    write(file('override.yaml'), '{}');
    const agent = start([]);
    await agent.said('epoch.live', 0);
    const load = underLoad();

    const marks = { from: `serial ${rig.issued.serial}`, to: `serial ${next.serial}` };
    const sources: readonly (readonly [change: () => unknown, ...causes: readonly object[]])[] = [
      [
        () => writeCertificates(rig.certDir, next),
        { source: 'files', part: chain, ...marks },
        { source: 'files', part: join(rig.certDir, 'key.pem') },
      ],
      [
        () =>
          write(file('mesh.yaml'), 'defaultConfig: {serviceCluster: other, extraStatTags: [one]}'),
        { source: 'files', part: file('mesh.yaml') },
        { source: 'configuration', part: 'extraStatTags' },
      ],
      [
        () => write(file('etc/istio/pod/labels'), 'app="changed"'),
        { source: 'files', part: './etc/istio/pod/labels' },
      ],
      [
        () =>
          write(
            file('etc/istio/pod/annotations'),
            'proxy.istio.io/config="{extraStatTags: [two]}"',
          ),
        { source: 'files', part: './etc/istio/pod/annotations' },
        { source: 'configuration', part: 'extraStatTags' },
      ],
      [
        () => write(file('override.yaml'), 'node: {metadata: {OVER: ridden}}'),
        { source: 'files', part: file('override.yaml') },
      ],
      [
        () => write(file('bootstrap.json'), `${template(rig.ports.admin, rig.ports.listen)}\n`),
        { source: 'files', part: file('bootstrap.json') },
      ],
      [() => agent.kill('SIGHUP'), { source: 'SIGHUP', part: '' }],
      [() => rig.post(rig.ports.status, '/restart'), { source: 'POST /restart', part: '' }],
    ];
    for (const [index, [change]] of sources.entries()) {
      await change();
      await agent.said('epoch.live', index + 1);
      await agent.said('epoch.ended', index);
    }
    await sleep(1_000); // longer than the window
    const { epochs: past } = JSON.parse(await ask('/debug/epochs')) as {
      readonly epochs: readonly { readonly changed: readonly object[] }[];
    };
    expect(past.slice(1).map(({ changed }) => changed)).toEqual(
      sources.map(([, ...causes]): unknown => expect.arrayContaining(causes)),
    );

    const log = agent.log();
    expect(log.find(({ event }) => event === 'config.changed')?.['changed']).toContain(
      `files ${chain}: ${marks.from} → ${marks.to}`,
    );
    expect(
      log.filter(({ event }) => event === 'restart.requested').map((line) => line['by']),
    ).toEqual(['SIGHUP', 'POST /restart']);
    expect(log.filter(({ event }) => event === 'config.changed')).toHaveLength(sources.length - 2);

    const metrics = await ask('/stats/prometheus');
    const starts = (why: string, source: string, part: string) =>
      `istio_agent_envoy_starts_total{why="${why}",source="${source}",part="${part}"} 1`;
    expect(metrics).toContain(starts('change', 'files', chain));
    expect(metrics).toContain(starts('change', 'files', file('mesh.yaml')));
    expect(metrics).toContain(starts('by hand', 'SIGHUP', ''));
    const { failed, errors } = await load.stop();
    expect([failed, [...errors]]).toEqual([0, []]);
  }));

it('a name of statsd is taken from the command line', () =>
  clearedAfter(async (clear) => {
    const { rig, start } = await prepare(clear);
    const agent = start(['--statsdUdpAddress', 'localhost:8125']);
    await agent.said('epoch.live', 0);
    expect(await (await fetch(`http://127.0.0.1:${rig.ports.admin}/config_dump`)).text()).toMatch(
      /127\.0\.0\.1[^}]*8125/,
    );
  }));
