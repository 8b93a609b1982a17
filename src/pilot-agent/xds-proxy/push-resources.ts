import {
  current,
  type EnvoyStream,
  offered,
  type RelayEffect,
  type RelayState,
} from './relay-state.ts';
import { mainTypes, typeUrls, wildcard } from '../../shared/xds/resources.ts';
import { forgotten, standing, type Subscription } from './subscription.ts';
import { ownMember } from '../../shared/text/own-member.ts';

/**
 * What Envoy waits for when it has been given a changed resource of a type, though it has it
 * already: a changed cluster is not in force before its endpoints have come again. See
 * https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol#resource-warming
 */
const dependents: Readonly<Record<string, readonly string[]>> = {
  [typeUrls.clusters]: [typeUrls.endpoints],
  [typeUrls.listeners]: [typeUrls.routes, typeUrls['scoped routes'], typeUrls.extensions],
};

/**
 * Gives each Envoy what is due to it. One that begins is given what is stored first, if that is for
 * its node. Pure.
 *
 * @param at ms since 1970
 * @param maxAge of what is stored, in ms
 */
export function push(
  state: RelayState,
  at: number,
  maxAge: number,
): readonly [RelayState, readonly RelayEffect[]] {
  const good = offered(state, at, maxAge);
  const isSaid = mainTypes.every((typeUrl) => current(state, typeUrl) !== undefined);
  const effects: RelayEffect[] = [];
  const streams = [...state.streams].map(([number, before]): [number, EnvoyStream] => {
    const stored = !before.hasBegun && good?.nodeId === before.node?.id ? good?.types : undefined;
    let stream = before;
    for (const typeUrl of before.subscriptions.keys()) {
      const subscription = stream.subscriptions.get(typeUrl);
      if (subscription === undefined) continue;
      const nonce = String(stream.pushes + 1);
      const now = current(state, typeUrl);
      const stands = standing(subscription, { stored: stored?.get(typeUrl), current: now }, nonce);
      if (stands.kind === 'settled' && subscription.refused !== undefined)
        stream = withSubscription(stream, typeUrl, { ...subscription, refused: undefined });
      if (stands.kind !== 'due') continue;
      const { version, removed, all, changed, isStored, subscription: given } = stands.due;
      stream = {
        ...withSubscription(
          changed.length === 0 ? stream : withoutDependents(stream, typeUrl),
          typeUrl,
          given,
        ),
        pushes: stream.pushes + 1,
        isStored: stream.isStored || (isStored && now === undefined),
      };
      // State of the world: who has asked for all is told all.
      const resources =
        stream.variant === 'state-of-the-world' && given.names.has(wildcard) ? all() : changed;
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

function withoutDependents(stream: EnvoyStream, typeUrl: string): EnvoyStream {
  const waiting = ownMember(dependents, typeUrl) ?? [];
  const entries = [...stream.subscriptions].map(
    ([type, each]) => [type, waiting.includes(type) ? forgotten(each) : each] as const,
  );
  return { ...stream, subscriptions: new Map(entries) };
}

function withSubscription(
  stream: EnvoyStream,
  typeUrl: string,
  subscription: Subscription,
): EnvoyStream {
  return { ...stream, subscriptions: new Map(stream.subscriptions).set(typeUrl, subscription) };
}
