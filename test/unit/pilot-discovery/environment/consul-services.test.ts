import { describe, expect, it } from 'vitest';
import { buildEnvironment } from '../../../../src/pilot-discovery/environment/build-environment.ts';
import type { Environment } from '../../../../src/pilot-discovery/environment/environment.ts';
import { emptyStore, reduceStore } from '../../../../src/pilot-discovery/environment/store.ts';
import type { AnyResource } from '../../../../src/pilot-discovery/istio/documents/model.ts';
import { readResources } from '../../../../src/pilot-discovery/istio/documents/read-resources.ts';
import { consulResources } from '../../../../src/pilot-discovery/registry/consul/consul-resources.ts';
import { readInstances } from '../../../../src/pilot-discovery/registry/consul/read-instances.ts';
import { registryConflicts } from '../../../../src/pilot-discovery/state/registry-conflicts.ts';

/** Returns the service `web` in a datacenter, with instances at these addresses. */
function consul(
  addresses: readonly string[],
  { datacenter = '', protocol = 'http', port = 80 } = {},
): readonly AnyResource[] {
  const rows = addresses.map((address) => ({
    Node: { Node: address, Address: address, Datacenter: datacenter },
    Service: { ID: 'web', Port: port, Meta: { protocol } },
    Checks: [],
  }));
  const place = { source: 'Consul', namespace: 'default', datacenter, urlOf: () => 'url' };
  return [...consulResources(place, 'web', readInstances(rows)).resources.values()];
}

function entry(spec: string, namespace = 'default'): readonly AnyResource[] {
  const text = `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: web, namespace: ${namespace} }
spec: { hosts: [web.service.consul], ${spec} }`;
  return readResources(text, { source: 'files', path: 'a.yaml', defaultNamespace: 'default' })
    .resources;
}
const http = 'ports: [{ number: 80, name: http, protocol: HTTP }]';
const served = `resolution: STATIC, ${http}, endpoints: [{ address: 10.0.0.9 }]`;

/** Returns the environment of resources after these changes, one after the other. */
function environmentAfter(...changes: readonly (readonly AnyResource[])[]): Environment {
  let store = emptyStore(['test']);
  let environment: Environment | undefined;
  for (const upserts of changes) {
    const [after, what] = reduceStore(store, {
      type: 'changed',
      source: 'test',
      upserts,
      removes: [],
    });
    [store, environment] = [
      after,
      buildEnvironment(environment, after, what, 'cluster.local', 'reached'),
    ];
  }
  if (environment === undefined) throw new Error('there is no change');
  return environment;
}
const addressesOf = ({ endpoints }: Environment, service = 'default/web.service.consul') =>
  [...(endpoints.get(service) ?? [])].map(
    ([port, list]) => `${port}: ${list.map(({ address }) => address).join(' ')}`,
  );

describe('services of Consul', () => {
  it('have the endpoints of their instances, and of all datacenters', () => {
    const east = consul(['10.0.0.1', '10.0.0.2'], { datacenter: 'east' });
    const west = consul(['10.1.0.1'], { datacenter: 'west' });
    const environment = environmentAfter(east, west);
    expect(addressesOf(environment)).toEqual(['80: 10.0.0.1 10.0.0.2 10.1.0.1']);
    expect(environment.services.get('web.service.consul')).toHaveLength(2);
    const [first] = environment.endpoints.get('default/web.service.consul')?.get(80) ?? [];
    expect(first).toMatchObject({
      locality: 'east',
      labels: { protocol: 'http', 'topology.kubernetes.io/region': 'east' },
      tlsMode: 'disabled',
      identity: '',
    });
    expect(registryConflicts(environment)).toEqual([]);
  });

  it('are one with a ServiceEntry of the same host, with the endpoints of both', () => {
    const environment = environmentAfter(entry(served), consul(['10.0.0.1']));
    expect(addressesOf(environment)).toEqual(['80: 10.0.0.1 10.0.0.9']);
    expect(registryConflicts(environment)).toEqual([]);
    expect(environment.services.get('web.service.consul')?.[0]?.registry).toBe('ConsulService');
  });

  it('have the ports of both, if these are different', () => {
    const environment = environmentAfter(entry(served), consul(['10.0.0.1'], { port: 81 }));
    expect(addressesOf(environment)).toEqual(['81: 10.0.0.1', '80: 10.0.0.9']);
    expect(registryConflicts(environment)).toEqual([]);
  });

  it.each([
    [
      'namespace',
      entry(served, 'shop'),
      'it is not joined with ConsulService/default/web, which has the host web.service.consul in another namespace: proxies of shop call this one, all others call that one',
    ],
    [
      'resolution',
      entry(`resolution: DNS, ${http}`),
      'it is not used: ConsulService/default/web has the host web.service.consul with resolution static, and this one with dns',
    ],
    [
      'protocol',
      entry(served.replace('protocol: HTTP', 'protocol: TCP')),
      'its protocol tcp of port 80 is not used: ConsulService/default/web has the same host and port with http',
    ],
  ])('are in conflict with a ServiceEntry of another %s', (_, resources, reason) => {
    const environment = environmentAfter(consul(['10.0.0.1']), resources);
    expect(registryConflicts(environment)).toEqual([
      {
        host: 'web.service.consul',
        used: 'ConsulService/default/web',
        key: `ServiceEntry/${resources[0]?.namespace ?? ''}/web`,
        reason,
      },
    ]);
  });
});
