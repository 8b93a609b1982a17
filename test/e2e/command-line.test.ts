import { afterEach, beforeEach, expect, it } from 'vitest';
import { ask } from '../support/ask.ts';
import { withoutDrain } from '../support/e2e/bad-input-program.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

let rig: Rig;
beforeEach(async () => {
  rig = await makeRig();
});
afterEach(() => rig.dispose());

const admin = async (path: string) =>
  JSON.parse((await ask(rig.ports.admin, path)).body) as Readonly<Record<string, unknown>>;

it('Envoy says of itself what the flags have said of it; of a flag that is given twice the last one counts', async () => {
  const agent = rig.start(
    [
      ...[
        '--proxyLogLevel',
        'debug',
        '--proxyComponentLogLevel',
        'upstream:warning',
        '--concurrency',
        '3',
        '--concurrency',
        '2',
      ],
      ...[
        '--serviceCluster',
        'mycluster',
        '--id',
        'mynode',
        '--drainDuration',
        '30s',
        '--parentShutdownDuration',
        '60s',
      ],
    ],
    { env: withoutDrain },
  );
  await agent.said('epoch.live', 0);
  expect(await admin('/server_info')).toMatchObject({
    command_line_options: {
      config_path: rig.config,
      log_level: 'debug',
      component_log_level: 'upstream:warning',
      local_address_ip_version: 'v4',
      concurrency: 2,
      disable_hot_restart: false,
      restart_epoch: 0,
      service_cluster: 'mycluster',
      service_node: expect.stringMatching(/^sidecar~10\.1\.2\.3~mynode~/) as string,
      drain_time: '30s',
      parent_shutdown_time: '60s',
    },
  });
});

it('Envoy has the admin endpoint of its configuration', async () => {
  await rig.start([], { env: withoutDrain }).said('epoch.live', 0);
  const { configs } = await admin('/config_dump');
  expect(configs).toContainEqual(
    expect.objectContaining({
      bootstrap: expect.objectContaining({
        admin: expect.objectContaining({
          address: { socket_address: { address: '127.0.0.1', port_value: rig.ports.admin } },
        }) as object,
      }) as object,
    }),
  );
});
