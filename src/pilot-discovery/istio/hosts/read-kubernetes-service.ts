import { isIP } from 'node:net';
import { ownMember } from '../../../shared/text/own-member.ts';
import { canonicalAddress, canonicalHost } from '../fields/canonical.ts';
import { exportTo, isDnsName, isLabel } from '../fields/host-names.ts';
import type { KubernetesMetadata } from './kubernetes-metadata.ts';
import type { KubernetesPort, KubernetesService, ReachedBy } from './kubernetes-service.ts';
import { ipAddress } from '../fields/ip-address.ts';
import { matchLabels } from '../fields/match-labels.ts';
import {
  below,
  boolean,
  type Get,
  ignored,
  lenient,
  list,
  maybe,
  members,
  oneOf,
  type Place,
  port,
  type ReadMember,
  text,
  warn,
  wrong,
} from '../fields/members.ts';
import { networkIn } from '../fields/network-label.ts';
import { portProtocol, transport } from '../fields/port-protocol.ts';
import {
  distributionAnnotation,
  trafficDistribution,
  type TrafficDistribution,
} from './traffic-distribution.ts';

/** The limits. A ServiceEntry may have 256 ports too. A Service has one address of each family. */
const most = { ports: 256, addresses: 2, external: 64, names: 256 };

/** Members that do not affect calls within the mesh. */
const ofOthers = [
  'allocateLoadBalancerNodePorts',
  'externalTrafficPolicy',
  'healthCheckNodePort',
  'ipFamilies',
  'ipFamilyPolicy',
  'loadBalancerClass',
  'loadBalancerIP',
  'loadBalancerSourceRanges',
  'sessionAffinityConfig',
];

/** Reads a Service of Kubernetes. */
export function readKubernetesService(
  get: Get,
  metadata: KubernetesMetadata,
  place: Place,
): KubernetesService {
  if (metadata.name !== '' && !isLabel(metadata.name))
    wrong(
      below(below(place, 'metadata'), 'name'),
      `'${metadata.name}' is not a valid name of a Service: letters, digits, and - within`,
    );
  const role = networkIn(metadata.labels) === '' ? 'other' : 'gateway';
  const balanced = get('status', loadBalancers(role));
  const spec = get('spec', (value, specPlace) => {
    if (value === undefined) wrong(specPlace, 'it is missing: give at least ports');
    return members(value, specPlace, [], (specMember, has) => {
      for (const name of ofOthers) specMember(name, ignored);
      const ports = specMember('ports', servicePorts);
      const reached = reachedBy(specMember, has, specPlace);
      if (ports.length === 0 && !has('ports') && reached.type === 'addresses')
        wrong(below(specPlace, 'ports'), 'it is missing: at least one port');
      sayWhatIsLeftOut(specMember, specPlace);
      return {
        reached,
        ports,
        external: [
          ...(specMember('type', text) === 'LoadBalancer' ? balanced : []),
          ...specMember('externalIPs', list(ipAddress, most.external)),
        ].filter((ip) => ip !== ''),
        selector: specMember('selector', maybe(matchLabels)),
        // The field has precedence over the annotation.
        preferred: specMember('trafficDistribution', preferred),
        called: specMember('publishNotReadyAddresses', boolean) === true ? 'all' : 'ready',
      } as const;
    });
  });
  const { preferred: byField, selector, ...rest } = spec;
  const { preferred: byAnnotation, ...annotations } = annotated(
    metadata,
    below(below(place, 'metadata'), 'annotations'),
  );
  return {
    ...rest,
    ...annotations,
    trafficDistribution: byField === 'close' ? byField : byAnnotation,
    selector: selector !== undefined && Object.keys(selector).length > 0 ? selector : undefined,
  };
}

type Role = 'gateway' | 'other';

/**
 * Reads the IP addresses of load balancers from the status. A load balancer may have a name
 * instead.
 */
const loadBalancers =
  (role: Role): ReadMember<readonly string[]> =>
  (value, place) =>
    members(value, lenient(place), [], (get) =>
      get('loadBalancer', (balancer, balancerPlace) =>
        members(balancer, balancerPlace, [], (balancerMember) =>
          balancerMember('ingress', ingresses(role)),
        ),
      ),
    );

/** Reads the first addresses: a load balancer may write one for each Node of a cluster. */
const ingresses =
  (role: Role): ReadMember<readonly string[]> =>
  (value, place) => {
    if (!Array.isArray(value) || value.length <= most.external)
      return list(ingress(role))(value, place);
    if (role === 'gateway')
      warn(
        place,
        `it has ${value.length} entries: only the first ${most.external} are gateways of its network`,
      );
    return list(ingress(role))(value.slice(0, most.external), place);
  };

const ingress =
  (role: Role): ReadMember<string> =>
  (value, place) =>
    members(value, place, [], (get) => {
      const [ip, name] = [get('ip', ipAddress), get('hostname', text)];
      if (role === 'gateway' && ip === '' && name !== '')
        warn(
          place,
          `'${name}' is not a gateway of its network: names are not resolved, give its address`,
        );
      return ip;
    });

interface Preferred {
  readonly preferred: TrafficDistribution;
}

const preferred: ReadMember<TrafficDistribution> = (value, place) =>
  trafficDistribution(text(value, place), place);

function sayWhatIsLeftOut(get: Get, place: Place): void {
  if (
    get('sessionAffinity', oneOf({ None: 'none', ClientIP: 'client' } as const, 'none')) !== 'none'
  )
    warn(
      below(place, 'sessionAffinity'),
      'it has no effect: give a DestinationRule with consistentHash and useSourceIp',
    );
  const local = oneOf({ Cluster: 'all', Local: 'local' } as const, 'all');
  if (get('internalTrafficPolicy', local) === 'local')
    warn(below(place, 'internalTrafficPolicy'), 'it is not served yet: calls go to all endpoints');
}

const clusterIp: ReadMember<string> = (value, place) => {
  const read = text(value, place);
  if (read === '' || read === 'None') return read;
  if (isIP(read) === 0) wrong(place, `'${read}' is neither an IP address nor None`);
  return isIP(read) === 0 ? '' : canonicalAddress(read);
};

function reachedBy(get: Get, has: (name: string) => boolean, place: Place): ReachedBy {
  const type = get(
    'type',
    oneOf(
      {
        ClusterIP: 'inside',
        NodePort: 'inside',
        LoadBalancer: 'inside',
        ExternalName: 'alias',
      } as const,
      'inside',
    ),
  );
  const name = canonicalHost(get('externalName', text)).replace(/\.$/, '');
  const alone = get('clusterIP', clusterIp);
  const several = get('clusterIPs', list(clusterIp, most.addresses));
  const [first = alone] = several;
  if (alone !== '' && first !== alone)
    wrong(
      below(place, 'clusterIPs'),
      `the first address is '${first}', and clusterIP is '${alone}': give the same`,
    );
  if (several.length > 1 && several.includes('None'))
    wrong(
      below(place, 'clusterIPs'),
      'None is for a Service without addresses: leave it out, or leave the address out',
    );
  if (type === 'alias') {
    const where = below(place, 'externalName');
    if (name === '') wrong(where, 'it is missing: the DNS name that it stands for');
    else if (isIP(name) !== 0)
      wrong(
        where,
        `'${name}' is an address: give a DNS name, or an EndpointSlice with the address`,
      );
    else if (!isDnsName(name)) wrong(where, `'${name}' is not a DNS name`);
    return { type: 'alias', host: name };
  }
  if (has('externalName') && name !== '')
    wrong(below(place, 'externalName'), 'it is for the type ExternalName alone');
  if (first === 'None') return { type: 'headless' };
  const addresses = (several.length > 0 ? several : [alone]).filter((address) => address !== '');
  if (addresses.length === 2 && isIP(addresses[0] ?? '') === isIP(addresses[1] ?? ''))
    wrong(below(place, 'clusterIPs'), 'both are of one family: give one of IPv4 and one of IPv6');
  return { type: 'addresses', addresses: addresses.filter((address) => address !== 'None') };
}

/** Reads a port number, or the name of a port of the Pod. */
const atPod: ReadMember<number | string | undefined> = (value, place) => {
  if (typeof value !== 'string' || /^\d+$/.test(value)) return port(value, place);
  if (value.length <= 15 && isLabel(value)) return value;
  wrong(
    place,
    `'${value}' is neither a port from 1 to 65535 nor the name of a port: at most 15 letters, digits and -`,
  );
  return undefined;
};

interface AnyPort {
  readonly transport: 'tcp' | 'udp' | 'sctp';
  readonly port: KubernetesPort;
}

const servicePort: ReadMember<AnyPort> = (value, place) =>
  members(value, place, [], (get, has) => {
    get('nodePort', ignored);
    const number = get('port', port);
    const name = get('name', text);
    const appProtocol = get('appProtocol', text);
    const portTransport = get('protocol', transport);
    if (!has('port')) wrong(below(place, 'port'), 'it is missing: a port from 1 to 65535');
    if (name !== '' && !isLabel(name))
      wrong(
        below(place, 'name'),
        `'${name}' is not a valid name of a port: letters, digits, and - within`,
      );
    if (portTransport === 'sctp') warn(below(place, 'protocol'), 'SCTP is not served');
    const served: KubernetesPort = {
      number: number ?? 0,
      name,
      protocol: portProtocol(number ?? 0, name, appProtocol),
      targetPort: undefined,
      atPod: get('targetPort', atPod) ?? number ?? 0,
    };
    return { transport: portTransport, port: served };
  });

/**
 * Reads the TCP ports. Ports of other transports may have the same numbers; they are not served.
 */
const servicePorts: ReadMember<readonly KubernetesPort[]> = (value, place) => {
  const ports = list(servicePort, most.ports)(value, place);
  ports.forEach(({ port: { number, name }, transport }, index) => {
    const isSecond = (isSame: (candidate: AnyPort) => boolean) => ports.findIndex(isSame) !== index;
    const portPlace = below(place, `[${index}]`);
    if (
      number !== 0 &&
      isSecond((candidate) => candidate.port.number === number && candidate.transport === transport)
    )
      wrong(below(portPlace, 'port'), `${number} is there twice`);
    if (name !== '' && isSecond((candidate) => candidate.port.name === name))
      wrong(below(portPlace, 'name'), `'${name}' is there twice`);
    if (name === '' && ports.length > 1)
      wrong(below(portPlace, 'name'), 'it is missing: each of several ports has a name');
  });
  return ports.filter(({ transport }) => transport === 'tcp').map((entry) => entry.port);
};

const namesIn = (words: string | undefined): readonly string[] =>
  (words ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');

/** Reads the annotations of Istio. */
function annotated(
  { namespace, annotations }: KubernetesMetadata,
  place: Place,
): Pick<KubernetesService, 'exportTo' | 'subjectAltNames' | 'serviceAccounts'> & Preferred {
  const exported = 'networking.istio.io/exportTo';
  const accounts = (name: string): readonly string[] => {
    const names = namesIn(ownMember(annotations, name));
    if (names.length > most.names)
      wrong(
        below(place, name),
        `it has ${names.length} service accounts, and the limit is ${most.names}`,
      );
    return names;
  };
  return {
    exportTo: exportTo(namespace, 'too')(
      namesIn(ownMember(annotations, exported)),
      below(place, exported),
    ),
    subjectAltNames: accounts('alpha.istio.io/canonical-serviceaccounts'),
    serviceAccounts: accounts('alpha.istio.io/kubernetes-serviceaccounts'),
    preferred: trafficDistribution(
      ownMember(annotations, distributionAnnotation) ?? '',
      below(place, distributionAnnotation),
    ),
  };
}
