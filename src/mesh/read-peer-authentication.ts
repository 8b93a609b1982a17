import { below, members, named, oneOf, type Read, selector, wrong } from './members.ts';
import type { MutualTlsMode, PeerAuthentication } from './peer-authentication.ts';

const mutualTls: Read<MutualTlsMode> = (value, place) =>
  value === undefined
    ? 'unset'
    : members(value, place, [], (get) =>
        get('mode', oneOf({ UNSET: 'unset', DISABLE: 'disable', PERMISSIVE: 'permissive', STRICT: 'strict' } as const, 'unset')),
      );

export const readPeerAuthentication: Read<PeerAuthentication> = (value, place) =>
  members(value, place, [], (get) => {
    const chosen = get('selector', selector('matchLabels'));
    const ports = Object.entries(get('portLevelMtls', named(mutualTls)));
    const at = (port: string) => below(place, `portLevelMtls.${port}`);
    if (ports.length > 0 && chosen === undefined)
      wrong(below(place, 'portLevelMtls'), 'it needs a selector: ports are those of a workload');
    for (const [port] of ports)
      if (!/^\d+$/.test(port) || Number(port) < 1 || Number(port) > 65_535) wrong(at(port), `'${port}' is not a port (1 to 65535)`);
    return { selector: chosen, mode: get('mtls', mutualTls), portLevel: new Map(ports.map(([port, mode]) => [Number(port), mode])) };
  });
