import type { Step } from '../../../operators/reduce-with-effects.ts';
import type { VersionedSecret } from '../secret.ts';
import type { EnvoyRequest } from '../../../shared/xds/messages.ts';
import { ownMember } from '../../../shared/text/own-member.ts';

/** One request on a stream, of either variant of the protocol. */
export interface StreamRequest extends Pick<EnvoyRequest, 'nonce' | 'names'> {
  /** Empty where the request does not say; only the first one of a stream has to. */
  readonly node: string;
  /** Why that answer is refused; undefined where it is not. */
  readonly error: string | undefined;
}

/**
 * What happens on a stream; what it tells its surroundings is an event too, and changes nothing.
 */
export type StreamEvent =
  | { readonly type: 'request'; readonly request: StreamRequest }
  | ({ readonly type: 'secret'; readonly name: string } & VersionedSecret)
  | StreamOutput;

/**
 * What goes out to the client or the log: an effect, or a name for which there is nothing, with the
 * reason.
 */
export type StreamOutput =
  | Exclude<StreamEffect, { readonly type: 'watch' | 'unwatch' }>
  | { readonly type: 'missing'; readonly name: string; readonly reason: string };

/** An answer: the secrets that the client does not have, by name. */
export interface SdsPush {
  readonly nonce: string;
  /** Of the whole answer. */
  readonly version: string;
  readonly secrets: ReadonlyMap<string, VersionedSecret>;
}

/** What is to be done about it. */
export type StreamEffect =
  | { readonly type: 'watch'; readonly name: string }
  | { readonly type: 'unwatch'; readonly name: string }
  | { readonly type: 'push'; readonly push: SdsPush }
  /** An answer that there is none of these names, so that the client goes on without. */
  | { readonly type: 'decline'; readonly nonce: string; readonly names: readonly string[] }
  | { readonly type: 'accepted'; readonly versions: ReadonlyMap<string, string> }
  | {
      readonly type: 'rejected';
      readonly versions: ReadonlyMap<string, string>;
      readonly reason: string;
    }
  | { readonly type: 'end'; readonly reason: string };

export interface StreamState {
  /** Node id of the client; empty until it has said it. */
  readonly node: string;
  /** Name → version that the client was given last, or had from the start. */
  readonly subscribed: ReadonlyMap<string, string | undefined>;
  readonly newest: ReadonlyMap<string, VersionedSecret>;
  /** Names for which there is none, and whether the client has been told so. */
  readonly absent: ReadonlyMap<string, boolean>;
  /**
   * The answer that is not answered yet. There is one at most, and what is newer waits for its
   * answer. It has no versions where it has declined: its refusal is no news.
   */
  readonly inFlight:
    | { readonly nonce: string; readonly versions: ReadonlyMap<string, string> | undefined }
    | undefined;
  /** Answers so far; the nonce is their number. */
  readonly pushes: number;
  /** What the client of a state-of-the-world stream said to have when it came. */
  readonly claimed: string;
}

export const freshStream: StreamState = {
  node: '',
  subscribed: new Map(),
  newest: new Map(),
  absent: new Map(),
  inFlight: undefined,
  pushes: 0,
  claimed: '',
};

/** Envoy opens a stream for each secret. A path has 4,096 bytes at most, and a name two of them. */
const [mostNames, longestName] = [1_000, 8_192 + 16];

type StreamStep = Step<StreamState, StreamEffect>;

/**
 * The secret discovery protocol (xDS v3), of which both variants are the same but for how names are
 * told. Pure.
 *
 * One push at a time is under way, and what comes meanwhile waits for its answer: then the newest
 * is pushed (the Go agent drops it). A refused version is not pushed again; the next one is. A
 * request that answers an older push than the last says nothing any more.
 *
 * A client that has nothing under a name is told once that there is none: Envoy waits for ever
 * otherwise. One that has a secret keeps it. A client that asks for more names than any needs is
 * given none of them.
 */
export function reduceStream(state: StreamState, event: StreamEvent): StreamStep {
  if (event.type === 'request') return request(state, event.request);
  if (event.type !== 'secret' && event.type !== 'missing') return [state, []];
  const { name } = event;
  if (!state.subscribed.has(name)) return [state, []];
  if (event.type === 'missing') return missing(state, name);
  const { secret, version } = event;
  const newest = new Map(state.newest).set(name, { secret, version });
  return flush({ ...state, newest, absent: omit(state.absent, name) }, []);
}

function missing(state: StreamState, name: string): StreamStep {
  const mayHaveIt = state.subscribed.get(name) !== undefined || state.claimed !== '';
  return mayHaveIt || state.absent.has(name)
    ? [state, []]
    : flush({ ...state, absent: new Map(state.absent).set(name, false) }, []);
}

function request(before: StreamState, { node, nonce, error, names }: StreamRequest): StreamStep {
  if (before.node === '' && node === '')
    return [before, [{ type: 'end', reason: 'the first request has no node id' }]];
  let state = before.node === '' ? { ...before, node } : before;
  const effects: StreamEffect[] = [];
  const isStale = nonce !== '' && nonce !== String(state.pushes);
  if (nonce === state.inFlight?.nonce) {
    const { versions } = state.inFlight;
    if (versions !== undefined)
      effects.push(
        error === undefined
          ? { type: 'accepted', versions }
          : { type: 'rejected', versions, reason: error },
      );
    state = { ...state, inFlight: undefined };
  }
  if (names.kind === 'all') {
    if (isStale) return [state, effects];
    if (before.node === '') state = { ...state, claimed: names.version };
    return subscribe(
      state,
      effects,
      without(names.names, state.subscribed),
      without(state.subscribed.keys(), new Set(names.names)),
      {},
    );
  }
  return subscribe(state, effects, names.add, names.remove, names.versions);
}

function subscribe(
  state: StreamState,
  effects: StreamEffect[],
  add: readonly string[],
  remove: readonly string[],
  versions: Readonly<Record<string, string>>,
): StreamStep {
  const subscribed = new Map(state.subscribed);
  const newest = new Map(state.newest);
  const absent = new Map(state.absent);
  const flaw = namesFlaw(add, subscribed.size);
  if (flaw !== undefined) return [state, [...effects, { type: 'end', reason: flaw }]];
  for (const name of remove) {
    if (subscribed.delete(name)) effects.push({ type: 'unwatch', name });
    newest.delete(name);
    absent.delete(name);
  }
  for (const name of new Set(add)) {
    if (!subscribed.has(name)) effects.push({ type: 'watch', name });
    subscribed.set(name, ownMember(versions, name));
  }
  return flush({ ...state, subscribed, newest, absent }, effects);
}

/** Why a client can not be given all that it asks for; undefined if it can. Pure. */
export function namesFlaw(names: readonly string[], others = 0): string | undefined {
  const count = names.length + others;
  if (count > mostNames) return `it asks for ${count} secrets, and ${mostNames} are the limit`;
  const long = names.find(({ length }) => length > longestName);
  return (
    long && `it asks for a name of ${long.length} characters, and ${longestName} are the limit`
  );
}

function flush(state: StreamState, effects: readonly StreamEffect[]): StreamStep {
  const fresh = new Map(
    [...state.newest].filter(([name, { version }]) => state.subscribed.get(name) !== version),
  );
  if (state.inFlight !== undefined) return [state, effects];
  if (fresh.size === 0) return decline(state, effects);
  const versions = new Map([...fresh].map(([name, { version }]) => [name, version]));
  const given = { ...state, subscribed: new Map([...state.subscribed, ...versions]) };
  const version = versionOf(state.newest);
  const isComplete = state.newest.size === state.subscribed.size;
  if (state.pushes === 0 && isComplete && state.claimed === version) return [given, effects]; // it has come back, and has them all
  const pushes = state.pushes + 1;
  const nonce = String(pushes);
  return [
    { ...given, pushes, inFlight: { nonce, versions } },
    [...effects, { type: 'push', push: { nonce, version, secrets: fresh } }],
  ];
}

/** An answer of its own, for the client refuses it as a whole. */
function decline(state: StreamState, effects: readonly StreamEffect[]): StreamStep {
  const names = [...state.absent].filter(([, isTold]) => !isTold).map(([name]) => name);
  if (names.length === 0) return [state, effects];
  const pushes = state.pushes + 1;
  const nonce = String(pushes);
  const absent = new Map([...state.absent].map(([name]) => [name, true]));
  return [
    { ...state, pushes, absent, inFlight: { nonce, versions: undefined } },
    [...effects, { type: 'decline', nonce, names }],
  ];
}

/** Of all that the client then has: of one secret its own, of many one that is made of theirs. */
function versionOf(secrets: ReadonlyMap<string, VersionedSecret>): string {
  return [...secrets]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { version }]) => version)
    .join('+');
}

function omit<T>(map: ReadonlyMap<string, T>, name: string): ReadonlyMap<string, T> {
  return new Map([...map].filter(([each]) => each !== name));
}

function without(
  names: Iterable<string>,
  known: { has(name: string): boolean },
): readonly string[] {
  return [...names].filter((name) => !known.has(name));
}
