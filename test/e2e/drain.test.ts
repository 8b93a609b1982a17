import { readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { freePorts } from '../support/free-ports.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

let rig: Rig;
afterEach(() => rig.dispose());

const env = { MINIMUM_DRAIN_DURATION: '3s', TERMINATION_DRAIN_DURATION_SECONDS: '3' };

/**
 * Resolves to the `connection` header of an answer, which is `close` if the server drains; `kept`
 * if there is no header, or the error.
 */
function connectionHeader(port: number): Promise<string> {
  return new Promise((done) => {
    get(
      { host: '127.0.0.1', port, headers: { connection: 'keep-alive' }, agent: false },
      (response) => {
        response.resume();
        done(response.headers.connection ?? 'kept');
      },
    ).on('error', (error) => done(error.message));
  });
}

/** Adds an outbound listener beside the inbound one, as in a sidecar. Resolves to its port. */
async function withOutbound(where: 'static' | 'dynamic'): Promise<number> {
  const [port = 0] = await freePorts(1);
  const config = JSON.parse(readFileSync(rig.config, 'utf8')) as {
    dynamic_resources?: unknown;
    node?: unknown;
    static_resources: {
      listeners: {
        name: string;
        traffic_direction?: string;
        address: { socket_address: { port_value: number } };
      }[];
    };
  };
  const { listeners } = config.static_resources;
  for (const listener of [...listeners]) {
    const outbound = structuredClone(listener);
    listeners.push({ ...outbound, name: 'egress', traffic_direction: 'OUTBOUND' });
    outbound.address.socket_address.port_value = port;
  }
  if (where === 'dynamic') {
    const path = join(rig.folder, 'lds.json');
    const type = 'type.googleapis.com/envoy.config.listener.v3.Listener';
    writeFileSync(
      path,
      JSON.stringify({
        resources: listeners.splice(0).map((listener) => ({ '@type': type, ...listener })),
      }),
    );
    config.dynamic_resources = {
      lds_config: { path_config_source: { path }, resource_api_version: 'V3' },
    };
    config.node = { id: 'a', cluster: 'b' };
  }
  writeFileSync(rig.config, JSON.stringify(config));
  return port;
}

it.each(['static', 'dynamic'] as const)(
  'a sidecar drains its inbound listeners, and leaves the outbound ones alone (%s)',
  async (where) => {
    rig = await makeRig({ plain: true, trafficDirection: 'INBOUND' });
    const outbound = await withOutbound(where);
    const agent = rig.start([], { env });
    await agent.said('epoch.live', 0);
    expect((await rig.ready()).status).toBe(200);
    expect([await connectionHeader(rig.ports.listen), await connectionHeader(outbound)]).toEqual([
      'kept',
      'kept',
    ]);
    agent.kill('SIGTERM');
    await expect.poll(() => connectionHeader(rig.ports.listen)).toBe('close');
    expect(await connectionHeader(outbound)).toBe('kept');
    expect((await agent.exit).code).toBe(0);
  },
);

it('if nothing is marked, all is drained', async () => {
  rig = await makeRig({ plain: true });
  const agent = rig.start([], { env });
  await agent.said('epoch.live', 0);
  agent.kill('SIGTERM');
  await expect.poll(() => connectionHeader(rig.ports.listen)).toBe('close');
  expect((await agent.exit).code).toBe(0);
});
