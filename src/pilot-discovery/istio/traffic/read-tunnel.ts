import type { Tunnel } from './destination-rule.ts';
import { hostName } from '../fields/host-names.ts';
import { below, members, oneOf, port, type ReadMember, wrong } from '../fields/members.ts';
import { isWildcard } from '../fields/wildcard-host.ts';

const method: ReadMember<Tunnel['method']> = (value, place) =>
  value === ''
    ? 'CONNECT'
    : oneOf({ CONNECT: 'CONNECT', POST: 'POST' } as const, 'CONNECT')(value, place);

/** Reads the `tunnel` of a DestinationRule. */
export const tunnel: ReadMember<Tunnel> = (value, place) =>
  members(value, place, [], (get) => {
    const targetHost = get('targetHost', hostName('too'));
    const targetPort = get('targetPort', port);
    if (isWildcard(targetHost))
      wrong(
        below(place, 'targetHost'),
        `'${targetHost}' is not an address to connect to: name a host`,
      );
    if (targetPort === undefined)
      wrong(below(place, 'targetPort'), 'it is missing: a port from 1 to 65535');
    return {
      method: get('protocol', method),
      targetHost,
      targetPort: targetPort ?? 0,
    };
  });
