import { closable } from '../fields/closable.ts';
import { selector, selectorAlone } from '../fields/match-labels.ts';
import { below, members, named, oneOf, type ReadMember, wrong } from '../fields/members.ts';
import type { MutualTlsMode, PeerAuthentication } from './peer-authentication.ts';

const mutualTls: ReadMember<MutualTlsMode> = (value, place) =>
  value === undefined
    ? 'unset'
    : members(value, place, [], (get) =>
        get(
          'mode',
          oneOf(
            {
              UNSET: 'unset',
              DISABLE: 'disable',
              PERMISSIVE: 'permissive',
              STRICT: 'strict',
            } as const,
            'unset',
          ),
        ),
      );

export const readPeerAuthentication: ReadMember<PeerAuthentication> = (value, place) =>
  members(value, place, [], (get, has) => {
    const chosen = get('selector', selector('matchLabels'));
    const ports = Object.entries(get('portLevelMtls', named(closable(mutualTls))));
    const portPlace = (port: string) => below(place, `portLevelMtls.${port}`);
    if (ports.length > 0 && Object.keys(chosen ?? {}).length === 0)
      wrong(below(place, 'portLevelMtls'), 'it needs a selector: ports are those of a workload');
    if (ports.length === 0 && has('portLevelMtls'))
      wrong(below(place, 'portLevelMtls'), 'it has no port: name one, or leave it out');
    for (const [port] of ports)
      if (!/^\d+$/.test(port) || Number(port) < 1 || Number(port) > 65_535)
        wrong(portPlace(port), `'${port}' is not a port (1 to 65535)`);
    return {
      selector: chosen,
      mode: get('mtls', closable(mutualTls)),
      portLevel: new Map(ports.map(([port, mode]) => [Number(port), mode])),
    };
  });

/** Reads a PeerAuthentication of which only the selector can be read: its workloads are closed. */
export const closedPeerAuthentication: ReadMember<PeerAuthentication> = (value, place) => ({
  selector: selectorAlone(value, place),
  mode: 'closed',
  portLevel: new Map(),
});
