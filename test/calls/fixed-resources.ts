import { join } from 'node:path';
import { addresses } from '../../demo/two-sidecars.ts';
import { resource } from './rules.ts';

export interface StagePorts {
  /** Of each service with HTTP, at the sidecar of the client. */
  readonly service: number;
  /** Of the service with TLS, at the sidecar of the client. */
  readonly secure: number;
  readonly proxy: number;
  /** Of the gateway: HTTP, HTTPS, and TLS that it passes on. */
  readonly gateway: number;
  readonly https: number;
  readonly passing: number;
  /** Of the sidecar of `echo.mesh`, for each version. */
  readonly inbound: readonly number[];
  /** Of the applications with HTTP, by name. */
  readonly applications: ReadonlyMap<string, number>;
  /** Of the two applications with TLS. */
  readonly secured: readonly number[];
  readonly socket: string;
  /** The folder with a certificate for each server of the gateway. */
  readonly certificates: string;
}

const versions = ['v1', 'v2'] as const;

const entry = (name: string, spec: Readonly<Record<string, unknown>>) =>
  resource('ServiceEntry', 'default', name, {
    hosts: [`${name}.mesh`],
    location: 'MESH_EXTERNAL',
    resolution: 'STATIC',
    exportTo: ['shop'],
    ...spec,
  });

/** The services, and the listeners of the proxies. Rules are drawn beside them. */
export function fixedResources(ports: StagePorts): readonly string[] {
  const { service, secure } = ports;
  const http = [{ number: service, name: 'http', protocol: 'HTTP' }];
  const at = (application: string, version: string) => ({
    address: '127.0.0.1',
    ports: { http: ports.applications.get(application) ?? 0 },
    labels: { version },
  });
  return [
    ...['a', 'b'].map((name) =>
      entry(name, {
        ports: http,
        endpoints: versions.map((version) => at(`${name} ${version}`, version)),
      }),
    ),
    entry('c', { ports: http, endpoints: [at('c', 'v1')] }),
    entry('ready', { ports: http, endpoints: [at('c', 'v1')] }),
    ...['echo', 'ready-echo'].map((name) =>
      entry(name, {
        location: 'MESH_INTERNAL',
        ports: http,
        endpoints: versions.map((version, index) => ({
          address: addresses.echo,
          ports: { http: ports.inbound[index] },
          labels: { app: 'echo', version, 'security.istio.io/tlsMode': 'istio' },
          serviceAccount: 'echo',
        })),
      }),
    ),
    entry('tls', {
      hosts: ['tls.mesh', 'one.tls.mesh', 'two.tls.mesh', '*.any.mesh'],
      ports: [{ number: secure, name: 'tls', protocol: 'TLS' }],
      endpoints: ports.secured.map((port, index) => ({
        address: '127.0.0.1',
        ports: { tls: port },
        labels: { version: versions[index] },
      })),
    }),
    ...ofProxies(ports),
    ...ofConnections(ports),
    ...readiness(),
  ];
}

/** The listeners of the sidecars, and the servers of the gateway. */
function ofProxies({ inbound, applications, ...ports }: StagePorts): readonly string[] {
  const server = (number: number, name: string, protocol: string, hosts: readonly string[]) => ({
    port: { number, name, protocol },
    bind: '127.0.0.1',
    hosts,
  });
  const withTls = (name: string) => ({
    mode: 'SIMPLE',
    serverCertificate: join(ports.certificates, name, 'chain.pem'),
    privateKey: join(ports.certificates, name, 'key.pem'),
  });
  return [
    resource('Sidecar', 'default', 'echo', {
      workloadSelector: { labels: { app: 'echo' } },
      ingress: versions.map((version, index) => ({
        port: { number: inbound[index], name: `http-${version}`, protocol: 'HTTP' },
        bind: addresses.echo,
        captureMode: 'NONE',
        defaultEndpoint: `127.0.0.1:${applications.get(`echo ${version}`) ?? 0}`,
      })),
    }),
    resource('Sidecar', 'shop', 'client', {
      workloadSelector: { labels: { app: 'client' } },
      outboundTrafficPolicy: { mode: 'REGISTRY_ONLY' },
      egress: [
        {
          port: { number: ports.proxy, name: 'proxy', protocol: 'HTTP_PROXY' },
          bind: '127.0.0.1',
          captureMode: 'NONE',
          hosts: ['default/*'],
        },
        {
          port: { number: 0, name: 'socket', protocol: 'HTTP' },
          bind: `unix://${ports.socket}`,
          hosts: ['default/*'],
        },
        { hosts: ['default/*'] },
      ],
    }),
    resource('Gateway', 'shop', 'front', {
      selector: { istio: 'ingressgateway' },
      servers: [
        server(ports.gateway, 'http', 'HTTP', ['*.example.com', '*.mesh']),
        {
          ...server(ports.https, 'https-a', 'HTTPS', ['a.example.com', '*.wild.example.com']),
          tls: withTls('a'),
        },
        {
          ...server(ports.https, 'https-b', 'HTTPS', ['b.example.com', '*.mesh']),
          tls: withTls('b'),
        },
        {
          ...server(ports.passing, 'tls', 'TLS', ['tls.mesh', '*.tls.mesh', '*.any.mesh']),
          tls: { mode: 'PASSTHROUGH' },
        },
      ],
    }),
  ];
}

/** Connections of TLS go by the name that they ask for. */
function ofConnections({ secure, passing }: StagePorts): readonly string[] {
  const to = (subset: string) => [
    { destination: { host: 'tls.mesh', subset, port: { number: secure } } },
  ];
  const match = (sniHosts: readonly string[]) => [
    { sniHosts, port: secure, gateways: ['mesh'] },
    { sniHosts, port: passing, gateways: ['shop/front'] },
  ];
  return [
    resource('DestinationRule', 'default', 'tls', {
      host: 'tls.mesh',
      subsets: versions.map((version) => ({ name: version, labels: { version } })),
    }),
    resource('VirtualService', 'default', 'tls', {
      hosts: ['tls.mesh', 'one.tls.mesh', 'two.tls.mesh', '*.any.mesh'],
      gateways: ['mesh', 'shop/front'],
      tls: [
        { match: match(['tls.mesh', 'one.tls.mesh']), route: to('v1') },
        { match: match(['two.tls.mesh', '*.any.mesh']), route: to('v2') },
      ],
    }),
  ];
}

/** Answers that show that a proxy has all of the folder. */
const readiness = (): readonly string[] => [
  resource('VirtualService', 'default', 'ready', {
    hosts: ['ready.mesh'],
    http: [{ directResponse: { status: 299 } }],
  }),
  resource('VirtualService', 'default', 'ready-gateway', {
    hosts: ['ready.example.com'],
    gateways: ['shop/front'],
    http: [{ directResponse: { status: 299 } }],
  }),
  resource(
    'AuthorizationPolicy',
    'default',
    'never',
    {
      selector: { matchLabels: { app: 'echo' } },
      action: 'DENY',
      rules: [{ to: [{ operation: { paths: ['/never'] } }] }],
    },
    'security',
  ),
];
