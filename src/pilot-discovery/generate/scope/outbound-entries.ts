import type { ServicePort } from '../../istio/service-entry.ts';
import type { ListenerKind, OutboundBinding } from './outbound-bindings.ts';

/** One listener, before it is made: what came together at one address and port. */
export interface OutboundEntry {
  readonly address: string;
  readonly port: number;
  readonly shared: boolean;
  readonly kind: ListenerKind;
  /** In the order in which Envoy is given them. */
  readonly chains: readonly OutboundChain[];
  /** What came for the address and port, and cannot be told from what was there before it. */
  readonly left: readonly OutboundBinding[];
}

/** One way that a connection may go: to a service, or through the routes of HTTP. */
export type OutboundChain =
  | { readonly type: 'tcp'; readonly of: OutboundBinding }
  /** `anyProtocol`: it takes all, there is nothing to be told apart from. */
  | {
      readonly type: 'http';
      readonly of: OutboundBinding;
      readonly routeName: string;
      readonly anyProtocol: boolean;
    };

/**
 * Bindings by address and port. Of those that no connection could tell apart the first stays. Where
 * an address is shared HTTP and others may stand beside each other; a bound address is of one kind,
 * but that what is told by inspection replaces HTTP. Where the server speaks first nothing can be
 * inspected, so nothing of another protocol stands beside it: the older of both stays.
 */
export function outboundEntries(bindings: readonly OutboundBinding[]): OutboundEntry[] {
  const entries = new Map<string, OutboundEntry>();
  for (const binding of bindings) {
    const name = `${binding.address}_${binding.port.number}`;
    const [before, next] = [entries.get(name), entryOf(binding)];
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

/** The server speaks first: MySQL greets, and so may Mongo. As in istiod. */
const speaksFirst = ({ protocol }: ServicePort): boolean =>
  protocol === 'mysql' || protocol === 'mongo';

/** Whether a connection may be for the entry or for the binding. */
function isBesides({ chains }: OutboundEntry, { port }: OutboundBinding): boolean {
  return chains.every(
    ({ of }) => of.port.protocol === port.protocol || !(speaksFirst(of.port) || speaksFirst(port)),
  );
}

/**
 * Both, and which of their bindings have no chain then. All of HTTP share the chain of the first.
 */
function withLeft(before: OutboundEntry, next: OutboundEntry): OutboundEntry {
  const { chains, ...both } = joined(before, next);
  const hasHttp = chains.some(({ type }) => type === 'http');
  const isServed = (binding: OutboundBinding) =>
    chains.some(({ of, type }) => of === binding && (type === 'tcp' || binding.kind === 'http')) ||
    (binding.kind !== 'tcp' && hasHttp);
  const all = [
    ...before.left,
    ...before.chains.map(({ of }) => of),
    ...next.chains.map(({ of }) => of),
  ];
  return { ...both, chains, left: [...new Set(all)].filter((binding) => !isServed(binding)) };
}

/** The listener of a binding that is alone. */
function entryOf(of: OutboundBinding): OutboundEntry {
  const { address, port, kind, shared, service } = of;
  const tcp: OutboundChain = { type: 'tcp', of };
  const routeName =
    kind === 'auto' && !shared ? `${service.host}:${port.number}` : String(port.number);
  const http: OutboundChain = {
    type: 'http',
    of,
    routeName,
    anyProtocol: kind === 'http' && !shared,
  };
  const chains = kind === 'tcp' ? [tcp] : kind === 'http' ? [http] : [tcp, http];
  return { address, port: port.number, shared, kind, chains, left: [] };
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

/** Of two chains that match the same connections the first. */
function distinct(chains: readonly OutboundChain[]): OutboundChain[] {
  const seen = new Set<string>();
  return chains.filter((chain) => {
    const key = chain.type === 'http' ? 'http' : `${chain.of.range} ${chain.of.serverName}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
