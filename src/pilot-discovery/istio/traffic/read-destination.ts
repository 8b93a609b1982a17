import { hostName, subsetName } from '../fields/host-names.ts';
import { members, port, type ReadMember } from '../fields/members.ts';
import type { Destination } from './virtual-service.ts';

/** Reads the destination of a route. */
export const destination: ReadMember<Destination> = (value, place) =>
  members(value, place, [], (get) => ({
    host: get('host', hostName('not')),
    subset: get('subset', subsetName),
    port:
      get('port', (inner, innerPlace) =>
        members(inner, innerPlace, [], (getInner) => getInner('number', port)),
      ) ?? 0,
  }));
