import type { ListenerKind, OutboundBinding } from './outbound-bindings.ts';

/** One listener, before it is made: what came together at one address and port. */
export interface OutboundEntry {
  readonly address: string;
  readonly port: number;
  readonly shared: boolean;
  readonly kind: ListenerKind;
  /** In the order in which Envoy is given them. */
  readonly chains: readonly OutboundChain[];
}

/** One way that a connection may go: to a service, or through the routes of HTTP. */
export type OutboundChain =
  | { readonly type: 'tcp'; readonly of: OutboundBinding }
  /** `anyProtocol`: it takes all, there is nothing to be told apart from. */
  | { readonly type: 'http'; readonly of: OutboundBinding; readonly routeName: string; readonly anyProtocol: boolean };

/**
 * Bindings by address and port. Of those that no connection could tell apart the first stays. Where
 * an address is shared HTTP and others may stand beside each other; a bound address is of one kind,
 * but that what is told by inspection replaces HTTP.
 */
export function outboundEntries(bindings: readonly OutboundBinding[]): OutboundEntry[] {
  const entries = new Map<string, OutboundEntry>();
  for (const binding of bindings) {
    const name = `${binding.address}_${binding.port.number}`;
    entries.set(name, joined(entries.get(name), entryOf(binding)));
  }
  return [...entries.values()];
}

/** The listener of a binding that is alone. */
function entryOf(of: OutboundBinding): OutboundEntry {
  const { address, port, kind, shared, service } = of;
  const tcp: OutboundChain = { type: 'tcp', of };
  const routeName = kind === 'auto' && !shared ? `${service.host}:${port.number}` : String(port.number);
  const http: OutboundChain = { type: 'http', of, routeName, anyProtocol: kind === 'http' && !shared };
  const chains = kind === 'tcp' ? [tcp] : kind === 'http' ? [http] : [tcp, http];
  return { address, port: port.number, shared, kind, chains };
}

function joined(entry: OutboundEntry | undefined, next: OutboundEntry): OutboundEntry {
  if (entry === undefined) return next;
  if (entry.kind === 'http' && next.kind === 'http') return entry;
  if (entry.kind === 'http') {
    if (entry.shared) return next.kind === 'auto' ? entry : { ...entry, kind: 'auto', chains: distinct([...entry.chains, ...next.chains]) };
    return next.kind === 'auto' ? next : entry;
  }
  if (next.kind === 'http') {
    return entry.shared && entry.kind === 'tcp' ? { ...entry, kind: 'auto', chains: [...entry.chains, ...next.chains] } : entry;
  }
  if (entry.kind === 'auto' && next.kind === 'auto') {
    const tcp = distinct([...entry.chains, ...next.chains]).filter(({ type }) => type === 'tcp');
    return { ...entry, chains: [...tcp, ...entry.chains.filter(({ type }) => type === 'http')] };
  }
  return { ...entry, kind: entry.kind === next.kind ? entry.kind : 'auto', chains: distinct([...entry.chains, ...next.chains]) };
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
