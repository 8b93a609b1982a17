import type { Protocol } from '../../istio/fields/values.ts';
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
  const entries = new Map<string, GrowingEntry>();
  for (const binding of bindings) {
    const name = `${binding.address}_${binding.port.number}`;
    const entry = entries.get(name);
    const chains = chainsOfBinding(binding, chainsOf);
    if (entry === undefined) entries.set(name, new GrowingEntry(binding, chains));
    else entry.add(binding, chains);
  }
  return [...entries.values()].map((entry) => entry.entry());
}

/** Returns whether the server speaks first, as in istiod: MySQL greets, and so may Mongo. */
const speaksFirst = (protocol: Protocol): boolean => protocol === 'mysql' || protocol === 'mongo';

/**
 * An entry to which one binding after another is added. Thousands of services may share an address
 * and a port, so adding one does not visit the chains of the others.
 */
class GrowingEntry {
  #first: OutboundBinding;
  #kind: ListenerKind;
  #chains: OutboundChain[] = [];
  #left: OutboundBinding[] = [];
  readonly #protocols = new Set<Protocol>();
  readonly #claimedMatches = new Set<string>();

  constructor(first: OutboundBinding, chains: readonly OutboundChain[]) {
    [this.#first, this.#kind] = [first, first.kind];
    this.#push(chains);
  }

  entry(): OutboundEntry {
    const { address, port, shared, place } = this.#first;
    const [kind, chains, left] = [this.#kind, this.#chains, this.#left];
    return { address, port: port.number, shared, place, kind, chains, left };
  }

  add(binding: OutboundBinding, chains: readonly OutboundChain[]): void {
    if (!this.#isBesides(binding)) {
      this.#left.push(binding);
      return;
    }
    const [before, hasChain] = [this.#kind, this.#join(binding, chains)];
    // All bindings of HTTP share the chain of the first.
    const isServed = binding.kind === 'tcp' ? hasChain : this.#kind !== 'tcp';
    if (!isServed) this.#left.push(binding);
    if (before === 'tcp' && this.#kind !== 'tcp')
      this.#left = this.#left.filter(({ kind }) => kind === 'tcp');
  }

  /** Returns whether a connection may be for the entry or for the binding. */
  #isBesides({ port: { protocol } }: OutboundBinding): boolean {
    return [...this.#protocols].every(
      (other) => other === protocol || !(speaksFirst(other) || speaksFirst(protocol)),
    );
  }

  /** Adds the chains of a binding; returns whether it has one of its own. */
  #join(binding: OutboundBinding, chains: readonly OutboundChain[]): boolean {
    const joining = joiningOf(this.#kind, this.#first.shared, binding.kind);
    if (joining === 'nothing') return false;
    this.#kind = this.#kind === binding.kind ? this.#kind : 'auto';
    if (joining === 'last') return this.#push(chains);
    if (joining === 'instead') {
      [this.#first, this.#chains] = [binding, []];
      this.#claimedMatches.clear();
      this.#protocols.clear();
      return this.#push(chains);
    }
    const http = this.#chains.splice(
      this.#chains.findLastIndex(({ type }) => type === 'http'),
      1,
    );
    const hasChain = this.#push(chains.filter(({ type }) => type === 'tcp'));
    this.#chains.push(...http);
    return hasChain;
  }

  /**
   * Adds chains, except for matches that an earlier chain has: Envoy NACKs a listener with both.
   * Returns whether one is left.
   */
  #push(chains: readonly OutboundChain[]): boolean {
    const free = chains.flatMap((chain): readonly OutboundChain[] =>
      chain.type === 'tcp' ? unclaimed(chain, this.#claimedMatches) : [chain],
    );
    for (const chain of free) {
      this.#chains.push(chain);
      this.#protocols.add(chain.binding.port.protocol);
    }
    return free.length > 0;
  }
}

/**
 * An entry takes none of the chains of a binding, all of them as its last ones, those that are not
 * of HTTP before its chain of HTTP, or all of them instead of its own.
 */
type Joining = 'nothing' | 'last' | 'before-http' | 'instead';

function joiningOf(entry: ListenerKind, isShared: boolean, next: ListenerKind): Joining {
  if (entry === 'http') {
    if (next === 'http') return 'nothing';
    if (isShared) return next === 'auto' ? 'nothing' : 'last';
    return next === 'auto' ? 'instead' : 'nothing';
  }
  if (next === 'http') return isShared && entry === 'tcp' ? 'last' : 'nothing';
  return entry === 'auto' && next === 'auto' ? 'before-http' : 'last';
}

/** Returns the chains of a single binding. */
function chainsOfBinding(binding: OutboundBinding, chainsOf: ChainsOf): readonly OutboundChain[] {
  const { kind, shared } = binding;
  const tcp =
    kind === 'http'
      ? []
      : chainsOf(binding).map((chain): TcpChain => ({ ...chain, type: 'tcp', binding }));
  const http: OutboundChain = {
    type: 'http',
    binding,
    routeName: routeNameOf(binding),
    anyProtocol: kind === 'http' && !shared,
  };
  return kind === 'tcp' ? tcp : [...tcp, http];
}

/** Returns the name of the routes for HTTP: of a port, a service at a port, or a Unix socket. */
function routeNameOf({ address, port, kind, shared, service }: OutboundBinding): string {
  if (port.number === 0) return address;
  return kind === 'auto' && !shared ? `${service.host}:${port.number}` : String(port.number);
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
