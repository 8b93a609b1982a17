import { isIpAddress } from '../../../shared/text/host-port.ts';
import { ownMember } from '../../../shared/text/own-member.ts';
import { canonicalAddress } from '../fields/canonical.ts';
import { firstIndexes } from '../fields/first-indexes.ts';
import { isHttp } from '../fields/is-http.ts';
import { hostName, isLabel, isPartialWildcard } from '../fields/host-names.ts';
import {
  below,
  list,
  maybe,
  members,
  needed,
  oneOf,
  type Place,
  type ReadMember,
  text,
  warn,
  whole,
  wrong,
} from '../fields/members.ts';
import { protocols } from '../hosts/read-service-entry.ts';
import type { Egress, EgressHost, EgressPort } from './sidecar.ts';
import { checkIpAddress } from '../fields/ip-address.ts';
import { checkSocketPath } from '../fields/socket-path.ts';

const unix = 'unix://';

const egressHost: ReadMember<EgressHost> = (value, place) => {
  const read = needed(value, place);
  const slash = read.indexOf('/');
  const namespace = slash < 0 ? '' : read.slice(0, slash);
  const written = read.slice(slash + 1);
  if (read === '') return { namespace, host: '' };
  if (slash < 0)
    wrong(place, `'${read}' has no namespace: give NAMESPACE/HOST, or '*/${read}' for all`);
  else if (!['*', '.', '~'].includes(namespace) && !isLabel(namespace))
    wrong(
      place,
      `'${namespace}' is not a namespace: name one, or '.' for its own, '*' for all, '~' for none`,
    );
  const host = hostName('too')(written === '' ? undefined : written, place);
  if (isPartialWildcard(host))
    wrong(place, `'${host}' is not a host here: a '*' stands for whole parts of a name`);
  else if (isLabel(host) || isIpAddress(host))
    wrong(place, `'${host}' is not a full name: give one with a dot, or '*'`);
  return { namespace, host };
};

const egressPort: ReadMember<EgressPort> = (value, place) =>
  members(value, place, [], (get, has) => {
    // A wrong number is not also reported as missing.
    const number = get('number', whole(0, 65_535)) ?? (has('number') ? 1 : 0);
    const name = get('name', text);
    if (name !== '' && !isLabel(name))
      wrong(
        below(place, 'name'),
        `'${name}' is not a valid name of a port: letters, digits, and - within`,
      );
    const protocolName = get('protocol', text).toUpperCase();
    get('targetPort', () => undefined);
    if (has('targetPort')) wrong(below(place, 'targetPort'), 'it has no effect here: leave it out');
    const protocol =
      protocolName === ''
        ? 'auto'
        : protocolName === 'HTTP_PROXY'
          ? 'http-proxy'
          : ownMember(protocols, protocolName);
    if (protocol === undefined)
      wrong(
        below(place, 'protocol'),
        `'${protocolName}' is not one of ${Object.keys(protocols).join(', ')}`,
      );
    return { number, protocol: protocol ?? 'auto' };
  });

/** Reads one block of `egress`. */
const egress: ReadMember<Egress> = (value, place) => {
  const read = members(value, place, [], (get) => ({
    hosts: get('hosts', list(egressHost)),
    port: get('port', maybe(egressPort)),
    bind: canonicalAddress(get('bind', text)),
    captureMode: get(
      'captureMode',
      oneOf({ DEFAULT: 'default', IPTABLES: 'iptables', NONE: 'none' } as const, 'default'),
    ),
  }));
  if (read.hosts.length === 0)
    wrong(below(place, 'hosts'), "it is missing: at least one host, or '*/*' for all");
  checkHosts(read.hosts, below(place, 'hosts'));
  checkBind(read, place);
  if (read.port?.number === 0 && read.bind.startsWith(unix) && !isHttpPort(read.port))
    warn(
      below(place, 'port'),
      'a connection that is not HTTP has no port here: without a VirtualService it leads nowhere',
    );
  return read;
};

const isHttpPort = ({ protocol }: EgressPort): boolean =>
  protocol === 'http-proxy' || isHttp(protocol);

const textOf = ({ namespace, host }: EgressHost): string => `${namespace}/${host}`;

function checkHosts(hosts: readonly EgressHost[], place: Place): void {
  const firsts = firstIndexes(hosts.map(textOf));
  hosts.forEach((host, index) => {
    if (host.host === '') return;
    const hostPlace = below(place, `[${index}]`);
    const name = textOf(host);
    // One of these hosts makes the host needless.
    const [wide] = ['*/*', `${host.namespace}/*`]
      .filter((other) => other !== name && firsts.has(other))
      .sort((a, b) => (firsts.get(a) ?? 0) - (firsts.get(b) ?? 0));
    if (firsts.get(name) !== index) warn(hostPlace, `'${name}' is there twice`);
    else if (wide !== undefined)
      warn(hostPlace, `'${wide}' includes '${name}': leave one of them out`);
  });
}

function checkBind({ bind, port, captureMode }: Egress, place: Place): void {
  const bindPlace = below(place, 'bind');
  if (port?.number !== 0) {
    if (bind.startsWith(unix)) wrong(bindPlace, `a Unix socket has no port: give it port.number 0`);
    else checkIpAddress(bind, bindPlace);
    return;
  }
  const path = bind.slice(unix.length);
  if (!bind.startsWith(unix))
    wrong(
      below(below(place, 'port'), 'number'),
      'it is missing: a port from 1 to 65535, or 0 with a bind of unix:///path',
    );
  else if (!/^(?:@.|\/.*[^/]$)/.test(path))
    wrong(bindPlace, `'${bind}' is not a socket: give unix:///path, or unix://@name`);
  else checkSocketPath(path, bindPlace);
  if (captureMode === 'iptables')
    wrong(
      below(place, 'captureMode'),
      'nothing is captured for a Unix socket: give NONE, or leave it out',
    );
}

/** Reads `egress`: at most one block is for all ports, and it is the last one. */
export const egresses: ReadMember<readonly Egress[]> = (value, place) => {
  const blocks = list(egress)(value, place);
  const listenerOf = ({ port, bind }: Egress) =>
    port === undefined ? undefined : port.number === 0 ? bind : String(port.number);
  const listeners = blocks.map(listenerOf);
  const firsts = firstIndexes(listeners);
  listeners.forEach((listener, index) => {
    const blockPlace = below(place, `[${index}]`);
    if (listener === undefined && index < blocks.length - 1)
      wrong(blockPlace, 'it is for all ports: give it a port, or make it the last one');
    else if (listener !== undefined && firsts.get(listener) !== index)
      wrong(
        listener.startsWith(unix)
          ? below(blockPlace, 'bind')
          : below(below(blockPlace, 'port'), 'number'),
        `${listener} is there twice`,
      );
  });
  return blocks;
};
