import { pruned, type TypeResources } from '../../shared/xds/resources.ts';
import { type TypeRequests, leader, type RelayEffect, type RelayState } from './relay-state.ts';
import type { ErrorDetail } from '../../shared/xds/messages.ts';
import { namesOf } from './envoy-subscription.ts';

type Step = readonly [RelayState, readonly RelayEffect[]];

/** Returns the names that the Envoys want, by type, in the order of their first requests. */
function interest({ streams }: RelayState): ReadonlyMap<string, ReadonlySet<string>> {
  const wanted = new Map<string, ReadonlySet<string>>();
  for (const { subscriptions } of streams.values()) {
    for (const [typeUrl, subscription] of subscriptions) {
      const names = namesOf(subscription);
      const others = wanted.get(typeUrl);
      wanted.set(typeUrl, others === undefined ? names : new Set([...others, ...names]));
    }
  }
  return wanted;
}

/**
 * Requests from the control plane what the Envoys want, and passes on the ACKs and NACKs of the
 * youngest Envoy. A name that no Envoy wants stays subscribed until the youngest has all that it
 * wants: a child requests the same names as its parent, but not at once. Pure.
 */
export function ask(state: RelayState): Step {
  const { connection } = state;
  const isSettled = leader(state)?.begunAt !== undefined;
  if (connection.stage !== 'open' && connection.stage !== 'answering') return [state, []];
  const wanted = interest(state);
  const typeUrls = new Set([...wanted.keys(), ...connection.requests.keys()]);
  const requests = new Map(connection.requests);
  const newest = new Map(state.newest);
  const effects: RelayEffect[] = [];
  for (const typeUrl of typeUrls) {
    const before = connection.requests.get(typeUrl);
    const names = namesFor(wanted.get(typeUrl), before?.names, isSettled);
    const answer = answerTo(state, typeUrl, before);
    if (names === before?.names && answer === undefined) continue;
    const add = [...names].filter((name) => before?.names.has(name) !== true);
    const remove = [...(before?.names ?? [])].filter((name) => !names.has(name));
    if (before !== undefined && answer === undefined && add.length === 0 && remove.length === 0)
      continue;
    const resources = newest.get(typeUrl);
    const version =
      answer?.refusal === undefined && answer !== undefined
        ? (resources?.version ?? '')
        : (before?.version ?? '');
    const isFirst = before === undefined;
    const versions = isFirst && connection.variant === 'delta' ? versionsOf(resources) : {};
    const nonce =
      answer !== undefined || connection.variant === 'state-of-the-world'
        ? (before?.nonce ?? '')
        : '';
    effects.push({
      type: 'ask',
      connection: connection.number,
      ask: { typeUrl, nonce, version, refusal: answer?.refusal, names, add, remove, versions },
      node: requests.size === 0 ? connection.node : undefined,
    });
    if (resources !== undefined && remove.length > 0) newest.set(typeUrl, pruned(resources, names));
    requests.set(typeUrl, {
      nonce: '',
      isAnswered: false,
      ...before,
      names,
      version,
      isPending: before?.isPending === true && answer === undefined,
    });
  }
  return effects.length === 0
    ? [state, []]
    : [{ ...state, newest, connection: { ...connection, requests } }, effects];
}

/**
 * Returns the known versions for a first request, as Envoy does. A control plane whose versions
 * depend on the content need not send these resources again.
 */
function versionsOf(resources: TypeResources | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...(resources?.resources ?? [])].map(([name, { version }]) => [name, version]),
  );
}

function namesFor(
  wanted: ReadonlySet<string> | undefined,
  earlierNames: ReadonlySet<string> | undefined,
  isSettled: boolean,
): ReadonlySet<string> {
  if (isSettled || earlierNames === undefined) return wanted ?? new Set();
  return new Set([...earlierNames, ...(wanted ?? [])]);
}

/**
 * Returns the ACK or NACK of the youngest Envoy for the newest answer; undefined if there is none
 * yet, or if it was passed on.
 */
function answerTo(
  state: RelayState,
  typeUrl: string,
  typeRequests: TypeRequests | undefined,
): { readonly refusal: ErrorDetail | undefined } | undefined {
  if (typeRequests?.isPending !== true) return undefined;
  const envoy = leader(state);
  if (envoy === undefined) return undefined; // the next Envoy decides
  const subscription = envoy.subscriptions.get(typeUrl);
  if (subscription === undefined) return { refusal: undefined };
  return subscription.inFlight === undefined ? { refusal: subscription.refusal } : undefined;
}
