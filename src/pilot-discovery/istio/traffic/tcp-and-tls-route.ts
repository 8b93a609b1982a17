import { canonicalAddress, isAddressRange } from '../fields/canonical.ts';
import { gatewayName, hostName, isPartialWildcard } from '../fields/host-names.ts';
import { matchLabels } from '../fields/match-labels.ts';
import {
  below,
  type Get,
  list,
  members,
  needed,
  type Place,
  port,
  type ReadMember,
  text,
  warn,
  whole,
  wrong,
} from '../fields/members.ts';
import { destination } from './read-destination.ts';
import type {
  ConnectionDestination,
  ConnectionMatch,
  TcpRoute,
  TlsMatch,
  TlsRoute,
} from './virtual-service.ts';
import { covers } from '../fields/wildcard-host.ts';

const range: ReadMember<string> = (value, place) => {
  const read = needed(value, place);
  if (read !== '' && !isAddressRange(read)) wrong(place, `'${read}' is not an IP address or CIDR`);
  return canonicalAddress(read);
};

/** Reads the conditions for a connection, except its name in TLS. */
function connectionMatch(get: Get, has: (name: string) => boolean, place: Place): ConnectionMatch {
  get('sourceSubnet', text);
  if (has('sourceSubnet'))
    warn(below(place, 'sourceSubnet'), 'it has no effect, as in Istio: no proxy looks at it');
  return {
    port: get('port', port) ?? 0,
    gateways: get('gateways', list(gatewayName)),
    destinationSubnets: get('destinationSubnets', list(range)),
    sourceLabels: get('sourceLabels', matchLabels),
    sourceNamespace: get('sourceNamespace', text),
  };
}

const tcpMatch: ReadMember<ConnectionMatch> = (value, place) =>
  members(value, place, [], (get, has) => connectionMatch(get, has, place));

const tlsMatch: ReadMember<TlsMatch> = (value, place) =>
  members(value, place, [], (get, has) => {
    const sniHosts = get('sniHosts', list(hostName('too')));
    if (sniHosts.length === 0)
      wrong(below(place, 'sniHosts'), 'it is missing: at least one name that TLS asks for');
    sniHosts.forEach((host, index) => {
      if (isPartialWildcard(host))
        wrong(
          below(place, `sniHosts[${index}]`),
          `'${host}' is not a valid name of TLS: a '*' stands for whole parts of a name`,
        );
    });
    return { ...connectionMatch(get, has, place), sniHosts };
  });

const connectionDestination: ReadMember<ConnectionDestination> = (value, place) =>
  members(value, place, [], (get) => ({
    destination: get('destination', destination),
    weight: get('weight', whole(0, 2 ** 31 - 1)) ?? 0,
  }));

const destinations: ReadMember<readonly ConnectionDestination[]> = (value, place) => {
  const read = list(connectionDestination)(value, place);
  const sum = read.reduce((total, { weight }) => total + weight, 0);
  if (read.length === 0) wrong(place, 'it is missing: at least one destination');
  if (read.length > 1 && sum === 0) wrong(place, 'the weights make 0: nothing could be chosen');
  if (sum >= 2 ** 32) wrong(place, `the weights make ${sum}, which is more than 4294967295`);
  return read;
};

/** Reads a member of `tcp`. */
export const tcpRoute: ReadMember<TcpRoute> = (value, place) =>
  members(value, place, [], (get) => ({
    match: get('match', list(tcpMatch)),
    route: get('route', destinations),
  }));

/** Reads a member of `tls`. */
export const tlsRoute: ReadMember<TlsRoute> = (value, place) =>
  members(value, place, [], (get) => {
    const match = get('match', list(tlsMatch));
    if (match.length === 0)
      wrong(below(place, 'match'), 'it is missing: at least one match, with sniHosts');
    return { match, route: get('route', destinations) };
  });

/** Checks that names in TLS are within the hosts of their VirtualService. */
export function checkNames(tls: readonly TlsRoute[], hosts: readonly string[], place: Place): void {
  const isCovered = covers(hosts);
  tls.forEach(({ match }, index) => {
    match.forEach(({ sniHosts }, number) => {
      sniHosts.forEach((name, nameIndex) => {
        if (name !== '' && !isCovered(name))
          wrong(
            below(place, `tls[${index}].match[${number}].sniHosts[${nameIndex}]`),
            `'${name}' is not within the hosts of the VirtualService`,
          );
      });
    });
  });
}

/** Warns of conditions that gateways ignore, if the match is for no sidecar. */
export function warnOfSkippedConditions(
  routes: Readonly<Record<'tls' | 'tcp', readonly TcpRoute[]>>,
  isForMesh: boolean,
  place: Place,
): void {
  for (const kind of ['tls', 'tcp'] as const)
    routes[kind].forEach(({ match }, index) => {
      match.forEach((conditions, number) => {
        if (conditions.gateways.length === 0 ? isForMesh : conditions.gateways.includes('mesh'))
          return;
        const matchPlace = below(place, `${kind}[${index}].match[${number}]`);
        const skipped = {
          destinationSubnets: conditions.destinationSubnets.length > 0,
          sourceLabels: Object.keys(conditions.sourceLabels).length > 0,
          sourceNamespace: conditions.sourceNamespace !== '',
        };
        for (const [name, isGiven] of Object.entries(skipped))
          if (isGiven) warn(below(matchPlace, name), 'no gateway looks at it: it has no effect');
      });
    });
}
