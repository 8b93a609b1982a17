// Why: docs/decisions/037-the-agent-answers-envoy.md
import { isDeepStrictEqual } from 'node:util';
import { backOff } from '../../operators/back-off.ts';
import type { Node } from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { ask } from './asks.ts';
import { goodOf, type LastGood } from './last-good.ts';
import { push } from './push-resources.ts';
import {
  type Connection,
  type EnvoyStream,
  leader,
  type RelayEffect,
  type RelayEvent,
  type RelayState,
  type Timed,
} from './relay-state.ts';
import { mainTypes, noResources, pruned, updated, wildcard } from '../../shared/xds/resources.ts';
import { newSubscription } from '../../shared/xds/type-subscription.ts';
import { stepSubscription } from './step-subscription.ts';

type Step = readonly [RelayState, readonly RelayEffect[]];

/** The pauses between attempts to reach the control plane, in ms. */
const pauses = { first: 500, longest: 10_000 };
/**
 * How long until the same trouble is logged again, and the least time before another trouble is
 * logged. In ms.
 */
const troubleLogPause = { same: 300_000, other: 30_000 };
/**
 * How long the types of the stored configuration are awaited after an Envoy has begun: it requests
 * one type after another. In ms.
 */
const typesAwaited = 30_000;

/**
 * Reduces the xDS proxy: one connection to the control plane, and any number of Envoys that are
 * answered with its resources. Pure.
 *
 * A new Envoy gets the last good configuration first, so that it does not wait. The configuration
 * of this run is sent at once; the one from disk is sent if the control plane does not answer. The
 * answers of the control plane then replace it.
 *
 * @param maxAge the age limit of a configuration that the control plane has not confirmed, in ms;
 *   with 0, nothing is kept
 */
export function relay(maxAge: number): (state: RelayState, event: Timed) => Step {
  return (before, event) => {
    const { at: now } = event;
    const wasAnswering = before.connection.stage === 'answering';
    return steps(apply(before, event), [
      (state) => connect(state, event),
      (state) => push(state, now, maxAge),
      (state) => keep(withBegun(state, now), event, wasAnswering, maxAge),
      ask,
    ]);
  };
}

function steps(first: RelayState, next: readonly ((state: RelayState) => Step)[]): Step {
  return next.reduce<Step>(
    ([state, effects], step) => {
      const [after, more] = step(state);
      return [after, [...effects, ...more]];
    },
    [first, []],
  );
}

function apply(state: RelayState, event: Timed): RelayState {
  const { connection, streams } = state;
  // An event of a closed connection is ignored.
  if ('connection' in event && event.connection !== connection.number) return state;
  switch (event.type) {
    case 'stream-opened': {
      const opened: EnvoyStream = {
        variant: event.variant,
        node: undefined,
        subscriptions: new Map(),
        pushes: 0,
        begunAt: undefined,
        isStored: false,
      };
      return { ...state, streams: new Map(streams).set(event.stream, opened) };
    }
    case 'requested': {
      const { stream, request } = event;
      const before = streams.get(stream);
      if (before === undefined) return state;
      const [subscription] = stepSubscription(
        before.subscriptions.get(request.typeUrl) ?? newSubscription(),
        { type: 'request', request, source: undefined },
      );
      const subscriptions = new Map(before.subscriptions).set(request.typeUrl, subscription);
      return {
        ...state,
        streams: new Map(streams).set(stream, {
          ...before,
          node: before.node ?? request.node,
          subscriptions,
        }),
      };
    }
    case 'stream-closed':
      return {
        ...state,
        streams: new Map([...streams].filter(([stream]) => stream !== event.stream)),
      };
    case 'opened':
      return { ...state, connection: { ...connection, stage: 'open' } };
    case 'updated':
      return withUpdate(state, event);
    case 'unanswered':
      return { ...withTrouble(state, event), isGoodOffered: true };
    case 'lost': {
      const failures = connection.stage === 'answering' ? 0 : connection.failures + 1;
      const lost: Connection = { ...connection, stage: 'none', requests: new Map(), failures };
      return { ...withTrouble(state, event), connection: lost, isGoodOffered: true };
    }
    case 'confirmation-due':
      return state;
  }
}

function withUpdate(
  state: RelayState,
  { update }: Extract<RelayEvent, { type: 'updated' }>,
): RelayState {
  const { connection } = state;
  const { typeUrl, nonce, controlPlane } = update;
  const before = connection.requests.get(typeUrl);
  if (before === undefined) return state; // this type was not requested
  const requests = new Map(connection.requests).set(typeUrl, {
    ...before,
    nonce,
    isAnswered: true,
    isPending: true,
  });
  const isWhole =
    update.isWhole || (connection.variant === 'state-of-the-world' && before.names.has(wildcard));
  const after = updated(state.newest.get(typeUrl) ?? noResources, { ...update, isWhole });
  // Names that are gone would otherwise grow without end.
  const resources = before.names.has(wildcard) ? pruned(after, before.names) : after;
  const newest = new Map(state.newest).set(typeUrl, resources);
  const answering: Connection = {
    ...connection,
    stage: 'answering',
    requests,
    failures: 0,
    name: controlPlane,
  };
  return { ...state, connection: answering, newest, trouble: undefined };
}

/**
 * Returns the state with this trouble. If a connection that has answered breaks, that alone is not
 * logged, because the next one may succeed.
 */
function withTrouble(
  state: RelayState,
  { reason, at: now }: { readonly reason: string; readonly at: number },
): RelayState {
  const { trouble, connection } = state;
  const since = trouble?.since ?? now;
  const last = trouble?.loggedAt;
  const pause = trouble?.reason === reason ? troubleLogPause.same : troubleLogPause.other;
  const isLogged = connection.stage !== 'answering' && (last === undefined || now - last >= pause);
  return { ...state, trouble: { reason, since, loggedAt: isLogged ? now : last } };
}

/**
 * Connects for the youngest Envoy. Connects again if that Envoy is another node or uses the other
 * variant. If an Envoy starts during a pause, the pause ends; if it starts while there is no
 * attempt, it need not wait.
 */
function connect(state: RelayState, event: RelayEvent): Step {
  const { connection } = state;
  const envoy = leader(state);
  if (envoy === undefined) return [state, []];
  const { variant, node } = envoy;
  const isOther = connection.variant !== variant || !isSameNode(connection.node, node);
  const isNewcomer =
    event.type === 'requested' &&
    (connection.stage === 'awaited' || connection.stage === 'none') &&
    state.streams.get(event.stream)?.subscriptions.size === 1;
  if (connection.stage !== 'none' && !isOther && !isNewcomer)
    return [{ ...state, connection: { ...connection, node } }, []];
  const number = connection.number + 1;
  const delay = isOther || isNewcomer ? 0 : backOff(pauses, connection.failures);
  const next: Connection = {
    ...connection,
    number,
    stage: 'awaited',
    variant,
    node,
    requests: new Map(),
  };
  return [
    { ...state, connection: next },
    [{ type: 'connect', connection: number, variant, delay }],
  ];
}

/**
 * Whether a control plane treats both nodes as the same one. Envoy writes the metadata, and the
 * values of its build, in any order.
 */
function isSameNode(node: Node | undefined, other: Node | undefined): boolean {
  return node === other || isDeepStrictEqual(identity(node), identity(other));
}

function identity(node: Node | undefined): unknown {
  return node && [node.id, node.cluster, node.metadata, [...node.locality]];
}

/**
 * Keeps the resources that the youngest Envoy has ACKed, once it has ACKed all. The stored
 * configuration is confirmed as long as the control plane answers. A type that Envoy has not
 * requested in time is no longer in the mesh, and leaves the stored configuration.
 */
function keep(state: RelayState, event: Timed, wasAnswering: boolean, maxAge: number): Step {
  const envoy = leader(state);
  if (envoy?.node === undefined || envoy.isStored || maxAge === 0) return [state, []];
  const isAwaited = !wasAnswering || event.at - (envoy.begunAt ?? event.at) < typesAwaited;
  const awaited = (isAwaited ? state.good?.types.keys() : undefined) ?? [];
  const types = goodOf(envoy.subscriptions, state.good, awaited);
  if (types === undefined) return [state, []];
  const isConfirmed = wasAnswering && (event.type === 'lost' || event.type === 'confirmation-due');
  if (types === state.good?.types && !isConfirmed) return [state, []];
  const good: LastGood = { types, nodeId: envoy.node.id, confirmedAt: event.at };
  return [{ ...state, good, isGoodOffered: true }, [{ type: 'keep', good }]];
}

function withBegun(state: RelayState, now: number): RelayState {
  const streams = [...state.streams].map(
    ([number, stream]) => [number, begun(stream, now)] as const,
  );
  return { ...state, streams: new Map(streams) };
}

function begun(stream: EnvoyStream, now: number): EnvoyStream {
  const asksForBoth = mainTypes.every((typeUrl) => stream.subscriptions.has(typeUrl));
  return stream.begunAt !== undefined ||
    !asksForBoth ||
    goodOf(stream.subscriptions, undefined, []) === undefined
    ? stream
    : { ...stream, begunAt: now };
}
