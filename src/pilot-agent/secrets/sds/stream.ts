import type { Step } from '../../../operators/reduce-with-effects.ts';
import { subscriptionMachine } from '../../../shared/xds/subscription-machine.ts';
import {
  newSubscription,
  type SubscriptionEffect,
  type TypeSubscription,
} from '../../../shared/xds/type-subscription.ts';
import { namesFlaw } from './names-flaw.ts';
import { type OfferedSecrets, type SecretKind, secretPolicy, secretsOf } from './secret-policy.ts';
import type { StreamEffect, StreamEvent, StreamRequest } from './stream-event.ts';

export interface StreamState {
  /** The node id of the client; empty before its first request. */
  readonly node: string;
  readonly newest: OfferedSecrets;
  readonly subscription: TypeSubscription<SecretKind>;
}

export const initialStream: StreamState = {
  node: '',
  newest: new Map(),
  subscription: newSubscription(),
};

type StreamStep = Step<StreamState, StreamEffect>;

const step = subscriptionMachine(secretPolicy);

/**
 * Reduces a stream of the secret discovery protocol (xDS v3). Its two variants differ only in how a
 * request names the secrets. Pure.
 *
 * At most one push is in flight. Newer secrets wait for its ACK or NACK; then the newest is pushed
 * (the Go agent drops it). If a secret is missing and the client has none under that name, the
 * client gets one answer that says so, because Envoy would otherwise wait forever. A client that
 * has a secret keeps it. If a client requests more names than any client needs, its stream is
 * ended.
 */
export function reduceStream(state: StreamState, event: StreamEvent): StreamStep {
  if (event.type === 'request') return request(state, event.request);
  if (event.type !== 'secret' && event.type !== 'missing') return [state, []];
  const { names, clientResources: clientSecrets, claimed } = state.subscription;
  const { newest } = state;
  const { name } = event;
  if (!names.has(name)) return [state, []];
  if (event.type === 'secret') {
    const { secret, version } = event;
    return flush({ ...state, newest: new Map(newest).set(name, { secret, version }) }, []);
  }
  const latest = newest.get(name) ?? clientSecrets.get(name) ?? 'none';
  if (latest !== 'none' || claimed !== '') return [state, []];
  return flush({ ...state, newest: new Map(newest).set(name, 'none') }, []);
}

function request(before: StreamState, envoyRequest: StreamRequest): StreamStep {
  if (before.node === '' && envoyRequest.node === '')
    return [before, [{ type: 'end', reason: 'the first request has no node id' }]];
  const state = { ...before, node: before.node === '' ? envoyRequest.node : before.node };
  const { nonce, error, names } = envoyRequest;
  const refusal = error === undefined ? undefined : { code: 0, message: error };
  const request = { nonce, refusal, names };
  const { names: namesBefore } = state.subscription;
  const [subscription, effects] = step(state.subscription, {
    type: 'request',
    request,
    source: undefined,
  });
  const verdicts = effects.flatMap(verdictOf);
  const flaw = subscription === state.subscription ? undefined : namesFlaw([...subscription.names]);
  if (flaw !== undefined) return [state, [...verdicts, { type: 'end', reason: flaw }]];
  const gone = [...namesBefore].filter((name) => !subscription.names.has(name));
  const come = [...subscription.names].filter((name) => !namesBefore.has(name));
  const newest = new Map([...state.newest].filter(([name]) => subscription.names.has(name)));
  return flush({ ...state, newest, subscription }, [
    ...verdicts,
    ...gone.map((name) => ({ type: 'unwatch', name }) as const),
    ...come.map((name) => ({ type: 'watch', name }) as const),
  ]);
}

/** Returns the verdict of the client. A NACK of an answer about missing secrets is not reported. */
function verdictOf(effect: SubscriptionEffect<SecretKind>): readonly StreamEffect[] {
  if (effect.type !== 'accepted' && effect.type !== 'rejected') return [];
  const secrets = secretsOf(effect.answer.given);
  if (secrets.size === 0) return [];
  const versions = new Map([...secrets].map(([name, { version }]) => [name, version]));
  return effect.type === 'accepted'
    ? [{ type: 'accepted', versions }]
    : [{ type: 'rejected', versions, reason: effect.refusal.message }];
}

function flush(state: StreamState, before: readonly StreamEffect[]): StreamStep {
  const { newest } = state;
  const [subscription, effects] = step(state.subscription, {
    type: 'offer',
    source: newest,
    context: newest,
  });
  const answers = effects.flatMap((effect) => (effect.type === 'answer' ? effect.message : []));
  return [{ ...state, subscription }, [...before, ...answers]];
}
