import type { PlacedMutant } from '../mutant.ts';

export const node: readonly PlacedMutant[] = [
  {
    id: 'node/namespace-default',
    file: 'pilot-agent/bootstrap/control-plane-identity.ts',
    find: 'more.length > 0',
    replace: 'more.length > 1',
  },
  {
    id: 'node/localhost-san',
    file: 'pilot-agent/bootstrap/control-plane-identity.ts',
    find: "host === 'localhost' ?",
    replace: "host === '' ?",
  },
  {
    id: 'node/address-ipv4-first',
    file: 'pilot-agent/bootstrap/address.ts',
    find: "!ip.includes(':')",
    replace: "ip.includes(':')",
  },
  {
    id: 'node/trust-domain-at',
    file: 'pilot-agent/bootstrap/control-plane-identity.ts',
    find: ".replaceAll('@', '.')",
    replace: '',
  },
  {
    id: 'node/platform-distinct',
    file: 'pilot-agent/bootstrap/platform.ts',
    find: '.pipe(distinctUntilChanged<Platform>(isDeepStrictEqual))',
    replace: '',
  },
  {
    id: 'node/port-of-ipv4',
    file: 'shared/program/port-holder.ts',
    find: "address === '0.0.0.0' && isIP(host) === 4",
    replace: "address === '0.0.0.0'",
  },
];
