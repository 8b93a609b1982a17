import { describe, expect, it } from 'vitest';
import { defaultMeshConfig } from '../../../../src/pilot-discovery/istio/mesh/mesh-config.ts';
import type { AnyResource } from '../../../../src/pilot-discovery/istio/documents/model.ts';
import { buildEnvironment } from '../../../../src/pilot-discovery/environment/build-environment.ts';
import type {
  Endpoint,
  Environment,
} from '../../../../src/pilot-discovery/environment/environment.ts';
import { noChanges } from '../../../../src/pilot-discovery/environment/changes.ts';
import {
  emptyStore,
  reduceStore,
  type Store,
} from '../../../../src/pilot-discovery/environment/store.ts';
import {
  anyResource,
  route,
  serviceEntry,
  toHosts,
  virtualService,
  workload,
} from '../../../support/mesh-resources.ts';

const storeOf = (resources: readonly AnyResource[], mesh = defaultMeshConfig): Store =>
  reduceStore(
    { ...emptyStore(['files']), mesh },
    {
      type: 'changed',
      source: 'files',
      upserts: resources,
      removes: [],
    },
  )[0];
const environmentWith = (...resources: readonly AnyResource[]): Environment =>
  buildEnvironment(undefined, storeOf(resources), noChanges, 'cluster.local', 'reached');

/** Returns `ADDRESS:PORT` of each endpoint of a port, with the text that `more` adds. */
const served = (
  { endpoints }: Environment,
  service: string,
  port = 80,
  more: (endpoint: Endpoint) => string = () => '',
) =>
  endpoints
    .get(service)
    ?.get(port)
    ?.map((endpoint) => `${endpoint.address}:${endpoint.port}${more(endpoint)}`);

const http = { number: 80, name: 'http', protocol: 'http', targetPort: undefined } as const;

describe('buildEnvironment: endpoints', () => {
  it('has the port of the endpoint by its name, else the target port, else that of the service', () => {
    const ports = [http, { ...http, number: 81, name: 'more', targetPort: 9_000 }];
    const endpoints = [
      workload({ address: '10.0.0.1', ports: { http: 7 } }),
      workload({ address: 'unix:///run/s', ports: { http: 7 } }),
    ];
    const environment = environmentWith(
      anyResource('ServiceEntry/n/s', serviceEntry({ ports, endpoints })),
    );
    expect(served(environment, 'n/a.com')).toEqual(['10.0.0.1:7', '/run/s:0']);
    expect(served(environment, 'n/a.com', 81)).toEqual(['10.0.0.1:9000', '/run/s:0']);
  });

  it('has what else is said of an endpoint, and the identity of its account', () => {
    const locality = 'region/zone/sub';
    const endpoint = workload({
      locality,
      network: 'net',
      weight: 3,
      serviceAccount: 'sa',
      labels: { app: 'x' },
      ports: { http: 8080 },
    });
    const mesh = { ...defaultMeshConfig, trustDomain: 'td' };
    const store = storeOf(
      [anyResource('ServiceEntry/n/s', serviceEntry({ endpoints: [endpoint] }))],
      mesh,
    );
    expect(
      buildEnvironment(undefined, store, noChanges, 'cluster.local', 'reached')
        .endpoints.get('n/a.com')
        ?.get(80),
    ).toEqual([
      {
        address: '10.0.0.1',
        port: 8080,
        labels: {
          app: 'x',
          'topology.kubernetes.io/region': 'region',
          'topology.kubernetes.io/zone': 'zone',
          'topology.istio.io/subzone': 'sub',
          'topology.istio.io/network': 'net',
          'topology.istio.io/cluster': 'Kubernetes',
        },
        network: 'net',
        locality,
        weight: 3,
        identity: 'spiffe://td/ns/n/sa/sa',
        tlsMode: 'istio',
        namespace: '',
        workloadName: '',
        readiness: 'ready',
        key: 'ServiceEntry/n/s',
      },
    ]);
  });

  it.each([
    ['istio', workload({ labels: { 'security.istio.io/tlsMode': 'istio' } })],
    ['istio', workload({ serviceAccount: 'sa' })],
    [
      'disabled',
      workload({ labels: { 'security.istio.io/tlsMode': 'disabled' }, serviceAccount: 'sa' }),
    ],
    ['disabled', workload({})],
  ])('has the mode of TLS %s as the label says, else as there is an account', (mode, endpoint) => {
    const inline = anyResource('ServiceEntry/n/s', serviceEntry({ endpoints: [endpoint] }));
    const selecting = anyResource('ServiceEntry/m/s', serviceEntry({ workloadSelector: {} }));
    const environment = environmentWith(
      inline,
      selecting,
      anyResource('WorkloadEntry/m/w', endpoint),
    );
    for (const service of ['n/a.com', 'm/a.com'])
      expect(environment.endpoints.get(service)?.get(80)?.[0]?.tlsMode).toBe(mode);
  });

  it('has the WorkloadEntries of the namespace that a selector selects, oldest first', () => {
    const labels = { app: 'x', v: '1' };
    const environment = environmentWith(
      anyResource('ServiceEntry/n/s', serviceEntry({ workloadSelector: { app: 'x' } })),
      anyResource(
        'ServiceEntry/n/both',
        serviceEntry({ hosts: ['both.com'], workloadSelector: { app: 'x', v: '1' } }),
      ),
      anyResource('WorkloadEntry/n/b', workload({ address: '10.0.0.2', labels }), { createdMs: 1 }),
      anyResource('WorkloadEntry/n/a', workload({ address: '10.0.0.1', labels: { app: 'x' } }), {
        createdMs: 2,
      }),
      anyResource('WorkloadEntry/n/c', workload({ address: '10.0.0.3', labels: { app: 'y' } })),
      anyResource('WorkloadEntry/other/d', workload({ address: '10.0.0.4', labels })),
    );
    const name = ({ namespace, workloadName, key }: Endpoint) =>
      ` ${namespace} ${workloadName} ${key}`;
    expect(served(environment, 'n/a.com', 80, name)).toEqual([
      '10.0.0.2:80 n b WorkloadEntry/n/b',
      '10.0.0.1:80 n a WorkloadEntry/n/a',
    ]);
    expect(served(environment, 'n/both.com')).toEqual(['10.0.0.2:80']);
  });

  it('has the host itself for DNS without endpoints, and nothing if the client knows the address', () => {
    const ports = [{ ...http, targetPort: 8080 }];
    const environment = environmentWith(
      anyResource(
        'ServiceEntry/n/dns',
        serviceEntry({ hosts: ['a.com', 'b.com'], ports, resolution: 'dns' }),
      ),
      anyResource(
        'ServiceEntry/n/none',
        serviceEntry({ hosts: ['none.com'], resolution: 'none', endpoints: [workload({})] }),
      ),
      anyResource('ServiceEntry/n/static', serviceEntry({ hosts: ['static.com'] })),
      anyResource(
        'ServiceEntry/n/selects',
        serviceEntry({ hosts: ['selects.com'], resolution: 'dns', workloadSelector: { a: 'b' } }),
      ),
    );
    const hosts = ['a.com', 'b.com', 'none.com', 'static.com', 'selects.com'];
    expect(hosts.map((host) => served(environment, `n/${host}`))).toEqual([
      ['a.com:8080'],
      ['b.com:8080'],
      [],
      [],
      [],
    ]);
  });

  it('joins the endpoints of entries with the same host in a namespace, by number of the port', () => {
    const endpointsAt = (address: string) => ({ endpoints: [workload({ address })] });
    const environment = environmentWith(
      anyResource('ServiceEntry/n/b', serviceEntry({ ...endpointsAt('1') })),
      anyResource(
        'ServiceEntry/n/c',
        serviceEntry({ ...endpointsAt('2'), ports: [{ ...http, targetPort: 8080 }] }),
      ),
      anyResource(
        'ServiceEntry/n/d',
        serviceEntry({ ...endpointsAt('3'), ports: [{ ...http, name: 'web' }] }),
      ),
      anyResource(
        'ServiceEntry/n/e',
        serviceEntry({ ...endpointsAt('5'), ports: [{ ...http, number: 81 }] }),
      ),
      anyResource('ServiceEntry/m/s', serviceEntry({ ...endpointsAt('4') })),
    );
    expect(served(environment, 'n/a.com')).toEqual(['1:80', '2:8080', '3:80']);
    expect(served(environment, 'n/a.com', 81)).toEqual(['5:81']);
    expect(served(environment, 'm/a.com')).toEqual(['4:80']);
  });
});

describe('buildEnvironment: services and rules', () => {
  it('has the oldest of a host first, then by namespace and name', () => {
    const environment = environmentWith(
      anyResource('ServiceEntry/b/y', serviceEntry({ hosts: ['a.com', 'b.com'] }), {
        createdMs: 5,
      }),
      anyResource('ServiceEntry/b/x', serviceEntry({}), { createdMs: 5 }),
      anyResource('ServiceEntry/a/z', serviceEntry({}), { createdMs: 5 }),
      anyResource('ServiceEntry/c/old', serviceEntry({}), { createdMs: 1 }),
    );
    const keys = (host: string) =>
      environment.services.get(host)?.map(({ key }) => key.slice('ServiceEntry/'.length));
    expect(keys('a.com')).toEqual(['c/old', 'a/z', 'b/x', 'b/y']);
    expect(keys('b.com')).toEqual(['b/y']);
  });

  it('leaves a service alone of which nothing but the endpoints has changed', () => {
    const entry = (address: string) =>
      anyResource('ServiceEntry/n/s', serviceEntry({ endpoints: [workload({ address })] }));
    const other = anyResource('ServiceEntry/n/t', serviceEntry({ hosts: ['b.com'] }));
    const store = storeOf([entry('1'), other]);
    const before = buildEnvironment(undefined, store, noChanges, 'cluster.local', 'reached');
    const after = buildEnvironment(
      before,
      ...reduceStore(store, {
        type: 'changed',
        source: 'files',
        upserts: [entry('2')],
        removes: [],
      }),
      'cluster.local',
      'reached',
    );
    expect(after.services).toBe(before.services);
    expect(after.endpoints.get('n/b.com')).toBe(before.endpoints.get('n/b.com'));
    expect(served(after, 'n/a.com')).toEqual(['2:80']);
    expect(served(before, 'n/a.com')).toEqual(['1:80']);
  });

  it('is the same object if nothing has changed', () => {
    const store = storeOf([anyResource('ServiceEntry/n/s', serviceEntry({}))]);
    const before = buildEnvironment(undefined, store, noChanges, 'cluster.local', 'reached');
    expect(buildEnvironment(before, store, noChanges, 'cluster.local', 'reached')).toBe(before);
  });

  it('knows hosts and gateways of rules by their full names', () => {
    const rule = {
      trafficPolicy: undefined,
      subsets: [],
      exportTo: [],
      workloadSelector: undefined,
    };
    const http = [
      route({
        ...toHosts('reviews', 'a.com'),
        mirrors: [{ destination: { host: 'copy', subset: '', port: 0 }, percentage: 1 }],
      }),
    ];
    const gateways = ['mesh', 'gw', './own', 'other/gw', 'gw.third.svc.cluster.local'];
    const resources = [
      anyResource('DestinationRule/n/d', { ...rule, host: 'reviews' }),
      anyResource('DestinationRule/m/d', { ...rule, host: '*.com' }),
      anyResource(
        'VirtualService/n/v',
        virtualService({ hosts: ['reviews', '*', '*.com'], gateways, http }),
      ),
    ];
    const environment = buildEnvironment(
      undefined,
      storeOf(resources),
      noChanges,
      'my.domain',
      'reached',
    );
    const full = 'reviews.n.svc.my.domain';
    expect([...environment.destinationRules.keys()]).toEqual(['*.com', full]);
    expect(environment.destinationRules.get(full)?.[0]?.spec.host).toBe(full);
    const [{ spec } = { spec: undefined }] = environment.virtualServices;
    expect(spec?.hosts).toEqual([full, '*', '*.com']);
    expect(spec?.gateways).toEqual(['mesh', 'n/gw', 'n/own', 'other/gw', 'third/gw']);
    expect(spec?.http[0]?.route.map(({ destination }) => destination.host)).toEqual([
      full,
      'a.com',
    ]);
    expect(spec?.http[0]?.mirrors[0]?.destination.host).toBe('copy.n.svc.my.domain');
  });
});
