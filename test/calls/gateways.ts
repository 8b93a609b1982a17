import { join } from 'node:path';
import type { Draw } from './draw.ts';
import type { StagePorts } from './fixed-resources.ts';
import { type Json, resource } from './resource.ts';

/** The Gateways of a seed. */
export interface Gateways {
  /** `namespace/name` */
  readonly names: readonly [string, ...string[]];
  readonly resources: readonly string[];
}

const webHosts = [
  ...['a.example.com', 'b.example.com', 'x.wild.example.com', '*.wild.example.com'],
  ...['*.example.com', '*.mesh', 'a.mesh', '*'],
] as const;
/** Hosts whose connections a gateway passes on, and those whose TLS it ends. */
const passedHosts = ['tls.mesh', 'one.tls.mesh', '*.tls.mesh', '*.any.mesh', '*'] as const;
const endedHosts = ['ended.mesh', '*.ended.mesh'] as const;

/**
 * The namespaces from which a server takes VirtualServices: with those of the rules, or without.
 */
const prefixes = ['', '', '', '', '*/', 'default/', './', 'shop/'] as const;

/**
 * Returns the namespaces of a host of a server. A server with httpsRedirect limits no host to a
 * namespace, because istiod redirects such a host only if the host has a rule. A host of TLS has
 * the same namespaces in all servers: otherwise istiod sends two chains for it, which Envoy
 * refuses.
 */
type Prefix = (host: string) => string;

const distinct = <T>(list: readonly T[]): readonly T[] => [...new Set(list)];

/** Draws Gateways for the proxy of the gateway, which share its ports. */
export function gateways(draw: Draw, ports: StagePorts): Gateways {
  const others = ['shop/side', 'default/yard'].filter(() => draw.chance(0.6));
  const names = ['shop/front', ...others] as const;
  const tlsPrefixes = new Map(
    [...webHosts, ...passedHosts, ...endedHosts].map((host) => [
      host as string,
      draw.oneOf(['', '', '', '', '*/', 'default/', 'default/', 'shop/']),
    ]),
  );
  const prefix = (host: string) => tlsPrefixes.get(host) ?? '';
  const resources = names.flatMap((name) => {
    const servers = [
      ...draw.several(name === 'shop/front' ? 2 : 0, 3, () => httpServer(draw, ports)),
      ...draw.several(name === 'shop/front' ? 2 : 0, 3, () => httpsServer(draw, ports, prefix)),
      ...draw.several(name === 'shop/front' ? 2 : 0, 3, () => tlsServer(draw, ports, prefix)),
    ].map(({ port, ...server }, index) => ({
      port: { ...port, name: `port-${index}` },
      bind: '127.0.0.1',
      ...server,
    }));
    return servers.length === 0 ? [] : [gateway(name, servers)];
  });
  return { names, resources };
}

function gateway(qualified: string, servers: readonly Json[]): string {
  const [namespace = '', name = ''] = qualified.split('/');
  const spec = { selector: { istio: 'ingressgateway' }, servers };
  return resource('Gateway', namespace, name, spec);
}

interface Server {
  readonly port: Json;
  readonly hosts: readonly string[];
  readonly tls?: Json;
}

function hostsOf(
  draw: Draw,
  pool: readonly [string, ...string[]],
  prefix: Prefix,
): readonly string[] {
  const hosts = distinct(draw.several(1, 4, () => draw.oneOf(pool)));
  return hosts.map((host) => `${prefix(host)}${host}`);
}

function httpServer(draw: Draw, { gateway: number }: StagePorts): Server {
  const port = { number, protocol: draw.oneOf(['HTTP', 'HTTP', 'HTTP2', 'GRPC']) };
  return draw.chance(0.15)
    ? {
        port,
        hosts: hostsOf(draw, webHosts, () => draw.oneOf(['', '*/'])),
        tls: { httpsRedirect: true },
      }
    : { port, hosts: hostsOf(draw, webHosts, () => draw.oneOf(prefixes)) };
}

const httpsServer = (draw: Draw, ports: StagePorts, prefix: Prefix): Server => {
  const number = ports.https;
  return draw.chance(0.15)
    ? {
        port: { number, protocol: draw.oneOf(['HTTPS', 'TLS']) },
        hosts: hostsOf(draw, passedHosts, prefix),
        tls: { mode: 'PASSTHROUGH' },
      }
    : {
        port: { number, protocol: 'HTTPS' },
        hosts: hostsOf(draw, webHosts, prefix),
        tls: ended(draw, ports),
      };
};

const tlsServer = (draw: Draw, ports: StagePorts, prefix: Prefix): Server => {
  const port = { number: ports.passing, protocol: 'TLS' };
  return draw.chance(0.7)
    ? { port, hosts: hostsOf(draw, passedHosts, prefix), tls: { mode: 'PASSTHROUGH' } }
    : { port, hosts: hostsOf(draw, endedHosts, prefix), tls: ended(draw, ports) };
};

/** Draws how a server ends TLS. */
function ended(draw: Draw, { certificates }: StagePorts): Json {
  const mode = draw.oneOf(['SIMPLE', 'SIMPLE', 'MUTUAL', 'OPTIONAL_MUTUAL']);
  const name = draw.oneOf(['a', 'b']);
  return {
    mode,
    serverCertificate: join(certificates, name, 'chain.pem'),
    privateKey: join(certificates, name, 'key.pem'),
    ...(mode !== 'SIMPLE' && { caCertificates: join(certificates, 'clients.pem') }),
    ...(mode !== 'SIMPLE' &&
      draw.chance(0.3) && { subjectAltNames: [draw.oneOf(['localhost', 'nobody'])] }),
    ...(draw.chance(0.25) &&
      draw.oneOf<Json>([{ maxProtocolVersion: 'TLSV1_2' }, { minProtocolVersion: 'TLSV1_3' }])),
  };
}

/** Draws some of the Gateways, at least one. */
export function someGateways(draw: Draw, { names }: Gateways): readonly string[] {
  const [first, ...others] = names;
  const some = names.filter(() => draw.chance(0.85));
  return some.length > 0 ? some : [draw.oneOf([first, ...others])];
}

const tlsHosts = ['tls.mesh', 'one.tls.mesh', 'two.tls.mesh', '*.any.mesh'] as const;

/**
 * Draws the rules of connections: by the name that TLS requests, and after TLS is ended. Each name
 * has its own rule: istiod passes on all names of a rule, even those that a server does not have.
 */
export function connections(draw: Draw, drawn: Gateways, ports: StagePorts): readonly string[] {
  const versions = ['v1', 'v2'] as const;
  const tcp = [
    {
      ...(draw.chance(0.5) && { match: [{ port: ports.passing }] }),
      route: [{ destination: { host: 'a.mesh', subset: 'v1', port: { number: ports.service } } }],
    },
  ];
  return [
    resource('DestinationRule', 'default', 'tls', {
      host: 'tls.mesh',
      subsets: versions.map((version) => ({ name: version, labels: { version } })),
    }),
    ...tlsHosts.map((host, index) => {
      const gateways = someGateways(draw, drawn);
      const subset = draw.oneOf(versions);
      return resource('VirtualService', 'default', `tls-${index}`, {
        hosts: [host],
        gateways: ['mesh', ...gateways],
        tls: [
          {
            match: [
              { sniHosts: [host], port: ports.secure, gateways: ['mesh'] },
              { sniHosts: [host], ...(draw.chance(0.7) && { port: ports.passing }), gateways },
            ],
            route: [{ destination: { host: 'tls.mesh', subset, port: { number: ports.secure } } }],
          },
        ],
      });
    }),
    resource('VirtualService', 'default', 'ended', {
      hosts: endedHosts,
      gateways: someGateways(draw, drawn),
      tcp,
    }),
  ];
}
