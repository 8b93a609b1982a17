import {
  current,
  type EnvoyStream,
  offered,
  type RelayEffect,
  type RelayState,
} from './relay-state.ts';
import { mainTypes, typeUrls } from '../../shared/xds/resources.ts';
import { stepSubscription } from './step-subscription.ts';
import type { EnvoySubscription } from './envoy-subscription.ts';
import { ownMember } from '../../shared/text/own-member.ts';

/**
 * The types that Envoy waits for after a resource of another type changed, even if it already has
 * them: Envoy uses a changed cluster only after it receives its endpoints again. See
 * https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol#resource-warming
 */
const dependents: Readonly<Record<string, readonly string[]>> = {
  [typeUrls.clusters]: [typeUrls.endpoints],
  [typeUrls.listeners]: [typeUrls.routes, typeUrls['scoped routes'], typeUrls.extensions],
};

/**
 * Sends each Envoy what it lacks. A new Envoy gets the stored configuration first, if that is for
 * its node. Pure.
 *
 * @param now ms since 1970
 * @param maxAge the age limit of the stored configuration, in ms
 */
export function push(
  state: RelayState,
  now: number,
  maxAge: number,
): readonly [RelayState, readonly RelayEffect[]] {
  const good = offered(state, now, maxAge);
  const isSaid = mainTypes.every((typeUrl) => current(state, typeUrl) !== undefined);
  const effects: RelayEffect[] = [];
  const streams = [...state.streams].map(([number, before]): [number, EnvoyStream] => {
    const isNew = before.begunAt === undefined;
    const stored = isNew && good?.nodeId === before.node?.id ? good?.types : undefined;
    let stream = before;
    for (const typeUrl of before.subscriptions.keys()) {
      const subscription = stream.subscriptions.get(typeUrl);
      if (subscription === undefined) continue;
      const nonce = String(stream.pushes + 1);
      const latest = current(state, typeUrl);
      const origins = { stored: stored?.get(typeUrl), current: latest };
      const [after, [outcome]] = stepSubscription(subscription, {
        ...{ type: 'offer', source: origins },
        context: { nonce, origins },
      });
      if (after !== subscription) stream = withSubscription(stream, typeUrl, after);
      if (outcome?.type !== 'answer') continue;
      const { version, removed, all, changed, isStored } = outcome.message;
      stream = {
        ...(changed.length === 0 ? stream : withoutDependents(stream, typeUrl)),
        pushes: stream.pushes + 1,
        isStored: stream.isStored || (isStored && latest === undefined),
      };
      // State of the world: a client that wants all gets all.
      const resources =
        stream.variant === 'state-of-the-world' && subscription.wildcard ? all() : changed;
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
    ([type, subscription]) =>
      [type, waiting.includes(type) ? givenAgain(subscription) : subscription] as const,
  );
  return { ...stream, subscriptions: new Map(entries) };
}

function givenAgain(subscription: EnvoySubscription): EnvoySubscription {
  const names = subscription.clientResources.keys();
  return stepSubscription(subscription, { type: 'again', names })[0];
}

function withSubscription(
  stream: EnvoyStream,
  typeUrl: string,
  subscription: EnvoySubscription,
): EnvoyStream {
  return { ...stream, subscriptions: new Map(stream.subscriptions).set(typeUrl, subscription) };
}
