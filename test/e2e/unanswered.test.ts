import { readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { describe, it, type TestContext } from 'vitest';
import { type Discovery, startDiscovery } from '../support/discovery.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

interface Stage {
  readonly rig: Rig;
  readonly control: Discovery;
}

/** Creates an agent's folder, and the control plane of its Envoy. */
async function setStage({ onTestFinished }: TestContext): Promise<Stage> {
  const rig = await makeRig({ plain: true });
  onTestFinished(() => rig.dispose());
  const control = await startDiscovery();
  onTestFinished(() => control.close());
  return { rig, control };
}

/**
 * Configures Envoy to get clusters and listeners from the control plane too. `patience` is how long
 * Envoy waits for them.
 */
function subscribe({ rig, control }: Stage, patience: string, mark = ''): void {
  const config = JSON.parse(readFileSync(rig.config, 'utf8')) as Config;
  const source = { ads: {}, resource_api_version: 'V3', initial_fetch_timeout: patience };
  const http2 = {
    '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
    explicit_http_config: { http2_protocol_options: {} },
  };
  const endpoint = {
    address: { socket_address: { address: '127.0.0.1', port_value: control.port } },
  };
  const xds = {
    name: 'xds',
    type: 'STATIC',
    connect_timeout: '1s',
    typed_extension_protocol_options: {
      'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': http2,
    },
    load_assignment: { cluster_name: 'xds', endpoints: [{ lb_endpoints: [{ endpoint }] }] },
  };
  const clusters = (config.static_resources.clusters ?? []).filter(({ name }) => name !== 'xds');
  const grpc = [{ envoy_grpc: { cluster_name: 'xds' } }];
  const next = {
    ...config,
    node: { id: `node${mark}`, cluster: 'test' },
    dynamic_resources: {
      ads_config: { api_type: 'GRPC', transport_api_version: 'V3', grpc_services: grpc },
      cds_config: source,
      lds_config: source,
    },
    static_resources: { ...config.static_resources, clusters: [...clusters, xds] },
  };
  writeFileSync(rig.config, JSON.stringify(next));
}

interface Config {
  readonly static_resources: { readonly clusters?: readonly { readonly name: string }[] };
}

function answers(port: number): Promise<number> {
  return new Promise((done) => {
    get({ host: '127.0.0.1', port, agent: false, timeout: 2_000 }, (response) => {
      response.resume().on('end', () => done(response.statusCode ?? 0));
    }).on('error', () => done(0));
  });
}

/** Checks every 100 ms, until `stop`, whether clients are served and the agent is ready. */
function watch(rig: Rig) {
  const counts = { served: 0, refused: 0, ready: 0, unready: 0 };
  const timer = setInterval(() => {
    void answers(rig.ports.listen).then(
      (status) => (counts[status === 0 ? 'refused' : 'served'] += 1),
    );
    void rig.ready().then(({ status }) => (counts[status === 200 ? 'ready' : 'unready'] += 1));
  }, 100);
  return { counts, stop: () => clearInterval(timer) };
}

describe.concurrent('an Envoy that its control plane does not answer', () => {
  it('a child that the control plane does not answer is killed after 20 s: its parent serves and is ready all the time, and the next Envoy comes up side by side', async (context) => {
    const { expect } = context;
    const stage = await setStage(context);
    const { rig, control } = stage;
    subscribe(stage, '0s');
    const agent = rig.start(['--minDelay', '0s', '--log_output_level', 'default:debug']);
    await agent.said('epoch.live', 0);
    await expect.poll(async () => (await rig.ready()).status).toBe(200);
    const watched = watch(rig);
    control.hush();
    subscribe(stage, '0s', '2');
    await agent.said('epoch.started', 1);
    const begun = Date.now();
    await expect.poll(() => agent.log().some(({ event }) => event === 'epoch.late')).toBe(true);
    expect(Date.now() - begun).toBeGreaterThan(18_000);
    expect(await agent.said('epoch.ended', 1)).toMatchObject({ signal: 'SIGKILL' });
    // This is longer than the time after which a silent Envoy is unresponsive.
    await new Promise((resolve) => setTimeout(resolve, 8_000));
    watched.stop();
    expect(watched.counts).toMatchObject({ refused: 0, unready: 0 });
    expect(watched.counts.served).toBeGreaterThan(200);
    control.answer();
    await rig.post(rig.ports.status, '/restart');
    await agent.said('epoch.live', 2);
    // Its process leaves /proc before its sockets close: clients reach them until then.
    expect(await agent.said('epoch.ended', 0)).toMatchObject({ signal: 'SIGKILL' });
    expect(rig.envoys()).toHaveLength(1);
    expect(await answers(rig.ports.listen)).toBe(200);
    expect(
      agent
        .log()
        .filter(({ event }) =>
          ['epoch.unresponsive', 'epoch.hung', 'restart.scheduled'].includes(event),
        ),
    ).toEqual([]);
  });

  it('a termination kills a child that waits, and drains its parent, which serves until it is told to end', async (context) => {
    const { expect } = context;
    const stage = await setStage(context);
    const { rig, control } = stage;
    subscribe(stage, '0s');
    const agent = rig.start(['--minDelay', '0s', '--log_output_level', 'default:debug']);
    await agent.said('epoch.live', 0);
    control.hush();
    subscribe(stage, '0s', '2');
    await agent.said('epoch.started', 1);
    await expect.poll(async () => (await answers(rig.ports.admin)) !== 0).toBe(true);
    // The child has closed the admin endpoint of its parent by then.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const begun = Date.now();
    agent.kill('SIGTERM');
    expect(await agent.said('epoch.ended', 1)).toMatchObject({ signal: 'SIGKILL' });
    expect(await answers(rig.ports.listen)).toBe(200);
    expect(await agent.said('epoch.ended', 0)).not.toHaveProperty('signal');
    expect(Date.now() - begun).toBeGreaterThan(4_000);
    expect(await agent.exit).toMatchObject({ code: 0 });
  });

  it('an Envoy that waits alone is replaced by a change, and readiness tells what is waited for', async (context) => {
    const { expect } = context;
    const stage = await setStage(context);
    const { rig, control } = stage;
    control.hush();
    subscribe(stage, '0s');
    const agent = rig.start(['--minDelay', '0s', '--log_output_level', 'default:debug']);
    await agent.said('epoch.started', 0);
    await expect
      .poll(async () => (await rig.ready()).body)
      .toContain('config not received from Pilot');
    subscribe(stage, '0s', '2');
    await agent.said('epoch.started', 1);
    expect(rig.envoys()).toHaveLength(1);
    control.answer();
    await agent.said('epoch.live', 1);
    await expect.poll(async () => (await rig.ready()).status).toBe(200);
  });

  it('readiness is that of the child: what only its parent has received does not count', async (context) => {
    const { expect } = context;
    const stage = await setStage(context);
    const { rig, control } = stage;
    subscribe(stage, '0s');
    const agent = rig.start(['--minDelay', '0s', '--log_output_level', 'default:debug']);
    await agent.said('epoch.live', 0);
    control.hush();
    subscribe(stage, '1s'); // the child waits 1 s for its resources
    await agent.said('epoch.live', 1);
    await expect.poll(async () => (await rig.ready()).body).toContain('cds updates: 0 successful');
    // By then, the child has its parent's counters.
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    expect(await rig.ready()).toMatchObject({ status: 503 });
    control.answer();
    await expect.poll(async () => (await rig.ready()).status).toBe(200);
  });
});
