import { current, type EnvoyStream, offered, type RelayEffect, type RelayState } from './relay-state.ts';
import { typeUrls, wildcard } from './resources.ts';
import { standing, type Subscription } from './subscription.ts';

/**
 * Gives each Envoy what is due to it. One that begins is given what is stored first, if that is for
 * its node. Pure.
 *
 * @param at ms since 1970
 * @param maxAge of what is stored, in ms
 */
export function push(state: RelayState, at: number, maxAge: number): readonly [RelayState, readonly RelayEffect[]] {
  const good = offered(state, at, maxAge);
  const isSaid = [typeUrls.clusters, typeUrls.listeners].every((typeUrl) => current(state, typeUrl) !== undefined);
  const effects: RelayEffect[] = [];
  const streams = [...state.streams].map(([number, before]): [number, EnvoyStream] => {
    const stored = !before.hasBegun && good?.nodeId === before.node?.id ? good?.types : undefined;
    let stream = before;
    for (const [typeUrl, subscription] of before.subscriptions) {
      const nonce = String(stream.pushes + 1);
      const now = current(state, typeUrl);
      const stands = standing(subscription, { stored: stored?.get(typeUrl), current: now }, nonce);
      if (stands.kind === 'settled' && subscription.refused !== undefined)
        stream = withSubscription(stream, typeUrl, { ...subscription, refused: undefined });
      if (stands.kind !== 'due') continue;
      const { version, removed, all, changed, isStored, subscription: given } = stands.due;
      stream = {
        ...withSubscription(stream, typeUrl, given),
        pushes: stream.pushes + 1,
        isStored: stream.isStored || (isStored && now === undefined),
      };
      // State of the world: who has asked for all is told all.
      const resources = stream.variant === 'state-of-the-world' && given.names.has(wildcard) ? all : changed;
      effects.push({
        type: 'push',
        stream: number,
        push: { typeUrl, version, nonce, resources, removed, controlPlane: state.connection.name },
      });
    }
    return [number, stream.isStored && isSaid ? { ...stream, isStored: false } : stream];
  });
  return [{ ...state, streams: new Map(streams) }, effects];
}

function withSubscription(stream: EnvoyStream, typeUrl: string, subscription: Subscription): EnvoyStream {
  return { ...stream, subscriptions: new Map(stream.subscriptions).set(typeUrl, subscription) };
}
