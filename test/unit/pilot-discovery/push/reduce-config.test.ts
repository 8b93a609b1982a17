import { describe, expect, it } from 'vitest';
import { newConfigStream } from '../../../../src/pilot-discovery/push/config-stream.ts';
import type { ConfigView } from '../../../../src/pilot-discovery/push/config-view.ts';
import type { Answer, ProxyEffect } from '../../../../src/pilot-discovery/push/proxy-stream.ts';
import {
  type CallEffect,
  type CallEvent,
  newCall,
  reduceCall,
} from '../../../../src/pilot-discovery/push/reduce-call.ts';
import {
  type ReaderEvent,
  reduceConfig,
} from '../../../../src/pilot-discovery/push/reduce-config.ts';
import { secretTypeUrl } from '../../../../src/shared/xds/secret-names.ts';
import type { EnvoyRequest, Variant } from '../../../../src/shared/xds/messages.ts';

const [kind, other] = ['networking.istio.io/v1/Sidecar', 'networking.istio.io/v1/Gateway'];

/** Returns a view with these versions of `ns/a` and so on. */
const viewOf = (snapshot: number, versions: Readonly<Record<string, string>>): ConfigView => {
  const resources = Object.entries(versions).map(([name, version]) => {
    const full = `ns/${name}`;
    return [full, { name: full, version, body: Buffer.from(version), keys: [] }] as const;
  });
  const nothing = { version: '', resources: new Map() };
  return {
    snapshot,
    types: new Map([
      [kind, { version: JSON.stringify(versions), resources: new Map(resources) }],
      [other, nothing],
    ]),
  };
};

/** Connects a client, whose requests return the answers as texts. */
function client(variant: Variant) {
  let state = newConfigStream(variant);
  let nonce = '';
  const effects: ProxyEffect[] = [];
  const take = (event: ReaderEvent): readonly string[] => {
    const [after, more] = reduceConfig(state, event);
    state = after;
    effects.push(...more);
    return more.flatMap((effect) => {
      if (effect.type === 'answer') {
        ({ nonce } = effect.answer);
        return [textOf(effect.answer)];
      }
      if (effect.type === 'unsent') return [`unsent: ${effect.waitsFor ?? 'nothing'}`];
      return effect.type === 'end' ? [`${effect.fault}: ${effect.reason}`] : [];
    });
  };
  const ask = (
    typeUrl: string,
    { ack = '', refusal }: { ack?: string; refusal?: string } = {},
    names: readonly string[] = [],
  ) => {
    const request: EnvoyRequest = {
      ...{ node: undefined, typeUrl, nonce: ack },
      refusal: refusal === undefined ? undefined : { code: 3, message: refusal },
      names:
        variant === 'delta'
          ? { kind: 'change', add: names, remove: [], versions: {} }
          : { kind: 'all', names, version: '' },
    };
    return take({ type: 'request', request });
  };
  /** Returns the names for a request that subscribes to nothing new. */
  const unchanged = (names: readonly string[]) => (variant === 'delta' ? [] : names);
  return {
    effects,
    ask,
    ack: () => ask(kind, { ack: nonce }),
    ackNames: (...names: readonly string[]) => ask(kind, { ack: nonce }, unchanged(names)),
    nack: (refusal: string, names: readonly string[] = []) =>
      ask(kind, { ack: nonce, refusal }, unchanged(names)),
    view: (snapshot: number, versions: Readonly<Record<string, string>>) =>
      take({ type: 'config', view: viewOf(snapshot, versions) }),
  };
}

const textOf = ({ resources, removed, purpose }: Answer): string =>
  [
    purpose,
    ...resources.map(({ name, version }) => `${name}=${version}`),
    ...removed.map((name) => `-${name}`),
  ].join(' ');

describe('a control plane that reads resources of Istio', () => {
  it('gets all of a kind at once, and again all of it after a change', () => {
    const { ask, ack, view } = client('state-of-the-world');
    expect(view(1, { a: '1', b: '1' })).toEqual([]);
    expect(ask(kind)).toEqual(['first ns/a=1 ns/b=1']);
    expect(ack()).toEqual([]);
    expect(view(2, { a: '1', b: '2' })).toEqual(['change ns/a=1 ns/b=2']);
    expect(ack()).toEqual([]);
    expect(view(3, { b: '2' })).toEqual(['change ns/b=2']);
    expect(ack()).toEqual([]);
    expect(view(4, {})).toEqual(['change']);
  });

  it('gets what has changed in the delta variant, and the names of what is gone', () => {
    const { ask, ack, view } = client('delta');
    view(1, { a: '1', b: '1' });
    expect(ask(kind)).toEqual(['first ns/a=1 ns/b=1']);
    ack();
    expect(view(2, { a: '2', c: '1' })).toEqual(['change ns/a=2 ns/c=1 -ns/b']);
    ack();
    expect(view(3, { a: '2', c: '1' })).toEqual([]);
  });

  it('gets those that it names in the delta variant, or that there are none', () => {
    const { ask, view } = client('delta');
    view(1, { a: '1', b: '1' });
    expect(ask(kind, {}, ['ns/b', 'ns/x'])).toEqual(['first ns/b=1 -ns/x']);
  });

  it.each<[Variant, gone: string, again: string]>([
    ['delta', 'change -ns/b', 'change ns/b=2'],
    ['state-of-the-world', 'change ns/a=1', 'change ns/a=1 ns/b=2'],
  ])('learns that a resource is gone that it names, once, %s', (variant, gone, again) => {
    const { ask, ackNames, nack, view } = client(variant);
    view(1, { a: '1', b: '1' });
    ask(kind, {}, ['ns/a', 'ns/b']);
    expect(ackNames('ns/a', 'ns/b')).toEqual([]);
    expect(view(2, { a: '1' })).toEqual([gone]);
    expect(ackNames('ns/a', 'ns/b')).toEqual([]);
    expect(view(3, { a: '1', c: '1' })).toEqual([]);
    expect(view(4, { a: '1', b: '2' })).toEqual([again]);
    ackNames('ns/a', 'ns/b');
    expect(view(5, { a: '1' })).toEqual([gone]);
    expect(nack('no', ['ns/a', 'ns/b'])).toEqual([]);
  });

  it('is answered if there is nothing: so it knows that', () => {
    const { ask, view } = client('state-of-the-world');
    view(1, {});
    expect(ask(kind)).toEqual(['first']);
    expect(ask(other)).toEqual(['first']);
  });

  it('is answered once about a type that is not served, as istiod expects', () => {
    const { ask, view } = client('state-of-the-world');
    view(1, {});
    expect(ask('core/v1alpha1/MeshConfig')).toEqual(['first']);
    expect(ask('core/v1alpha1/MeshConfig', { ack: 'none' })).toEqual([]);
  });

  it('waits for the first view, and then gets everything that it has asked for', () => {
    const { ask, view } = client('state-of-the-world');
    expect(ask(kind)).toEqual([]);
    expect(ask('core/v1alpha1/MeshConfig')).toEqual([]);
    expect(view(1, { a: '1' })).toEqual(['first ns/a=1', 'first']);
  });

  it('may say a nonce in its first request, as istiod does', () => {
    const { ask, view } = client('state-of-the-world');
    view(1, { a: '1' });
    expect(ask(kind, { ack: '2026-11-27 06:37:15' })).toEqual(['first ns/a=1']);
  });

  it('has one answer in flight, and says so', () => {
    const { ask, ack, view } = client('state-of-the-world');
    view(1, { a: '1' });
    ask(kind);
    expect(view(2, { a: '2' })).toEqual(['unsent: in flight']);
    expect(view(3, { a: '3' })).toEqual([]);
    expect(ack()).toEqual(['change ns/a=3']);
  });

  it('gets nothing after a NACK until something changes, and then all of it', () => {
    const { ask, nack, view } = client('state-of-the-world');
    view(1, { a: '1', b: '1' });
    ask(kind);
    expect(nack('ns/a cannot be decoded')).toEqual(['unsent: NACKed']);
    expect(view(2, { a: '1', b: '1' })).toEqual([]);
    expect(view(3, { a: '1', b: '2' })).toEqual(['first ns/a=1 ns/b=2']);
  });

  it('gets no secrets', () => {
    const { ask, view, effects } = client('state-of-the-world');
    view(1, {});
    expect(ask(secretTypeUrl, {}, ['kubernetes://a'])).toEqual([
      'shape: a control plane gets no secrets',
    ]);
    expect(effects.map(({ type }) => type)).toEqual(['end']);
  });

  it('sends at most 64 requests before the first answer', () => {
    const { ask } = client('state-of-the-world');
    for (let index = 0; index < 64; index += 1) expect(ask(`type ${index}`)).toEqual([]);
    expect(ask('one more')).toEqual([
      'limit: it sends more than 64 requests before the first answer',
    ]);
  });

  it('is known by its first node, and gets nothing of a proxy', () => {
    const request = (metadata: Readonly<Record<string, string>>, typeUrl: string): CallEvent => ({
      type: 'request',
      request: {
        ...{ typeUrl, nonce: '', refusal: undefined },
        node: { id: 'sidecar~1~a.b~c', metadata } as unknown as EnvoyRequest['node'],
        names: { kind: 'all', names: [], version: '' },
      },
    });
    const run = (...events: readonly CallEvent[]): readonly CallEffect[] =>
      events.reduce<readonly [ReturnType<typeof newCall>, readonly CallEffect[]]>(
        ([state, effects], event) => {
          const [after, more] = reduceCall(state, event);
          return [after, [...effects, ...more]];
        },
        [newCall('state-of-the-world'), []],
      )[1];
    const config: CallEvent = { type: 'config', view: viewOf(1, { a: '1' }) };
    const answers = (effects: readonly CallEffect[]) =>
      effects.flatMap((effect) =>
        effect.type === 'answer' ? [effect.answer.resources.length] : [],
      );
    expect(answers(run(request({ GENERATOR: 'api' }, kind), config))).toEqual([1]);
    expect(answers(run(request({}, kind), config))).toEqual([0]);
    expect(
      answers(run(request({}, kind), request({ GENERATOR: 'api' }, kind), config)),
      'a proxy stays one',
    ).toEqual([0]);
    const secrets = { type: 'secrets', view: { version: '', resources: new Map() } } as const;
    expect(run(request({ GENERATOR: 'api' }, kind), secrets, { type: 'warmed' })).toEqual([]);
  });
});
