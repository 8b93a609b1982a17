import { isIPv6 } from 'node:net';
import { canonicalAddress } from '../fields/canonical.ts';
import type { Gateway, GatewayHost, GatewayPort, GatewayServer } from './gateway.ts';
import { firstIndexes } from '../fields/first-indexes.ts';
import { hostName, isLabel, isPartialWildcard } from '../fields/host-names.ts';
import {
  below,
  list,
  members,
  needed,
  type Place,
  port,
  type ReadMember,
  text,
  texts,
  warn,
  whole,
  wrong,
} from '../fields/members.ts';
import { gatewayTls } from './read-gateway-tls.ts';
import { protocols } from '../hosts/read-service-entry.ts';
import { checkIpAddress } from '../fields/ip-address.ts';
import { checkSocketPath } from '../fields/socket-path.ts';
import { ownMember } from '../../../shared/text/own-member.ts';
import type { Protocol } from '../fields/values.ts';

const unix = 'unix://';

/** Checks the path of a Unix socket. Istio takes an absolute one, or `@NAME`. */
function checkSocket(path: string, place: Place): void {
  if (/^(?:\/|@)./.test(path)) checkSocketPath(path, place);
  else wrong(place, `'${unix}${path}' is not a Unix socket: give unix:///PATH, or unix://@NAME`);
}

interface WrittenPort extends Omit<GatewayPort, 'protocol'> {
  readonly protocol: Protocol;
}

function portOf(bind: 'address' | 'socket'): ReadMember<WrittenPort> {
  return (value, place) => {
    if (value !== undefined) return writtenPort(bind, value, place);
    wrong(place, 'it is missing');
    return { number: 0, name: '', protocol: 'http' };
  };
}

const writtenPort = (bind: 'address' | 'socket', value: unknown, place: Place): WrittenPort =>
  members(value, place, [], (get, has) => {
    const number = get('number', bind === 'socket' ? whole(0, 0) : port);
    if (bind === 'address' && !has('number'))
      wrong(below(place, 'number'), 'it is missing: a port from 1 to 65535');
    const protocolName = get('protocol', needed).toUpperCase();
    const protocol = ownMember(protocols, protocolName);
    if (protocolName !== '' && protocol === undefined)
      wrong(
        below(place, 'protocol'),
        `'${protocolName}' is not one of ${Object.keys(protocols).join(', ')}`,
      );
    get('targetPort', () => undefined);
    if (has('targetPort')) wrong(below(place, 'targetPort'), 'a gateway has none: leave it out');
    return { number: number ?? 0, name: get('name', needed), protocol: protocol ?? 'http' };
  });

/** Reads `HOST` or `NAMESPACE/HOST`. The namespace may be `*` or `.`. */
function serverHost(gatewayNamespace: string): ReadMember<GatewayHost> {
  return (value, place) => {
    const read = needed(value, place);
    const slash = read.indexOf('/');
    const writtenNamespace = slash < 0 ? '*' : read.slice(0, slash);
    const namespace = writtenNamespace === '.' ? gatewayNamespace : writtenNamespace;
    if (namespace !== '*' && !isLabel(namespace))
      wrong(
        place,
        `'${namespace}' is not a namespace: name one, or '.' for its own, or '*' for all`,
      );
    const rest = read.slice(slash + 1);
    const host = read === '' ? '' : hostName('too')(rest === '' ? undefined : rest, place);
    if (isPartialWildcard(host))
      wrong(place, `'${host}' is not a host of a gateway: a '*' stands for whole parts of a name`);
    else if (isLabel(host) || isIPv6(host))
      wrong(place, `'${host}' is not a full name: give one with a dot, or '*'`);
    return { namespace, host };
  };
}

const allHosts: GatewayHost = { namespace: '*', host: '*' };

// As in istiod, a server with the host */* has no other hosts: they might clash with another
// server.
const serverHosts =
  (namespace: string): ReadMember<readonly GatewayHost[]> =>
  (value, place) => {
    const hosts = list(serverHost(namespace))(value, place);
    return Array.isArray(value) && value.includes('*/*') ? [allHosts] : hosts;
  };

type Read = Omit<GatewayServer, 'port'> & { readonly port: WrittenPort };

const server =
  (namespace: string): ReadMember<Read> =>
  (value, place) =>
    members(value, place, ['defaultEndpoint'], (get) => {
      get('name', text);
      const bind = canonicalAddress(get('bind', text));
      const isSocket = bind.startsWith(unix);
      if (isSocket) checkSocket(bind.slice(unix.length), below(place, 'bind'));
      const serverPort = get('port', portOf(isSocket ? 'socket' : 'address'));
      if (!isSocket) checkIpAddress(bind, below(place, 'bind'));
      const hosts = get('hosts', serverHosts(namespace));
      if (hosts.length === 0)
        wrong(below(place, 'hosts'), `it is missing: at least one host, or '*' for all`);
      const tls = get('tls', gatewayTls(serverPort.protocol));
      return { port: serverPort, bind, hosts, tls };
    });

/** Returns a valid server; none if its protocol is not served: its port is then not open. */
function served(read: Read, place: Place): readonly GatewayServer[] {
  const { protocol, ...rest } = read.port;
  if (protocol === 'udp') warn(place, 'UDP is not served: nothing listens there');
  if (protocol === 'udp' || protocol === 'auto') return [];
  return [{ ...read, port: { ...rest, protocol } }];
}

export function readGateway(namespace: string): ReadMember<Gateway> {
  return (value, place) =>
    members(value, place, [], (get) => {
      const servers = get('servers', list(server(namespace)));
      if (servers.length === 0)
        wrong(below(place, 'servers'), 'it is missing: at least one server');
      const firsts = firstIndexes(servers.map((read) => read.port.name));
      servers.forEach(({ port: { name } }, index) => {
        if (name !== '' && firsts.get(name) !== index)
          wrong(
            below(place, `servers[${index}].port.name`),
            `'${name}' is there twice: HTTPS routes have the name of their port, so each needs its own`,
          );
      });
      const labels = get('selector', texts);
      return {
        selector: Object.keys(labels).length === 0 ? undefined : labels,
        servers: servers.flatMap((read, index) => served(read, below(place, `servers[${index}]`))),
      };
    });
}
