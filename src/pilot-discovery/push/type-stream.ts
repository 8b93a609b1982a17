import type { EnvoyRequest } from '../../shared/xds/messages.ts';
import type { Unsent } from './unsent.ts';
import type { TypedView, XdsResource } from './view.ts';

/** What a client has under a name: of what it had when it came only the version is known. */
export type Held = Pick<XdsResource, 'name' | 'version'> & Partial<XdsResource>;

/** An answer that is not answered yet. */
export interface InFlight {
  readonly nonce: string;
  readonly snapshot: number;
  /** What it gives; and what the client had before under these names, and those that it takes. */
  readonly given: readonly XdsResource[];
  readonly before: ReadonlyMap<string, Held | undefined>;
  /** The view of which nothing is left to be said once it is accepted. */
  readonly tells: TypedView | undefined;
}

/** The stream of one client, as far as it is about one type. Immutable. */
export interface TypeStream {
  /** It has asked for this type. */
  readonly isAsked: boolean;
  readonly wildcard: boolean;
  /** What it wants by name. */
  readonly names: ReadonlySet<string>;
  /** Of these it has never been told anything; what is asked for now waits for nothing. */
  readonly fresh: ReadonlySet<string>;
  readonly held: ReadonlyMap<string, Held>;
  readonly inFlight: InFlight | undefined;
  /** Name → version that the client has refused, and is not given again. */
  readonly refused: ReadonlyMap<string, string>;
  /** Answers so far, and the nonce of the last one. */
  readonly answers: number;
  readonly lastNonce: string;
  /** With this view nothing was left to be said. */
  readonly settled: TypedView | undefined;
  /** Why what has changed since is not sent; undefined if nothing has. */
  readonly waitsFor: Unsent | undefined;
}

export const freshType: TypeStream = {
  isAsked: false,
  wildcard: false,
  names: new Set(),
  fresh: new Set(),
  held: new Map(),
  inFlight: undefined,
  refused: new Map(),
  answers: 0,
  lastNonce: '',
  settled: undefined,
  waitsFor: undefined,
};

/** Names that mean all, in the incremental variant. */
const all = '*';

/**
 * The stream after a request for other names. A client of CDS or LDS that names nothing at first
 * wants all.
 *
 * @param current what there is; a client of the state-of-the-world variant may have it already
 */
export function subscribed(
  before: TypeStream,
  { names }: EnvoyRequest,
  mayBeAll: boolean,
  current: TypedView | undefined,
): TypeStream {
  const isFirst = !before.isAsked;
  // Of a name that is in the view its text is used: thousands of proxies hold it once.
  const shared = (some: readonly string[]) =>
    some.filter((name) => name !== all).map((name) => current?.resources.get(name)?.name ?? name);
  if (names.kind === 'change') {
    if (!isFirst && names.add.length === 0 && names.remove.length === 0) return before;
    const added = shared(names.add);
    const gone = new Set(names.remove);
    const wanted = withNames(before.names, added, gone);
    const fresh = withNames(before.fresh, added, gone);
    let { held } = before;
    if (gone.size > 0) held = new Map([...held].filter(([name]) => !gone.has(name)));
    if (isFirst)
      held = new Map([
        ...held,
        ...Object.entries(names.versions).map(
          ([name, version]) => [name, { name, version }] as const,
        ),
      ]);
    if (isFirst) for (const name of held.keys()) fresh.delete(name);
    const wildcard =
      (before.wildcard ||
        names.add.includes(all) ||
        (isFirst && mayBeAll && names.add.length === 0)) &&
      !names.remove.includes(all);
    return { ...before, ...unsettled(before), isAsked: true, wildcard, names: wanted, fresh, held };
  }
  const wildcard =
    names.names.includes(all) || (mayBeAll && names.names.length === 0 && before.names.size === 0);
  const isSame =
    !isFirst &&
    wildcard === before.wildcard &&
    names.names.length - (names.names.includes(all) ? 1 : 0) === before.names.size &&
    names.names.every((name) => name === all || before.names.has(name));
  if (isSame) return before;
  const explicit = shared(names.names);
  const wanted = new Set(explicit);
  const had = isFirst && names.version === current?.version ? current : undefined;
  const held = new Map<string, Held>();
  for (const [name, resource] of had?.resources ?? [])
    if (wildcard || wanted.has(name)) held.set(name, resource);
  for (const [name, resource] of before.held)
    if (wildcard || wanted.has(name)) held.set(name, resource);
  const fresh = new Set(explicit.filter((name) => !held.has(name) || before.fresh.has(name)));
  return { ...before, ...unsettled(before), isAsked: true, wildcard, names: wanted, fresh, held };
}

function withNames(
  before: ReadonlySet<string>,
  added: readonly string[],
  gone: ReadonlySet<string>,
): Set<string> {
  const after = new Set(before);
  for (const name of added) after.add(name);
  for (const name of gone) after.delete(name);
  return after;
}

/**
 * Of a stream that wants something else than before: whatever was told, there may be more to say.
 */
export const unsettled = ({ inFlight }: TypeStream): Pick<TypeStream, 'settled' | 'inFlight'> => ({
  settled: undefined,
  inFlight: inFlight && { ...inFlight, tells: undefined },
});

/** The stream after an answer was accepted. */
export function acknowledged(before: TypeStream): TypeStream {
  const { inFlight } = before;
  const after = { ...before, inFlight: undefined, settled: inFlight?.tells };
  if (inFlight === undefined || before.refused.size === 0) return after;
  const refused = new Map(before.refused);
  for (const { name } of inFlight.given) refused.delete(name);
  return { ...after, refused };
}

/**
 * The stream after an answer was refused, and the resources that are to blame: those that the
 * reason names, else all of the answer. Of them the client goes on with what it had.
 */
export function refusedBy(
  before: TypeStream,
  reason: string,
): readonly [TypeStream, readonly XdsResource[]] {
  if (before.inFlight === undefined) return [before, []];
  const { given, before: had } = before.inFlight;
  const named = given.filter(({ name }) => reason.includes(name));
  const blamed = named.length > 0 ? named : given;
  const held = new Map(before.held);
  const refused = new Map(before.refused);
  for (const { name, version } of blamed) {
    refused.set(name, version);
    const old = had.get(name);
    const isWanted = before.wildcard || before.names.has(name);
    if (old === undefined || !isWanted) held.delete(name);
    else held.set(name, old);
  }
  return [{ ...before, inFlight: undefined, held, refused, settled: undefined }, blamed];
}

/**
 * What the client is to have by now, but for what it has refused.
 *
 * @param candidates of these names alone; without them of all
 */
export function wantedOf(
  { wildcard, names, refused }: TypeStream,
  { resources }: TypedView,
  candidates?: readonly string[],
): ReadonlyMap<string, XdsResource> {
  if (candidates === undefined && wildcard && names.size === 0 && refused.size === 0)
    return resources;
  const wanted = new Map<string, XdsResource>();
  const take = (resource: XdsResource | undefined) => {
    if (resource !== undefined && refused.get(resource.name) !== resource.version)
      wanted.set(resource.name, resource);
  };
  if (candidates !== undefined) {
    for (const name of candidates) if (wildcard || names.has(name)) take(resources.get(name));
    return wanted;
  }
  if (wildcard) for (const resource of resources.values()) take(resource);
  for (const name of names) take(resources.get(name));
  return wanted;
}
