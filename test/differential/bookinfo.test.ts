import { renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../support/ask.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { backend, withEnvoy, withPilotDiscovery } from './one-envoy.ts';

/**
 * Returns the Service, the account and the Deployment that users have for an application of
 * bookinfo.
 */
const application = (name: string, port: number) => `apiVersion: v1
kind: Service
metadata: { name: ${name}, labels: { app: ${name}, service: ${name} } }
spec: { ports: [{ name: http, port: ${port} }], selector: { app: ${name} } }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: bookinfo-${name}, labels: { account: ${name} } }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: ${name}-v1, labels: { app: ${name}, version: v1 } }
spec: { replicas: 1, selector: { matchLabels: { app: ${name}, version: v1 } } }
`;

/** Returns a Pod of an application on this machine, and its EndpointSlice. */
const instance = (name: string, version: string, port: number) => `apiVersion: v1
kind: Pod
metadata: { name: ${name}-${version}, labels: { app: ${name}, version: ${version} } }
spec: { serviceAccountName: bookinfo-${name} }
status: { podIP: 127.0.0.1, phase: Running }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: ${name}-${version}, labels: { kubernetes.io/service-name: ${name} } }
addressType: IPv4
ports: [{ name: http, port: ${port} }]
endpoints: [{ addresses: [127.0.0.1], targetRef: { kind: Pod, name: ${name}-${version} } }]
`;

const machine = (name: string, port: number) => `apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: { name: ${name}-machine }
spec: { address: 127.0.0.1, ports: { http: ${port} }, labels: { app: ${name}, version: v1 } }
`;

const alias = `apiVersion: v1
kind: Service
metadata: { name: shop, namespace: other }
spec: { type: ExternalName, externalName: productpage.default.svc.cluster.local }
`;

const rules = `apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: reviews }
spec:
  host: reviews
  subsets:
    - { name: v1, labels: { version: v1 } }
    - { name: v2, labels: { version: v2 } }
    - { name: v3, labels: { version: v3 } }
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: reviews }
spec:
  hosts: [reviews]
  http:
    - match: [{ headers: { end-user: { exact: jason } } }]
      route: [{ destination: { host: reviews, subset: v2 } }]
    - route:
        - { destination: { host: reviews, subset: v1 }, weight: 50 }
        - { destination: { host: reviews, subset: v3 }, weight: 50 }
`;

/** A policy that disables mutual TLS, because a bare Envoy gets no certificate. */
const plain = `apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: default }
spec: { mtls: { mode: DISABLE } }
`;

const names = [
  'productpage v1',
  'details v1',
  'ratings v1',
  'ratings v2',
  'reviews v1',
  'reviews v2',
  'reviews v3',
] as const;

describe('bookinfo in a folder, as people have it', () => {
  const servers: Server[] = [];
  const answers: Record<string, readonly string[]> = {};
  let flaws = '';

  beforeAll(async () => {
    const ports = new Map<string, number>();
    for (const name of names) {
      const server = await backend(name);
      servers.push(server);
      ports.set(name, (server.address() as AddressInfo).port);
    }
    const portOf = (name: (typeof names)[number]) => ports.get(name) ?? 0;
    const [port = 0, admin = 0, xds = 0, debug = 0, monitoring = 0] = await freePorts(5);
    const who = async (host: string, headers: Readonly<Record<string, string>> = {}) => {
      const { status, body } = await ask(port, '/', { host, headers });
      return status === 200 ? (JSON.parse(body) as { readonly name: string }).name : String(status);
    };
    const yaml = [
      ...['productpage', 'details', 'ratings', 'reviews'].map((name) => application(name, port)),
      instance('productpage', 'v1', portOf('productpage v1')),
      machine('details', portOf('details v1')),
      ...(['v1', 'v2', 'v3'] as const).map((version) =>
        instance('reviews', version, portOf(`reviews ${version}`)),
      ),
      alias,
      rules,
      plain,
    ].join('---\n');

    await withPilotDiscovery(yaml, [xds, debug, monitoring], async (folder) => {
      const put = (name: string, text: string) => {
        writeFileSync(join(folder, `${name}.new`), text);
        renameSync(join(folder, `${name}.new`), join(folder, `${name}.yaml`));
      };
      put('ratings', instance('ratings', 'v1', portOf('ratings v1')));
      await withEnvoy(xds, admin, async () => {
        const host = 'productpage.default.svc.cluster.local';
        await eventually(async () => (await who(host)) === 'productpage v1');
        answers['by its names'] = await Promise.all(
          ['productpage', 'productpage.default', 'productpage.default.svc', host].map((name) =>
            who(name),
          ),
        );
        answers['by its other name'] = [await who('shop.other')];
        answers['at a machine'] = [await who('details')];
        answers['by a header'] = await Promise.all(
          Array.from({ length: 10 }, () => who('reviews', { 'end-user': 'jason' })),
        );
        answers['by weights'] = await Promise.all(Array.from({ length: 40 }, () => who('reviews')));
        answers['before the move'] = [await who('ratings')];
        put(
          'mistake',
          'apiVersion: v1\nkind: Service\nmetadata: { name: bad }\nspec: { ports: [{ port: 0 }] }\n',
        );
        put('ratings', instance('ratings', 'v1', portOf('ratings v2')));
        await eventually(async () => (await who('ratings')) === 'ratings v2');
        answers['after the move'] = [await who('ratings'), await who('details')];
        flaws = (await ask(debug, '/debug/flawz')).body;
        rmSync(join(folder, 'ratings.yaml'));
        await eventually(async () => (await who('ratings')) === '503');
        answers['without an endpoint'] = [await who('ratings'), await who('details')];
      });
    });
  });
  afterAll(() => {
    for (const server of servers) server.close();
  });

  it.each<[what: string, right: readonly string[]]>([
    ['by its names', Array.from({ length: 4 }, () => 'productpage v1')],
    ['by its other name', ['productpage v1']],
    ['at a machine', ['details v1']],
    ['by a header', Array.from({ length: 10 }, () => 'reviews v2')],
    ['before the move', ['ratings v1']],
    ['after the move', ['ratings v2', 'details v1']],
    ['without an endpoint', ['503', 'details v1']],
  ])('answers %s', (what, right) => {
    expect(answers[what]).toEqual(right);
  });

  it('answers by two versions, as the weights say', () => {
    expect(new Set(answers['by weights'])).toEqual(new Set(['reviews v1', 'reviews v3']));
  });

  it('names a mistake in a Service', () => {
    expect(flaws).toContain('spec.ports[0].port');
    expect(flaws).toContain('mistake.yaml');
  });
});
