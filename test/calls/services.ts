import type { Draw } from './draw.ts';
import type { StagePorts } from './fixed-resources.ts';
import { type Json, resource } from './resource.ts';

interface Port {
  readonly number: number;
  readonly name: string;
  readonly protocol?: string;
}

/** An application behind a service: its port, and the version in its labels. */
interface Instance {
  readonly at: number;
  readonly version: string;
}

/**
 * Draws the services of the mesh that have no sidecar, and the way in which each declares its
 * endpoints.
 */
export function services(draw: Draw, ports: StagePorts): readonly string[] {
  const instancesOf = (...names: readonly string[]): readonly Instance[] =>
    names.map((name, index) => ({
      at: ports.applications.get(name) ?? 0,
      version: `v${index + 1}`,
    }));
  return [
    ...httpService(draw, 'a', draw.oneOf([['a.mesh'], ['a.mesh', 'also-a.mesh']]), ports, [
      ...instancesOf('a v1', 'a v2'),
    ]),
    ...httpService(draw, 'b', ['b.mesh'], ports, instancesOf('b v1', 'b v2')),
    ...httpService(draw, 'c', ['c.mesh'], ports, instancesOf('c')),
    ...httpService(
      draw,
      'wide',
      draw.oneOf([['*.wide.mesh'], ['x.wide.mesh']]),
      ports,
      instancesOf('c'),
    ),
    ...tlsService(draw, ports),
  ];
}

function httpService(
  draw: Draw,
  name: string,
  hosts: readonly string[],
  { service, other }: StagePorts,
  instances: readonly Instance[],
): readonly string[] {
  const isWild = hosts.some((host) => host.startsWith('*'));
  const main: Port = {
    number: service,
    name: draw.oneOf(['http', 'http-main', 'web']),
    protocol: draw.chance(0.75) ? 'HTTP' : draw.oneOf(['HTTP2', 'GRPC', 'http']),
  };
  // A TCP proxy would choose one of two applications at random.
  const secondProtocol = instances.length === 1 ? 'TCP' : 'HTTP';
  const protocol = draw.oneOf<string | undefined>(['HTTP', secondProtocol, undefined]);
  const second: Port = {
    number: other,
    name: 'second',
    ...(protocol === undefined ? {} : { protocol }),
  };
  const all = draw.chance(0.8) ? [main, second] : [main];
  return entry(draw, name, {
    hosts,
    ports: all,
    instances,
    resolution: resolutionOf(draw, isWild, instances),
  });
}

function resolutionOf(draw: Draw, isWild: boolean, instances: readonly Instance[]): string {
  if (isWild) return draw.oneOf(['STATIC', 'STATIC', 'NONE']);
  const many = ['STATIC', 'STATIC', 'DNS'] as const;
  return instances.length === 1
    ? draw.oneOf([...many, ...many, 'DNS_ROUND_ROBIN', 'NONE'])
    : draw.oneOf([...many]);
}

function tlsService(draw: Draw, { secure, secured }: StagePorts): readonly string[] {
  const instances = secured.map((port, index) => ({ at: port, version: `v${index + 1}` }));
  return entry(draw, 'tls', {
    hosts: ['tls.mesh', 'one.tls.mesh', 'two.tls.mesh', '*.any.mesh'],
    ports: [{ number: secure, name: 'tls', protocol: draw.oneOf(['TLS', 'TLS', 'HTTPS']) }],
    instances,
    resolution: 'STATIC',
  });
}

interface Service {
  readonly hosts: readonly string[];
  readonly ports: readonly Port[];
  readonly instances: readonly Instance[];
  readonly resolution: string;
}

/** Returns a ServiceEntry, and the WorkloadEntries that it selects, if it has no endpoints. */
function entry(draw: Draw, name: string, service: Service): readonly string[] {
  const { hosts, ports, instances, resolution } = service;
  const address = resolution.startsWith('DNS')
    ? draw.oneOf(['localhost', '127.0.0.1'])
    : '127.0.0.1';
  const [first] = instances;
  const hasTarget = instances.length === 1 && draw.chance(0.5);
  const workloads: readonly Json[] =
    resolution === 'NONE'
      ? []
      : instances.map(({ at: instancePort, version }) => ({
          address,
          labels: { app: name, version },
          ...(!hasTarget && {
            ports: Object.fromEntries(ports.map((port) => [port.name, instancePort])),
          }),
        }));
  const isSelected = workloads.length > 0 && draw.chance(0.4);
  const spec = {
    hosts,
    location: draw.oneOf(['MESH_EXTERNAL', 'MESH_INTERNAL']),
    resolution,
    exportTo: ['shop'],
    ports: ports.map((port) => ({ ...port, ...(hasTarget && { targetPort: first?.at }) })),
    ...(draw.chance(0.25) && resolution === 'STATIC' && { addresses: [virtualAddress(name)] }),
    ...(isSelected
      ? { workloadSelector: { labels: { app: name } } }
      : workloads.length > 0 && { endpoints: workloads }),
  };
  return [
    resource('ServiceEntry', 'default', name, spec),
    ...(isSelected
      ? workloads.map((workload, index) =>
          resource('WorkloadEntry', 'default', `${name}-${index + 1}`, workload),
        )
      : []),
  ];
}

const virtualAddress = (name: string) => `10.7.0.${name.charCodeAt(0)}`;
