import { orClosed } from '../fields/closable.ts';
import { parseHostPort, portNumber } from '../../../shared/text/host-port.ts';
import { isObject } from '../../../shared/text/is-object.ts';
import { firstIndexes } from '../fields/first-indexes.ts';
import { isLabel } from '../fields/host-names.ts';
import { selector } from '../fields/match-labels.ts';
import {
  below,
  list,
  maybe,
  members,
  oneOf,
  type Place,
  type ReadMember,
  refuseIfEmpty,
  text,
  warn,
  wrong,
} from '../fields/members.ts';
import { egresses } from './read-egress.ts';
import { ingressTls } from './read-ingress-tls.ts';
import { ipAddress } from '../fields/ip-address.ts';
import { connectionPool } from '../traffic/read-destination-rule.ts';
import { servicePort } from '../hosts/read-service-entry.ts';
import { destination } from '../traffic/read-destination.ts';
import type { Ingress, OutboundPolicy, Sidecar } from './sidecar.ts';
import { checkSocketPath } from '../fields/socket-path.ts';
import type { Destination } from '../traffic/virtual-service.ts';

const ingress: ReadMember<Ingress> = (value, place) => {
  const read = members(value, place, [], (get) => {
    const port = get('port', servicePort);
    return {
      port,
      bind: get('bind', ipAddress),
      captureMode: get(
        'captureMode',
        oneOf({ DEFAULT: 'default', IPTABLES: 'iptables', NONE: 'none' } as const, 'default'),
      ),
      defaultEndpoint: get('defaultEndpoint', text),
      connectionPool: get('connectionPool', maybe(connectionPool)),
      tls: get(
        'tls',
        maybe(orClosed(ingressTls(port.protocol), 'connections to this port are refused')),
      ),
    };
  });
  checkEndpoint(read.defaultEndpoint, below(place, 'defaultEndpoint'));
  return read;
};

function checkEndpoint(endpoint: string, place: Place): void {
  if (endpoint === '') return;
  if (/^unix:\/\/\/./.test(endpoint)) {
    checkSocketPath(endpoint.slice('unix://'.length), place);
    return;
  }
  const parts = parseHostPort(endpoint);
  const isOwn = parts !== undefined && ['127.0.0.1', '0.0.0.0', '::1', '::'].includes(parts.host);
  if (!isOwn || portNumber(parts.port) === undefined)
    wrong(
      place,
      `'${endpoint}' is not 127.0.0.1:PORT, 0.0.0.0:PORT, [::1]:PORT, [::]:PORT, or unix:///path`,
    );
}

const proxyDestination: ReadMember<Destination> = (value, place) => {
  const read = destination(value, place);
  if (isObject(value) && value['port'] === undefined)
    wrong(below(place, 'port'), 'it is missing: number: PORT');
  if (isLabel(read.host))
    warn(below(place, 'host'), `'${read.host}' is not a full name: no service has it`);
  return read;
};

const outboundPolicy: ReadMember<OutboundPolicy> = (value, place) =>
  members(value, place, [], (get) => {
    const mode = get(
      'mode',
      oneOf({ REGISTRY_ONLY: 'registry-only', ALLOW_ANY: 'allow-any' } as const, 'registry-only'),
    );
    const egressProxy = get('egressProxy', maybe(proxyDestination));
    if (egressProxy === undefined) return mode;
    const proxyPlace = below(place, 'egressProxy');
    if (mode === 'registry-only')
      wrong(proxyPlace, 'unknown destinations are not called at all: set mode to ALLOW_ANY');
    return { egressProxy };
  });

/** Reads a Sidecar. */
export const readSidecar: ReadMember<Sidecar> = (value, place) =>
  members(value, place, [], (get) => {
    const ports = get('ingress', list(ingress));
    const firsts = firstIndexes(ports.map(({ port }) => port.number));
    ports.forEach(({ port }, index) => {
      if (firsts.get(port.number) !== index)
        wrong(below(place, `ingress[${index}].port.number`), `${port.number} is there twice`);
    });
    const policy = get('outboundTrafficPolicy', (inner, policyPlace) =>
      inner === undefined ? undefined : outboundPolicy(inner, policyPlace),
    );
    const egress = get('egress', egresses);
    const inboundConnectionPool = get('inboundConnectionPool', maybe(connectionPool));
    const workloadSelector = get('workloadSelector', selector('labels'));
    refuseIfEmpty(value, place, 'ingress, egress or outboundTrafficPolicy', 'workloadSelector');
    return {
      workloadSelector,
      ingress: ports,
      egress,
      inboundConnectionPool,
      outboundTrafficPolicy: policy,
    };
  });
