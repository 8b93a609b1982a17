import type { ServicePort } from '../../istio/hosts/service-entry.ts';
import type { ChainsOf, ConnectionChain } from './mesh-connections.ts';
import type { BindingPlace, ListenerKind, OutboundBinding } from './outbound-bindings.ts';

/** A listener before it is made: the bindings at one address and port. */
export interface OutboundEntry {
  readonly address: string;
  readonly port: number;
  readonly shared: boolean;
  readonly place: BindingPlace;
  readonly kind: ListenerKind;
  /** In the order in which Envoy receives them. */
  readonly chains: readonly OutboundChain[];
  /** Bindings at the address and port that cannot be distinguished from an earlier one. */
  readonly left: readonly OutboundBinding[];
}

interface TcpChain extends ConnectionChain {
  readonly type: 'tcp';
  readonly binding: OutboundBinding;
}

/** One destination of a connection: a service, or the routes of HTTP. */
export type OutboundChain =
  | TcpChain
  /** `anyProtocol`: it takes all connections, since there is no other chain. */
  | {
      readonly type: 'http';
      readonly binding: OutboundBinding;
      readonly routeName: string;
      readonly anyProtocol: boolean;
    };

/**
 * Groups bindings by address and port. If no connection could distinguish some bindings, the first
 * stays. At a shared address HTTP and other protocols may stand side by side. A bound address has
 * one kind, except that a port whose protocol is detected replaces HTTP. If the server speaks
 * first, nothing can be inspected, so no other protocol stands beside it: the older of the two
 * stays.
 *
 * @param chainsOf returns the chains of a port that is not of HTTP alone
 */
export function outboundEntries(
  bindings: readonly OutboundBinding[],
  chainsOf: ChainsOf,
): OutboundEntry[] {
  const entries = new Map<string, OutboundEntry>();
  for (const binding of bindings) {
    const name = `${binding.address}_${binding.port.number}`;
    const [before, next] = [entries.get(name), entryOf(binding, chainsOf)];
    if (before === undefined) entries.set(name, next);
    else
      entries.set(
        name,
        isBesides(before, binding)
          ? withLeft(before, next)
          : { ...before, left: [...before.left, binding] },
      );
  }
  return [...entries.values()];
}

/** Returns whether the server speaks first, as in istiod: MySQL greets, and so may Mongo. */
const speaksFirst = ({ protocol }: ServicePort): boolean =>
  protocol === 'mysql' || protocol === 'mongo';

/** Returns whether a connection may be for the entry or for the binding. */
function isBesides({ chains }: OutboundEntry, { port }: OutboundBinding): boolean {
  return chains.every(
    ({ binding }) =>
      binding.port.protocol === port.protocol || !(speaksFirst(binding.port) || speaksFirst(port)),
  );
}

/**
 * Returns both entries as one, with the bindings that then have no chain. All bindings of HTTP
 * share the chain of the first.
 */
function withLeft(before: OutboundEntry, next: OutboundEntry): OutboundEntry {
  const { chains, ...both } = joined(before, next);
  const hasHttp = chains.some(({ type }) => type === 'http');
  const isServed = (binding: OutboundBinding) =>
    chains.some(
      ({ binding: chainBinding, type }) =>
        chainBinding === binding && (type === 'tcp' || binding.kind === 'http'),
    ) ||
    (binding.kind !== 'tcp' && hasHttp);
  const all = [
    ...before.left,
    ...before.chains.map(({ binding }) => binding),
    ...next.chains.map(({ binding }) => binding),
  ];
  return { ...both, chains, left: [...new Set(all)].filter((binding) => !isServed(binding)) };
}

/** Returns the listener of a single binding. */
function entryOf(binding: OutboundBinding, chainsOf: ChainsOf): OutboundEntry {
  const { address, port, kind, shared, place } = binding;
  const tcp =
    kind === 'http'
      ? []
      : distinct(chainsOf(binding).map((chain): TcpChain => ({ ...chain, type: 'tcp', binding })));
  const http: OutboundChain = {
    type: 'http',
    binding,
    routeName: routeNameOf(binding),
    anyProtocol: kind === 'http' && !shared,
  };
  const chains = kind === 'tcp' ? tcp : [...tcp, http];
  return { address, port: port.number, shared, place, kind, chains, left: [] };
}

/** Returns the name of the routes for HTTP: of a port, a service at a port, or a Unix socket. */
function routeNameOf({ address, port, kind, shared, service }: OutboundBinding): string {
  if (port.number === 0) return address;
  return kind === 'auto' && !shared ? `${service.host}:${port.number}` : String(port.number);
}

function joined(entry: OutboundEntry, next: OutboundEntry): OutboundEntry {
  if (entry.kind === 'http' && next.kind === 'http') return entry;
  if (entry.kind === 'http') {
    if (entry.shared)
      return next.kind === 'auto'
        ? entry
        : { ...entry, kind: 'auto', chains: distinct([...entry.chains, ...next.chains]) };
    return next.kind === 'auto' ? next : entry;
  }
  if (next.kind === 'http') {
    return entry.shared && entry.kind === 'tcp'
      ? { ...entry, kind: 'auto', chains: [...entry.chains, ...next.chains] }
      : entry;
  }
  if (entry.kind === 'auto' && next.kind === 'auto') {
    const tcp = distinct([...entry.chains, ...next.chains]).filter(({ type }) => type === 'tcp');
    return { ...entry, chains: [...tcp, ...entry.chains.filter(({ type }) => type === 'http')] };
  }
  return {
    ...entry,
    kind: entry.kind === next.kind ? entry.kind : 'auto',
    chains: distinct([...entry.chains, ...next.chains]),
  };
}

/** Keeps the first of chains that match the same connections: Envoy NACKs a listener with both. */
function distinct(chains: readonly OutboundChain[]): OutboundChain[] {
  const claimedMatches = new Set<string>();
  return chains.flatMap((chain): readonly OutboundChain[] => {
    if (chain.type === 'tcp') return unclaimed(chain, claimedMatches);
    const isFirst = !claimedMatches.has('http');
    claimedMatches.add('http');
    return isFirst ? [chain] : [];
  });
}

/** Returns the part of a chain whose pairs of range and name no other chain has. */
function unclaimed(chain: TcpChain, claimedMatches: Set<string>): readonly TcpChain[] {
  const all = { ranges: orAny(chain.ranges), names: orAny(chain.names) };
  const parts = new Map<string, { readonly ranges: string[]; readonly names: string[] }>();
  for (const range of all.ranges) {
    const names = all.names.filter((name) => !claimedMatches.has(`${range} ${name}`));
    for (const name of names) claimedMatches.add(`${range} ${name}`);
    const part = parts.get(names.join(' '));
    if (part !== undefined) part.ranges.push(range);
    else if (names.length > 0) parts.set(names.join(' '), { ranges: [range], names });
  }
  return [...parts.values()].map(({ ranges, names }) => ({
    ...chain,
    ranges: ranges.filter((range) => range !== ''),
    names: names.filter((name) => name !== ''),
  }));
}

const orAny = (list: readonly string[]): readonly string[] => (list.length === 0 ? [''] : list);
