import { addresses } from '../../demo/two-sidecars.ts';
import { resource } from './resource.ts';

export interface StagePorts {
  /** The port of each service with HTTP, at the sidecar of the client. */
  readonly service: number;
  /** The port of the service with TLS, at the sidecar of the client. */
  readonly secure: number;
  /** The second port of services that have one, at the sidecar of the client. */
  readonly other: number;
  readonly proxy: number;
  /** The ports of the gateway: HTTP, HTTPS, and TLS that it passes on. */
  readonly gateway: number;
  readonly https: number;
  readonly passing: number;
  /** The ports of the sidecar of `echo.mesh`, one for each version. */
  readonly inbound: readonly number[];
  /** The ports of the applications with HTTP, by name. */
  readonly applications: ReadonlyMap<string, number>;
  /** The ports of the two applications with TLS. */
  readonly secured: readonly number[];
  readonly socket: string;
  /** The folder with the certificates of the gateway, and with the root of its clients. */
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

/**
 * Returns the resources of each seed: the services behind a sidecar, and those that show that a
 * proxy is ready.
 */
export function fixedResources(ports: StagePorts): readonly string[] {
  const { service } = ports;
  const http = [{ number: service, name: 'http', protocol: 'HTTP' }];
  const endpoint = (application: string, version: string) => ({
    address: '127.0.0.1',
    ports: { http: ports.applications.get(application) ?? 0 },
    labels: { version },
  });
  return [
    entry('ready', { ports: http, endpoints: [endpoint('c', 'v1')] }),
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
    ...ofProxies(ports),
    ...readiness(),
  ];
}

/** Returns the listeners of the sidecars, and a server of the gateway that is always there. */
function ofProxies({ inbound, applications, ...ports }: StagePorts): readonly string[] {
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
    resource('Gateway', 'shop', 'ready', {
      selector: { istio: 'ingressgateway' },
      servers: [
        {
          port: { number: ports.gateway, name: 'http', protocol: 'HTTP' },
          bind: '127.0.0.1',
          hosts: ['ready.example.com'],
        },
      ],
    }),
  ];
}

/** Returns rules whose answers show that a proxy has the whole folder. */
const readiness = (): readonly string[] => [
  resource('VirtualService', 'default', 'ready', {
    hosts: ['ready.mesh'],
    http: [{ directResponse: { status: 299 } }],
  }),
  resource('VirtualService', 'default', 'ready-gateway', {
    hosts: ['ready.example.com'],
    gateways: ['shop/ready'],
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
