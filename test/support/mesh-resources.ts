import type {
  HttpMatch,
  HttpRoute,
  VirtualService,
} from '../../src/pilot-discovery/istio/traffic/virtual-service.ts';
import type {
  AnyResource,
  Kind,
  Resource,
  Specs,
} from '../../src/pilot-discovery/istio/documents/model.ts';
import type {
  ServiceEntry,
  Workload,
} from '../../src/pilot-discovery/istio/hosts/service-entry.ts';

/** Returns a resource; its key is `KIND/NAMESPACE/NAME`. */
export function resource<K extends Kind>(
  key: `${K}/${string}/${string}`,
  spec: Specs[K],
  rest: Partial<Pick<Resource, 'labels' | 'annotations' | 'createdMs' | 'origin'>> = {},
): Resource<K> {
  const [kind = '', namespace = '', name = ''] = key.split('/');
  const metadata = { labels: {}, annotations: {}, createdMs: 0, ...rest };
  return {
    kind: kind as K,
    namespace,
    name,
    origin: { source: 'files', path: `${name}.yaml`, line: 1 },
    ...metadata,
    spec,
  };
}

/** Returns a resource, with the type of a resource of any kind. */
export const anyResource = <K extends Kind>(...args: Parameters<typeof resource<K>>): AnyResource =>
  resource(...args) as AnyResource;

export function workload(fields: Partial<Workload>): Workload {
  return {
    address: '10.0.0.1',
    ports: {},
    labels: {},
    network: '',
    locality: '',
    weight: 0,
    serviceAccount: '',
    ...fields,
  };
}

/** Returns a ServiceEntry for HTTP on port 80 with static endpoints. */
export function serviceEntry(fields: Partial<ServiceEntry>): ServiceEntry {
  return {
    hosts: ['a.com'],
    addresses: [],
    ports: [{ number: 80, name: 'http', protocol: 'http', targetPort: undefined }],
    location: 'internal',
    resolution: 'static',
    endpoints: [],
    workloadSelector: undefined,
    subjectAltNames: [],
    exportTo: [],
    trafficDistribution: 'any',
    ...fields,
  };
}

const unchanged = { set: {}, add: {}, remove: [] };

export function route(fields: Partial<HttpRoute>): HttpRoute {
  return {
    name: '',
    match: [],
    route: [],
    redirect: undefined,
    directResponse: undefined,
    delegate: undefined,
    rewrite: undefined,
    timeoutMs: undefined,
    retries: undefined,
    fault: undefined,
    mirrors: [],
    corsPolicy: undefined,
    headers: { request: unchanged, response: unchanged },
    ...fields,
  };
}

export function routeMatch(fields: Partial<HttpMatch>): HttpMatch {
  return {
    name: '',
    uri: undefined,
    ignoreUriCase: false,
    scheme: undefined,
    method: undefined,
    authority: undefined,
    headers: {},
    withoutHeaders: {},
    queryParams: {},
    port: 0,
    sourceLabels: {},
    sourceNamespace: '',
    gateways: [],
    statPrefix: '',
    ...fields,
  };
}

/** Returns a route to these hosts, with equal weights. */
export function toHosts(...hosts: readonly string[]): Pick<HttpRoute, 'route'> {
  const headers = { request: unchanged, response: unchanged };
  return {
    route: hosts.map((host) => ({
      destination: { host, subset: '', port: 0 },
      weight: 1,
      headers,
    })),
  };
}

export function virtualService(fields: Partial<VirtualService>): VirtualService {
  return {
    hosts: ['a.com'],
    gateways: ['mesh'],
    http: [],
    tls: [],
    tcp: [],
    exportTo: [],
    ...fields,
  };
}
