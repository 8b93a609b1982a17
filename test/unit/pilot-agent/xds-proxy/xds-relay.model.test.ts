import { create } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  NodeSchema,
  type Resource,
} from '../../../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { Ask, EnvoyRequest, Push, Variant } from '../../../../src/shared/xds/messages.ts';
import {
  initialRelay,
  type RelayEffect,
  type RelayEvent,
  type RelayState,
} from '../../../../src/pilot-agent/xds-proxy/relay-state.ts';
import { relay } from '../../../../src/pilot-agent/xds-proxy/relay.ts';
import { typeUrls } from '../../../../src/shared/xds/resources.ts';
import { resource } from '../../../support/marbles/fake-mesh.ts';
import { modelRuns } from '../../../support/model-runs.ts';

/** The content of each cluster of the control plane, and of its endpoints. */
type World = Readonly<Record<string, { readonly cluster: number; readonly endpoints: number }>>;

type Happening =
  | { readonly type: 'change'; readonly world: World }
  | { readonly type: 'lose' }
  | { readonly type: 'come' }
  | { readonly type: 'go'; readonly which: number };

const { clusters, endpoints, listeners } = typeUrls;
const step = relay(60_000);
const limit = 5_000;

/** The resources of an Envoy, and the clusters that wait for their endpoints since they changed. */
interface Envoy {
  readonly has: Map<string, string>;
  readonly waits: Set<string>;
  named: readonly string[];
}

/**
 * Runs the relay between a control plane and Envoys of one variant, at rest after each happening.
 */
function mesh(variant: Variant) {
  let state: RelayState = initialRelay;
  let world: World = {};
  let streams = 0;
  let nonces = 0;
  const queue: RelayEvent[] = [];
  const envoys = new Map<number, Envoy>();
  const subscribed = new Map<string, ReadonlySet<string>>();

  const content = (typeUrl: string, name: string): Resource | undefined => {
    const service = world[name];
    if (typeUrl === listeners) return name === 'l' ? resource('l', 'l') : undefined;
    return (
      service &&
      resource(name, `${name} ${typeUrl === clusters ? service.cluster : service.endpoints}`)
    );
  };
  const answer = (typeUrl: string): void => {
    const wanted = subscribed.get(typeUrl) ?? new Set();
    const all = typeUrl === listeners ? ['l'] : Object.keys(world);
    const resources = all
      .filter((name) => wanted.has('*') || wanted.has(name))
      .flatMap((name) => content(typeUrl, name) ?? []);
    const isWhole = variant === 'state-of-the-world' && typeUrl !== endpoints;
    const newestNames = [...(state.newest.get(typeUrl)?.resources.keys() ?? [])];
    const removed =
      isWhole || variant !== 'delta'
        ? []
        : newestNames.filter((name) => content(typeUrl, name) === undefined);
    const update = {
      typeUrl,
      version: '',
      nonce: String(++nonces),
      resources,
      removed,
      isWhole,
      controlPlane: '',
    };
    queue.push({ type: 'updated', connection: state.connection.number, update });
  };
  const hear = ({ typeUrl, names, nonce, add }: Ask): void => {
    subscribed.set(typeUrl, names);
    if (nonce === '' || add.length > 0) answer(typeUrl);
  };
  const ask = (
    stream: number,
    typeUrl: string,
    nonce: string,
    add: readonly string[] = [],
    remove: readonly string[] = [],
  ): void => {
    const all = typeUrl === endpoints ? (envoys.get(stream)?.named ?? []) : [];
    const names: EnvoyRequest['names'] =
      variant === 'delta'
        ? { kind: 'change', add, remove, versions: {} }
        : { kind: 'all', names: all, version: '' };
    queue.push({
      type: 'requested',
      stream,
      request: {
        node: create(NodeSchema, { id: 'node' }),
        typeUrl,
        nonce,
        refusal: undefined,
        names,
      },
    });
  };
  const take = (stream: number, { typeUrl, nonce, resources, removed }: Push): void => {
    const envoy = envoys.get(stream);
    if (envoy === undefined) return;
    const key = (name: string) => `${typeUrl} ${name}`;
    for (const { name, version } of resources) {
      // Envoy has left it since.
      if (typeUrl === endpoints && !envoy.named.includes(name)) continue;
      if (typeUrl === clusters && envoy.has.get(key(name)) !== version) envoy.waits.add(name);
      if (typeUrl === endpoints) envoy.waits.delete(name);
      envoy.has.set(key(name), version);
    }
    const names = resources.map(({ name }) => name);
    const gone = [...envoy.has.keys()]
      .flatMap((each) => (each.startsWith(`${clusters} `) ? [each.slice(clusters.length + 1)] : []))
      .filter((name) => !names.includes(name));
    const lost = variant === 'delta' || typeUrl !== clusters ? removed : gone;
    for (const name of lost) {
      envoy.has.delete(key(name));
      if (typeUrl === clusters) envoy.waits.delete(name);
    }
    if (typeUrl === clusters) {
      const before = envoy.named;
      envoy.named = [...new Set([...before, ...names])].filter((name) => !lost.includes(name));
      for (const name of lost) envoy.has.delete(`${endpoints} ${name}`);
      const [add, remove] = [
        envoy.named.filter((name) => !before.includes(name)),
        before.filter((name) => !envoy.named.includes(name)),
      ];
      ask(stream, typeUrl, nonce);
      if (add.length + remove.length > 0)
        ask(stream, endpoints, before.length === 0 ? '' : '-1', add, remove);
    } else ask(stream, typeUrl, nonce);
  };
  const act = (effect: RelayEffect): void => {
    if (effect.type === 'push') take(effect.stream, effect.push);
    if (effect.type === 'ask' && effect.connection === state.connection.number) hear(effect.ask);
    if (effect.type === 'connect') {
      subscribed.clear();
      queue.push({ type: 'opened', connection: effect.connection });
    }
  };
  const settle = (): void => {
    for (let turns = 0; queue.length > 0; turns++) {
      if (turns > limit) throw new Error('it does not come to rest');
      const event = queue.shift();
      if (event === undefined) return;
      const [next, effects] = step(state, { ...event, at: 0 });
      state = next;
      effects.forEach(act);
    }
  };
  return {
    happen: (happening: Happening): void => {
      if (happening.type === 'change') {
        world = happening.world;
        for (const typeUrl of subscribed.keys()) answer(typeUrl);
      }
      if (happening.type === 'lose')
        queue.push({ type: 'lost', connection: state.connection.number, reason: 'it is gone' });
      if (happening.type === 'come') {
        envoys.set(++streams, { has: new Map(), waits: new Set(), named: [] });
        queue.push({ type: 'stream-opened', stream: streams, variant });
        ask(streams, clusters, '');
        ask(streams, listeners, '');
      }
      if (happening.type === 'go') {
        const stream = [...envoys.keys()][happening.which % Math.max(envoys.size, 1)];
        if (stream === undefined) return;
        envoys.delete(stream);
        queue.push({ type: 'stream-closed', stream });
      }
      settle();
    },
    wanted: () =>
      Object.entries(world)
        .flatMap(([name, service]) => [
          `${clusters} ${name} ${name} ${service.cluster}`,
          `${endpoints} ${name} ${name} ${service.endpoints}`,
        ])
        .sort(),
    envoys: () =>
      [...envoys.values()].map(({ has, waits }) => ({
        has: [...has]
          .filter(([key]) => !key.startsWith(listeners))
          .map(([key, value]) => `${key} ${value}`)
          .sort(),
        waits: [...waits],
      })),
  };
}

const number = fc.integer({ min: 1, max: 3 });
const world = fc.dictionary(
  fc.constantFrom('a', 'b', 'c'),
  fc.record({ cluster: number, endpoints: number }),
  { maxKeys: 3 },
);
const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 4,
    arbitrary: world.map((newWorld): Happening => ({ type: 'change', world: newWorld })),
  },
  { weight: 1, arbitrary: fc.constant<Happening>({ type: 'lose' }) },
  { weight: 2, arbitrary: fc.constant<Happening>({ type: 'come' }) },
  { weight: 1, arbitrary: fc.nat(3).map((which): Happening => ({ type: 'go', which })) },
);

describe('the xDS proxy, whatever happens', () => {
  it.each<Variant>(['state-of-the-world', 'delta'])(
    'comes to rest, and each Envoy then has what the control plane says (%s)',
    (variant) => {
      fc.assert(
        fc.property(fc.array(happening, { maxLength: 25 }), (happenings) => {
          const { happen, wanted, envoys } = mesh(variant);
          for (const each of happenings) {
            happen(each);
            for (const envoy of envoys()) expect(envoy).toEqual({ has: wanted(), waits: [] });
          }
        }),
        { numRuns: modelRuns(300) },
      );
    },
  );
});
