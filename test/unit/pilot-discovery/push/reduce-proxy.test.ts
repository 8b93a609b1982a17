import { describe, expect, it } from 'vitest';
import {
  type Answer,
  newProxyStream,
  type ProxyEffect,
  type ProxyEvent,
} from '../../../../src/pilot-discovery/push/proxy-stream.ts';
import { reduceProxy } from '../../../../src/pilot-discovery/push/reduce-proxy.ts';
import {
  type TypedView,
  typeUrls,
  type View,
  type XdsResource,
  type XdsType,
} from '../../../../src/pilot-discovery/push/view.ts';
import type { Unsent } from '../../../../src/pilot-discovery/push/unsent.ts';
import { secretTypeUrl } from '../../../../src/shared/xds/secret-names.ts';
import type { EnvoyRequest, Variant } from '../../../../src/shared/xds/messages.ts';
import { growthRatio } from '../../../support/growth-ratio.ts';

type Content = Readonly<Partial<Record<XdsType, Readonly<Record<string, string>>>>>;

function typed(content: Readonly<Record<string, string>> = {}): TypedView {
  const resources = Object.entries(content).map(([name, version]): XdsResource => {
    return { name, version, body: Buffer.from(version), keys: [`VirtualService/default/${name}`] };
  });
  return {
    version: JSON.stringify(content),
    resources: new Map(resources.map((resource) => [resource.name, resource])),
  };
}

const view = (content: Content, snapshot = 1): View => ({
  snapshot,
  cluster: typed(content.cluster),
  endpoint: typed(content.endpoint),
  listener: typed(content.listener),
  route: typed(content.route),
});

const node = { id: 'sidecar~10.0.0.1~a.b~c' } as NonNullable<EnvoyRequest['node']>;

/** Returns the stream of a proxy; each call returns the effects of its event. */
function stream(variant: Variant) {
  let state = newProxyStream(variant);
  const followed: (readonly string[])[] = [];
  const waits = new Map<string, Unsent | undefined>();
  const tell = (event: ProxyEvent): readonly ProxyEffect[] => {
    const [after, effects] = reduceProxy(state, event);
    state = after;
    for (const effect of effects) {
      if (effect.type === 'asked') followed.push([...effect.names]);
      if (effect.type === 'unsent') waits.set(effect.typeUrl, effect.waitsFor);
      if (effect.type === 'answer') waits.delete(effect.answer.typeUrl);
    }
    return effects.filter(({ type }) => type !== 'asked' && type !== 'unsent');
  };
  const ask = (
    type: string,
    more: Partial<Omit<EnvoyRequest, 'names'>> & {
      readonly add?: readonly string[];
      readonly remove?: readonly string[];
      readonly versions?: Readonly<Record<string, string>>;
      readonly version?: string;
    } = {},
  ) => {
    const { add = [], remove = [], versions = {}, version = '', ...rest } = more;
    const names: EnvoyRequest['names'] =
      variant === 'delta'
        ? { kind: 'change', add, remove, versions }
        : { kind: 'all', names: add, version };
    const typeUrl = type in typeUrls ? typeUrls[type as XdsType] : type;
    return tell({
      type: 'request',
      request: { node, typeUrl, nonce: '', refusal: undefined, names, ...rest },
    });
  };
  const show = (content: Content, snapshot = 1) =>
    tell({ type: 'view', view: view(content, snapshot) });
  const waitsFor = (type: XdsType) => waits.get(typeUrls[type]);
  return { ask, show, tell, followed, waitsFor };
}

const answers = (effects: readonly ProxyEffect[]): readonly Answer[] =>
  effects.flatMap((effect) => (effect.type === 'answer' ? [effect.answer] : []));
const answerOf = (effects: readonly ProxyEffect[]): Answer => {
  const [first, ...more] = answers(effects);
  if (first === undefined || more.length > 0)
    throw new Error(`one answer is expected: ${JSON.stringify(effects)}`);
  return first;
};
/** Returns `name=version` of each resource in an answer, and `-name` of each that it removes. */
const changesIn = ({ resources, removed }: Answer) => [
  ...resources.map(({ name, version }) => `${name}=${version}`),
  ...removed.map((name) => `-${name}`),
];
const variants: readonly Variant[] = ['delta', 'state-of-the-world'];

describe.each(variants)('reduceProxy, %s', (variant) => {
  it('answers nothing before there is something to answer, then all that was asked for', () => {
    const proxy = stream(variant);
    expect(proxy.ask('cluster')).toEqual([]);
    expect(changesIn(answerOf(proxy.show({ cluster: { a: '1', b: '1' } })))).toEqual([
      'a=1',
      'b=1',
    ]);
  });

  it('says which names are followed, when they change', () => {
    const proxy = stream(variant);
    proxy.show({ endpoint: { a: '1', b: '1' } });
    const { nonce } = answerOf(proxy.ask('endpoint', { add: ['a'] }));
    const names = variant === 'delta' ? [] : ['a'];
    proxy.ask('endpoint', { add: names, nonce });
    proxy.ask('endpoint', { add: [...names, 'b'] });
    expect(proxy.followed).toEqual([['a'], ['a', 'b']]);
  });

  it('has one answer of a type under way, and gives the newest when it is answered', () => {
    const proxy = stream(variant);
    proxy.show({ cluster: { a: '1' } });
    const { nonce } = answerOf(proxy.ask('cluster'));
    for (const version of ['2', '3', '4'])
      expect(proxy.show({ cluster: { a: version } }, Number(version))).toEqual([]);
    const effects = proxy.ask('cluster', { nonce });
    expect(effects[0]).toEqual({ type: 'accepted', typeUrl: typeUrls.cluster, nonce, snapshot: 1 });
    expect(changesIn(answerOf(effects))).toEqual(['a=4']);
  });

  it('says nothing of what has not changed', () => {
    const proxy = stream(variant);
    proxy.show({ cluster: { a: '1' } });
    const { nonce } = answerOf(proxy.ask('cluster'));
    proxy.ask('cluster', { nonce });
    expect(proxy.show({ cluster: { a: '1' }, listener: { l: '1' } }, 2)).toEqual([]);
  });

  it('answers endpoints by name, and none of a cluster that is not there', () => {
    const proxy = stream(variant);
    proxy.show({ endpoint: { a: '1', b: '1' } });
    expect(changesIn(answerOf(proxy.ask('endpoint', { add: ['a', 'x'] })))).toEqual([
      'a=1',
      'x=empty',
    ]);
  });

  it('empties endpoints that are gone, for a client that names them and takes no clusters', () => {
    const proxy = stream(variant);
    proxy.show({ endpoint: { a: '1', b: '1' } });
    const { nonce } = answerOf(proxy.ask('endpoint', { add: ['a', 'b'] }));
    const names = variant === 'delta' ? [] : ['a', 'b'];
    proxy.ask('endpoint', { add: names, nonce });
    expect(proxy.show({ endpoint: { a: '1' } }, 2)).toEqual([]);
    expect(proxy.waitsFor('endpoint')).toBe('introduction'); // it may take clusters later
    const emptied = answerOf(proxy.tell({ type: 'introduced' }));
    expect(changesIn(emptied)).toEqual(['b=empty']);
    proxy.ask('endpoint', { add: names, nonce: emptied.nonce });
    expect(proxy.show({ endpoint: { a: '1' }, cluster: { a: '1' } }, 3)).toEqual([]);
    const back = proxy.show({ endpoint: { a: '1', b: '2' } }, 4);
    expect(changesIn(answerOf(back))).toEqual(['b=2']);
  });

  it('says nothing of endpoints that are gone to a client that takes clusters', () => {
    const proxy = stream(variant);
    proxy.show({ cluster: { a: '1', b: '1' }, endpoint: { a: '1', b: '1' } });
    proxy.ask('cluster', { nonce: answerOf(proxy.ask('cluster')).nonce });
    const { nonce } = answerOf(proxy.ask('endpoint', { add: ['a', 'b'] }));
    proxy.ask('endpoint', { add: variant === 'delta' ? [] : ['a', 'b'], nonce });
    proxy.tell({ type: 'introduced' });
    const effects = proxy.show({ cluster: { a: '1' }, endpoint: { a: '1' } }, 2);
    expect(answers(effects).filter(({ typeUrl }) => typeUrl === typeUrls.endpoint)).toEqual([]);
  });

  it('removes clusters and listeners that are gone from a client that names them', () => {
    for (const type of ['cluster', 'listener'] as const) {
      const proxy = stream(variant);
      proxy.show({ [type]: { a: '1', b: '1' } });
      const { nonce } = answerOf(proxy.ask(type, { add: ['a', 'b'] }));
      const names = variant === 'delta' ? [] : ['a', 'b'];
      proxy.ask(type, { add: names, nonce });
      const first = answers(proxy.show({ [type]: { a: '1' } }, 2));
      const [removal] = first.length > 0 ? first : answers(proxy.tell({ type: 'introduced' }));
      expect(removal && changesIn(removal)).toEqual(variant === 'delta' ? ['-b'] : ['a=1']);
      proxy.ask(type, { add: names, nonce: removal?.nonce ?? '' });
      expect(answers(proxy.show({ [type]: { a: '1' }, endpoint: { c: '1' } }, 3))).toEqual([]);
      const back = proxy.show({ [type]: { a: '1', b: '2' } }, 4);
      expect(changesIn(answerOf(back))).toContain('b=2');
    }
  });

  it('takes an old nonce for no answer', () => {
    const proxy = stream(variant);
    proxy.show({ endpoint: { a: '1', b: '1' } });
    const first = answerOf(proxy.ask('endpoint', { add: ['a'] }));
    proxy.ask('endpoint', { nonce: first.nonce, add: variant === 'delta' ? [] : ['a'] });
    const second = answerOf(proxy.show({ endpoint: { a: '2', b: '1' } }, 2));
    expect(
      proxy.ask('endpoint', { nonce: first.nonce, add: variant === 'delta' ? ['b'] : ['a', 'b'] }),
    ).toEqual([]);
    const after = proxy.ask('endpoint', {
      nonce: second.nonce,
      add: variant === 'delta' ? [] : ['a', 'b'],
    });
    expect(changesIn(answerOf(after))).toEqual(['b=1']);
  });

  it('remembers what was refused, says what it is made of, and goes on with all else', () => {
    const proxy = stream(variant);
    proxy.show({ route: { '80': '1', '81': '1' } });
    const first = answerOf(proxy.ask('route', { add: ['80', '81'] }));
    proxy.ask('route', { nonce: first.nonce, add: variant === 'delta' ? [] : ['80', '81'] });
    const second = answerOf(proxy.show({ route: { '80': 'bad', '81': '2' } }, 2));
    expect(changesIn(second)).toEqual(['80=bad', '81=2']);
    const more = {
      nonce: second.nonce,
      add: variant === 'delta' ? [] : ['80', '81'],
      refusal: { code: 3, message: "route 80: no '%BAD%'" },
    };
    const [rejected, ...rest] = proxy.ask('route', more);
    expect(rejected).toMatchObject({
      type: 'rejected',
      reason: "route 80: no '%BAD%'",
      blamed: [{ name: '80', keys: ['VirtualService/default/80'] }],
    });
    expect(rest).toEqual([]);
    expect(changesIn(answerOf(proxy.show({ route: { '80': 'bad', '81': '3' } }, 3)))).toEqual([
      '81=3',
    ]);
  });

  it('gives nothing if what was refused becomes again what the proxy goes on with', () => {
    const proxy = stream(variant);
    proxy.show({ route: { '80': '1' } });
    const add = variant === 'delta' ? [] : ['80'];
    proxy.ask('route', { nonce: answerOf(proxy.ask('route', { add: ['80'] })).nonce, add });
    const { nonce } = answerOf(proxy.show({ route: { '80': '2' } }, 2));
    proxy.ask('route', { nonce, add, refusal: { code: 3, message: 'no' } });
    expect(answers(proxy.show({ route: { '80': '1' } }, 3))).toEqual([]);
  });

  it('gives what was refused again when it has changed', () => {
    const proxy = stream(variant);
    proxy.show({ route: { '80': 'bad' } });
    const first = answerOf(proxy.ask('route', { add: ['80'] }));
    proxy.ask('route', {
      nonce: first.nonce,
      add: variant === 'delta' ? [] : ['80'],
      refusal: { code: 3, message: 'no' },
    });
    expect(changesIn(answerOf(proxy.show({ route: { '80': 'good' } }, 2)))).toEqual(['80=good']);
  });

  it('answers a type that nobody serves by nothing, once', () => {
    const proxy = stream(variant);
    proxy.show({});
    const typeUrl = 'type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig';
    expect(proxy.ask(typeUrl)).toMatchObject([
      { type: 'unknown-type', typeUrl },
      { type: 'answer', answer: { typeUrl, resources: [] } },
    ]);
    expect(proxy.ask(typeUrl, { nonce: 'none' })).toEqual([]);
  });

  it.each([
    ['without a node id', { node: undefined }, 'shape', 'the first request has no node id'],
    [
      'for too many names',
      { add: Array.from({ length: 100_001 }, (_, index) => String(index)) },
      'limit',
      'it names 100001 resources, and the limit is 100000',
    ],
    [
      'with a node id of 30 MB',
      { node: { ...node, id: 'x'.repeat(30_000_000) } },
      'limit',
      'its type or node id has 30000000 characters, and the limit is 4096',
    ],
  ])('ends a stream whose first request is %s', (_, more, fault, reason) => {
    expect(stream(variant).ask('endpoint', more)).toEqual([{ type: 'end', fault, reason }]);
  });

  it('ends a stream that asks for more than 32 types that are not served', () => {
    const proxy = stream(variant);
    proxy.show({});
    const effectLists = Array.from({ length: 33 }, (_, index) => proxy.ask(`type-${index}`));
    expect(effectLists.slice(0, 32).every((effects) => answers(effects).length === 1)).toBe(true);
    expect(effectLists[32]).toEqual([
      { type: 'end', fault: 'limit', reason: 'it asks for more than 32 types that are not served' },
    ]);
  });

  const unknownNames = (count: number) =>
    Array.from({ length: count }, (_, index) => `outbound|${index}||none.example`);

  it('answers 100,000 names that nobody has, 10,000 at a time', () => {
    const proxy = stream(variant);
    proxy.show({ cluster: { a: '1' } });
    const add = unknownNames(100_000);
    const answeredNames: string[] = [];
    let [answer] = answers(proxy.ask('endpoint', { add }));
    while (answer !== undefined) {
      expect(answer.resources).toHaveLength(10_000);
      answeredNames.push(...answer.resources.map(({ name }) => name));
      const again = variant === 'delta' ? [] : add;
      [answer] = answers(proxy.ask('endpoint', { nonce: answer.nonce, add: again }));
    }
    expect(answeredNames).toEqual(add);
  });

  it('takes ten times as many unknown names for at most 20 times the CPU', () => {
    const askingFor = (count: number) => {
      const add = unknownNames(count);
      return () => {
        const proxy = stream(variant);
        proxy.show({ cluster: { a: '1' } });
        proxy.ask('endpoint', { add });
      };
    };
    expect(growthRatio(askingFor(10_000), askingFor(100_000), 20)).toBeLessThan(20);
  });

  it('gives the same answer, to the last byte of it, to another proxy that has the same', () => {
    const [first, other] = [stream(variant), stream(variant)];
    for (const proxy of [first, other]) proxy.show({ cluster: { a: '1' } });
    expect(answerOf(other.ask('cluster'))).toEqual(answerOf(first.ask('cluster')));
  });

  it('adds what comes before it takes what goes: a cluster leaves when its listeners and routes are accepted', () => {
    const proxy = stream(variant);
    const ack = (type: XdsType, { nonce }: Answer, add: readonly string[] = []) =>
      proxy.ask(type, { nonce, add: variant === 'delta' ? [] : add });
    proxy.show({
      cluster: { old: '1' },
      endpoint: { old: '1' },
      listener: { l: '1' },
      route: { r: 'old' },
    });
    ack('cluster', answerOf(proxy.ask('cluster')));
    ack('endpoint', answerOf(proxy.ask('endpoint', { add: ['old'] })), ['old']);
    ack('listener', answerOf(proxy.ask('listener')));
    ack('route', answerOf(proxy.ask('route', { add: ['r'] })), ['r']);

    const next = {
      cluster: { new: '1' },
      endpoint: { new: '1' },
      listener: { l: '1' },
      route: { r: 'new' },
    };
    const added = answerOf(proxy.show(next, 2));
    expect(changesIn(added)).toEqual(variant === 'delta' ? ['new=1'] : ['old=1', 'new=1']);
    // The rest waits for the endpoints of the new cluster.
    expect(ack('cluster', added).filter(({ type }) => type === 'answer')).toEqual([]);
    const assigned = answerOf(
      proxy.ask('endpoint', { add: variant === 'delta' ? ['new'] : ['old', 'new'] }),
    );
    expect(changesIn(assigned)).toEqual(['new=1']);
    const routed = answerOf(ack('endpoint', assigned, ['old', 'new']));
    expect([routed.typeUrl, ...changesIn(routed)]).toEqual([typeUrls.route, 'r=new']);
    const removed = answerOf(ack('route', routed, ['r']));
    expect([removed.typeUrl, ...changesIn(removed)]).toEqual([
      typeUrls.cluster,
      ...(variant === 'delta' ? ['-old'] : ['new=1']),
    ]);
  });

  it('follows a cluster that has changed by its endpoints, even if they are the same', () => {
    const proxy = stream(variant);
    proxy.show({ cluster: { a: '1' }, endpoint: { a: '1' } });
    proxy.ask('cluster', { nonce: answerOf(proxy.ask('cluster')).nonce });
    proxy.ask('endpoint', {
      nonce: answerOf(proxy.ask('endpoint', { add: ['a'] })).nonce,
      add: variant === 'delta' ? [] : ['a'],
    });
    const [clusters, endpoints] = answers(
      proxy.show({ cluster: { a: '2' }, endpoint: { a: '1' } }, 2),
    );
    expect([clusters?.typeUrl, endpoints?.typeUrl]).toEqual([typeUrls.cluster, typeUrls.endpoint]);
    expect(endpoints && changesIn(endpoints)).toEqual(['a=1']);
  });

  it('does not wait for endpoints for ever', () => {
    const proxy = stream(variant);
    proxy.show({ cluster: { a: '1' }, endpoint: { a: '1' }, route: { r: '1' } });
    proxy.ask('cluster', { nonce: answerOf(proxy.ask('cluster')).nonce });
    expect(proxy.ask('route', { add: ['r'] })).toEqual([]);
    expect(changesIn(answerOf(proxy.tell({ type: 'warmed' })))).toEqual(['r=1']);
  });

  it('does not wait for the endpoints of a cluster that is NACKed', () => {
    const proxy = stream(variant);
    const names = (...all: string[]) => ({ add: variant === 'delta' ? [] : all });
    const endpoint = { good: '1', wrong: '1' };
    proxy.show({ cluster: { good: '1', wrong: '1' }, endpoint, listener: { l: '1' } });
    const { nonce } = answerOf(proxy.ask('cluster'));
    proxy.ask('cluster', { nonce, refusal: { code: 13, message: 'cluster wrong is wrong' } });
    proxy.ask('listener');
    const endpoints = answerOf(proxy.ask('endpoint', { add: ['good'] }));
    const next = answers(proxy.ask('endpoint', { nonce: endpoints.nonce, ...names('good') }));
    expect(next.map(changesIn)).toEqual([['l=1']]);
  });

  it('says what waits, and for what: an answer in flight, clusters, endpoints', () => {
    const proxy = stream(variant);
    const names = (...all: string[]) => ({ add: variant === 'delta' ? [] : all });
    const content = { endpoint: { a: '1' }, listener: { l: '1' } };
    proxy.show({ ...content, cluster: { a: '1' } });
    const first = answerOf(proxy.ask('cluster'));
    expect(proxy.waitsFor('cluster')).toBeUndefined(); // nothing is newer than what is in flight
    proxy.show({ ...content, cluster: { a: '2' } }, 2);
    expect(proxy.waitsFor('cluster')).toBe('in flight');
    proxy.ask('listener');
    expect(proxy.waitsFor('listener')).toBe('clusters');
    const second = answerOf(proxy.ask('cluster', { nonce: first.nonce }));
    expect(proxy.waitsFor('cluster')).toBeUndefined();
    proxy.ask('cluster', { nonce: second.nonce });
    expect(proxy.waitsFor('listener')).toBe('endpoints');
    const endpoints = answerOf(proxy.ask('endpoint', { add: ['a'] }));
    const listeners = answerOf(proxy.ask('endpoint', { nonce: endpoints.nonce, ...names('a') }));
    expect([listeners.typeUrl, proxy.waitsFor('listener')]).toEqual([typeUrls.listener, undefined]);
  });

  it('says what waits, and for what: clusters that go for listeners and routes, and what was refused', () => {
    const proxy = stream(variant);
    const ack = (type: XdsType, { nonce }: Answer, more: object = {}) =>
      proxy.ask(type, {
        nonce,
        add: variant === 'delta' || type !== 'route' ? [] : ['r'],
        ...more,
      });
    const refusal = { code: 13, message: 'r is wrong' };
    proxy.show({ cluster: { old: '1' }, listener: { l: '1' }, route: { r: '1' } });
    ack('cluster', answerOf(proxy.ask('cluster')));
    const listeners = answerOf(proxy.ask('listener'));
    ack('route', answerOf(proxy.ask('route', { add: ['r'] })));
    const next = { cluster: { new: '1' }, listener: { l: '1' }, route: { r: '2' } };
    const [added] = answers(proxy.show(next, 2));
    const routes = answerOf(added === undefined ? [] : ack('cluster', added));
    expect(proxy.waitsFor('cluster')).toBe('listeners');
    ack('listener', listeners);
    expect(proxy.waitsFor('cluster')).toBe('routes');
    ack('route', routes, { refusal });
    expect([proxy.waitsFor('route'), proxy.waitsFor('cluster')]).toEqual(['NACKed', 'routes']);
    proxy.show({ ...next, route: { r: '3' } }, 3);
    expect(proxy.waitsFor('route')).toBeUndefined();
  });
});

describe('reduceProxy of a proxy that comes back', () => {
  it('sends nothing that it has, by the versions of what it has', () => {
    const proxy = stream('delta');
    proxy.show({ cluster: { a: '1', b: '2' }, endpoint: { a: '1' } });
    expect(
      changesIn(answerOf(proxy.ask('cluster', { add: ['*'], versions: { a: '1', b: '1' } }))),
    ).toEqual(['b=2']);
    expect(proxy.ask('endpoint', { add: ['a'], versions: { a: '1' } })).toEqual([]);
  });

  it('sends nothing that it has, by the version of all', () => {
    const proxy = stream('state-of-the-world');
    const content = { endpoint: { a: '1' }, route: { r: '1' } };
    proxy.show(content);
    expect(
      proxy.ask('endpoint', { add: ['a'], version: JSON.stringify(content.endpoint) }),
    ).toEqual([]);
    expect(changesIn(answerOf(proxy.ask('route', { add: ['r'], version: 'another' })))).toEqual([
      'r=1',
    ]);
  });

  it('sends endpoints that it waits for once the view has them again, even if they are the same', () => {
    const proxy = stream('delta');
    proxy.show({ cluster: { a: '1', b: '1' }, endpoint: { a: '1', b: '1' } });
    const clusters = answerOf(proxy.ask('cluster', { add: ['*'], versions: { a: '1', b: '1' } }));
    proxy.ask('endpoint', { add: ['a', 'b'], versions: { a: '1', b: '1' } });
    const endpoints = answerOf(
      proxy.show({ cluster: { a: '2', b: '1' }, endpoint: { a: '1', b: '2' } }, 2),
    );
    expect(changesIn(endpoints)).toEqual(['b=2']);
    const changed = answerOf(proxy.ask('cluster', { nonce: clusters.nonce }));
    expect(changesIn(changed)).toEqual(['a=2']);
    proxy.show({ cluster: { b: '1' }, endpoint: { b: '3' } }, 3);
    const others = answerOf(proxy.ask('endpoint', { nonce: endpoints.nonce }));
    expect(changesIn(others)).toEqual(['b=3']);
    proxy.ask('endpoint', { nonce: others.nonce });
    proxy.ask('cluster', { nonce: changed.nonce });
    const back = proxy.show({ cluster: { a: '2', b: '1' }, endpoint: { a: '1', b: '3' } }, 4);
    expect(answers(back).map(changesIn)).toContainEqual(['a=1']);
  });

  it('takes clusters that are gone only when it has asked for routes, or has had the time to', () => {
    const proxy = stream('delta');
    proxy.show({});
    const first = answerOf(proxy.ask('cluster', { add: ['*'], versions: { gone: '1' } }));
    expect(changesIn(first)).toEqual([]);
    expect(proxy.ask('cluster', { nonce: first.nonce })).toMatchObject([{ type: 'accepted' }]);
    expect(proxy.waitsFor('cluster')).toBe('introduction');
    expect(changesIn(answerOf(proxy.tell({ type: 'introduced' })))).toEqual(['-gone']);
    expect(proxy.waitsFor('cluster')).toBeUndefined();
  });
});

it.each([
  ['names that it wants no more', { add: [], remove: 100_001, versions: 0 }],
  ['names that it has', { add: [], remove: 0, versions: 100_001 }],
])('ends a stream that lists too many %s', (_, { remove, versions }) => {
  const names = (count: number) => Array.from({ length: count }, (__, index) => String(index));
  const proxy = stream('delta');
  const more = {
    remove: names(remove),
    versions: Object.fromEntries(names(versions).map((name) => [name, '1'])),
  };
  expect(proxy.ask('endpoint', more)).toEqual([
    { type: 'end', fault: 'limit', reason: 'it names 100001 resources, and the limit is 100000' },
  ]);
});

it('the nonces of two answers differ, whatever signs are in the names that a client asks for', () => {
  const nonceOf = (add: readonly string[]): string => {
    const { ask, show } = stream('delta');
    show({ route: { 80: '1' } });
    return answerOf(ask('route', { add })).nonce;
  };
  expect(nonceOf(['80', '81\n82'])).not.toBe(nonceOf(['80', '81', '82']));
});

describe.each(variants)('reduceProxy, secrets, %s', (variant) => {
  const names = ['kubernetes://a', 'kubernetes://b'];
  const secrets = (content: Readonly<Record<string, string>>): ProxyEvent => ({
    type: 'secrets',
    view: typed(content),
  });
  const askFor = (more: Partial<EnvoyRequest>): ProxyEvent => ({
    type: 'request',
    request: {
      ...{ node, typeUrl: secretTypeUrl, nonce: '', refusal: undefined },
      names:
        variant === 'delta'
          ? {
              kind: 'change',
              add: more.nonce === undefined ? [...names] : [],
              remove: [],
              versions: {},
            }
          : { kind: 'all', names: [...names], version: '' },
      ...more,
    },
  });
  const answersOf = (effects: readonly ProxyEffect[]) =>
    effects.flatMap((effect) =>
      effect.type === 'answer' ? [effect.answer.resources.map(({ version }) => version)] : [],
    );
  const run = () => {
    let state = newProxyStream(variant);
    let nonce = '';
    return (event: ProxyEvent) => {
      const [after, effects] = reduceProxy(state, event);
      state = after;
      for (const effect of effects) if (effect.type === 'answer') ({ nonce } = effect.answer);
      return { answers: answersOf(effects), effects, nonce };
    };
  };

  it('are sent as they come, those that differ, and are never taken away', () => {
    const tell = run();
    tell({ type: 'view', view: view({}) });
    const beginning = tell(askFor({}));
    expect(beginning.effects).toMatchObject([{ type: 'asked', names: new Set(names) }]);
    const first = tell(secrets({ 'kubernetes://a': 'A' }));
    expect(first.answers).toEqual([['A']]);
    expect(tell(secrets({ 'kubernetes://a': 'A', 'kubernetes://b': 'B' })).answers).toEqual([]);
    const second = tell(askFor({ nonce: first.nonce }));
    expect(second.answers).toEqual([['B']]);
    tell(askFor({ nonce: second.nonce }));
    expect(tell(secrets({ 'kubernetes://b': 'B' })).answers).toEqual([]);
    expect(tell(secrets({ 'kubernetes://b': 'B2' })).answers).toEqual([['B2']]);
  });

  it('wait for the first view, and end a stream that names too many', () => {
    const tell = run();
    tell(askFor({}));
    expect(tell(secrets({ 'kubernetes://a': 'A' })).answers).toEqual([]);
    expect(tell({ type: 'view', view: view({}) }).answers).toEqual([['A']]);
    const many = Array.from({ length: 1_001 }, (_, index) => `kubernetes://${index}`);
    const { effects } = tell(
      askFor({
        names:
          variant === 'delta'
            ? { kind: 'change', add: many, remove: [], versions: {} }
            : { kind: 'all', names: many, version: '' },
      }),
    );
    expect(effects).toMatchObject([{ type: 'end', fault: 'limit' }]);
  });
});
