import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { controlPlane } from '../support/control-plane.ts';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { type Istiod, makeIstiod } from '../support/e2e/istiod.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

let rig: Rig;
let istiod: Istiod;
let discovery: number;
let port: number;

beforeEach(async () => {
  rig = await makeRig();
  // istiod also uses the two ports after its own.
  const [first = 0, , , free = 0] = await freePorts(4);
  discovery = first;
  port = free;
  istiod = makeIstiod(controlPlane ?? '', discovery);
});
afterEach(async () => {
  await rig.dispose();
  await istiod.dispose();
});

if (controlPlane === undefined) leftOut('the tests of what a real istiod is told', 'a program');

const admin = async (path: string) =>
  (await fetch(`http://127.0.0.1:${rig.ports.admin}/${path}`)).text();

describe.skipIf(controlPlane === undefined)('a real istiod', () => {
  it('goes by what PROXY_CONFIG says to it alone, and is not confused by what nobody knows', async () => {
    istiod.put('gateway', {
      apiVersion: 'networking.istio.io/v1',
      kind: 'Gateway',
      metadata: { name: 'gateway', namespace: 'ns' },
      spec: {
        selector: { app: 'gateway' },
        servers: [{ port: { number: port, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }],
      },
    });
    await istiod.start();
    const agent = rig.start(['--discoveryAddress', `127.0.0.1:${discovery}`], {
      generated: true,
      role: 'router',
      env: {
        POD_NAME: 'gateway',
        POD_NAMESPACE: 'ns',
        INSTANCE_IP: '127.0.0.1',
        ISTIO_METAJSON_LABELS: '{"app":"gateway"}',
        PROXY_CONFIG:
          'gateway_topology: {numTrustedProxies: 3, later: [1]}\nnobody: {knows: {what: this is}}\ninterceptionMode: NONE',
      },
    });
    await agent.said('epoch.live', 0);
    await expect.poll(() => admin('config_dump')).toContain('"xff_num_trusted_hops": 3');
    expect((await rig.ready()).status).toBe(200);
    expect(
      agent
        .log()
        .filter(({ event }) => event === 'config.warning')
        .map(({ warning }) => warning),
    ).toEqual([
      'PROXY_CONFIG.gatewayTopology.later is not known here: the control plane gets it as it is',
      'PROXY_CONFIG.nobody is not known here: the control plane gets it as it is',
    ]);
  });

  it('gives the same to an agent with a version of Istio and to one without', async () => {
    istiod.serve('one.test', port, 1);
    istiod.put('rule', {
      apiVersion: 'networking.istio.io/v1',
      kind: 'DestinationRule',
      metadata: { name: 'one', namespace: 'ns' },
      spec: {
        host: 'one.test',
        trafficPolicy: {
          outlierDetection: { consecutive5xxErrors: 1 },
          tls: { mode: 'ISTIO_MUTUAL' },
        },
      },
    });
    await istiod.start();
    const given = async (env: NodeJS.ProcessEnv) => {
      const agent = rig.start(
        ['--discoveryAddress', `127.0.0.1:${discovery}`, '--xdsProxy=false'],
        {
          generated: true,
          env: { ISTIO_META_INTERCEPTION_MODE: 'NONE', MINIMUM_DRAIN_DURATION: '0s', ...env },
        },
      );
      await agent.said('epoch.live', 0);
      await expect.poll(async () => (await rig.ready()).status).toBe(200);
      const bootstrap = await admin('config_dump?mask=bootstrap');
      const all = ['dynamic_active_clusters', 'dynamic_listeners', 'dynamic_route_configs'];
      const dumps = await Promise.all(
        all.map((resource) => admin(`config_dump?resource=${resource}`)),
      );
      agent.kill('SIGTERM');
      await agent.exit;
      const timeless = (name: string, value: unknown) =>
        ['version_info', 'last_updated'].includes(name) ? undefined : value;
      return { bootstrap, resources: dumps.map((dump) => JSON.parse(dump, timeless) as unknown) };
    };
    const absent = await given({ ISTIO_METAJSON_X: '{"ISTIO_VERSION":null}' });
    const constant = await given({});
    expect(absent.bootstrap).toContain('"ISTIO_VERSION": null');
    expect(constant.bootstrap).toContain('"ISTIO_VERSION": "1.26.0"');
    expect(JSON.stringify(constant.resources)).toContain(`outbound|${port}||one.test`);
    expect(constant.resources).toEqual(absent.resources);
  });

  it('finds an Envoy that has as many workers as the limit of the CPU, and that misses no limit of connections', async () => {
    await istiod.start();
    const agent = rig.start(['--discoveryAddress', `127.0.0.1:${discovery}`], {
      generated: true,
      env: { ISTIO_CPU_LIMIT: '3' },
    });
    await agent.said('epoch.live', 0);
    await expect.poll(async () => (await rig.ready()).status).toBe(200);
    expect(await admin('stats?filter=^server.concurrency$')).toBe('server.concurrency: 3\n');
    expect(agent.log().filter(({ msg }) => msg.includes('configured limit'))).toEqual([]);
  });
});
