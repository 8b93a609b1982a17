import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addresses } from '../../demo/two-sidecars.ts';
import { ask } from '../support/ask.ts';
import { type TwoSidecarsRig, twoSidecarsRig } from '../support/e2e/two-sidecars-rig.ts';
import { eventually } from '../support/eventually.ts';

describe('zoneAwareLbSetting', () => {
  const servers = ['near', 'far'].map((body) => createServer((_, response) => response.end(body)));
  let rig: TwoSidecarsRig;

  const rule = (enabled: 'true' | 'false') =>
    rig.write(
      '60-zones.yaml',
      `
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: back, namespace: default }
spec:
  host: back.mesh
  trafficPolicy:
    loadBalancer: { simple: ROUND_ROBIN, zoneAwareLbSetting: { enabled: ${enabled}, minClusterSize: 1 } }
`,
    );

  /** Sends 40 requests at once. Resolves to the names of the servers that answer. */
  async function answering(): Promise<ReadonlySet<string>> {
    const answers = Array.from({ length: 40 }, () =>
      ask(rig.ports.service, '/', { host: 'back.mesh' }),
    );
    return new Set((await Promise.all(answers)).map(({ body }) => body));
  }

  beforeAll(async () => {
    await Promise.all(servers.map((server) => once(server.listen(0, '127.0.0.1'), 'listening')));
    const [near = 0, far = 0] = servers.map((server) => (server.address() as AddressInfo).port);
    rig = await twoSidecarsRig();
    // The other workload of the client's service is in the other zone, so half of the callers are
    // there.
    rig.write(
      '50-zones.yaml',
      `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: client, namespace: shop }
spec:
  hosts: [client.mesh]
  resolution: STATIC
  ports: [{ number: 7000, name: http, protocol: HTTP }]
  endpoints:
    - { address: ${addresses.client}, locality: r/near/a }
    - { address: 127.0.0.99, locality: r/far/a }
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: back, namespace: default }
spec:
  hosts: [back.mesh]
  location: MESH_EXTERNAL
  resolution: STATIC
  exportTo: [shop]
  ports: [{ number: ${rig.ports.service}, name: http, protocol: HTTP }]
  endpoints:
    - { address: 127.0.0.1, ports: { http: ${near} }, locality: r/near/a }
    - { address: 127.0.0.1, ports: { http: ${far} }, locality: r/far/a }
`,
    );
    rule('true');
    rig.startDiscovery();
    rig.startAgents('delta', {
      ISTIO_META_ENABLE_SELF_DISCOVERY: 'true',
      ISTIO_METAJSON_LABELS: '{"LABELS":{"app":"client","istio-locality":"r.near.a"}}',
    });
    await eventually(async () => (await rig.ask()).status === 200);
  });
  afterAll(async () => {
    await rig.dispose();
    for (const server of servers) server.close().closeAllConnections();
  });

  it('keeps calls in the zone of the caller, if as many callers as endpoints are there', async () => {
    await expect.poll(answering).toEqual(new Set(['near']));
  });

  it('sends calls to all zones if it is off', async () => {
    rule('false');
    await expect.poll(answering).toEqual(new Set(['near', 'far']));
  });
});
