import { concat, defer, EMPTY, map, NEVER, type Observable, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { KubeApi, WatchSign } from '../../src/shared/kube/kube-api.ts';
import type { KubeObject } from '../../src/shared/kube/kube-object.ts';
import { contentHash } from '../../src/pilot-agent/sources/contribution.ts';
import { kubeFrom, type KubeOptions, type KubeTarget } from '../../src/pilot-agent/sources/kube.ts';
import { marbles } from '../support/marbles/marbles.ts';

const secret = (version: string, data: object, more: object = {}): KubeObject => ({
  metadata: { name: 'front', namespace: 'ns', resourceVersion: version },
  data,
  ...more,
});
const watchEvent = (type: string, about: KubeObject): WatchSign => ({
  type: 'event',
  value: { type, object: about },
});

/** Returns an API with at most one object, whose changes a watch reports. */
function apiOf(first: KubeObject | undefined, watch$: Observable<WatchSign> = NEVER): KubeApi {
  const resources = ['Secret', 'ConfigMap', 'Gateway'].map((kind) => ({
    kind,
    name: `${kind.toLowerCase()}s`,
    namespaced: true,
  }));
  return {
    get: (path) =>
      of({
        ok: true,
        value: path.includes('?')
          ? { metadata: { resourceVersion: '1' }, items: first === undefined ? [] : [first] }
          : { resources, preferredVersion: { version: 'v1' } },
      }),
    watch: () => defer(() => concat(of<WatchSign>({ type: 'opened' }), watch$)),
  };
}
const target: KubeTarget = { resource: 'Secret', namespace: 'ns', object: 'front' };
function sourceOf(api: KubeApi, options: KubeOptions = {}, more: Partial<KubeTarget> = {}) {
  return kubeFrom(api, { ...target, ...more }, { random: () => 0.5, ...options });
}
/** Emits each sign of a source as text: `= …` is the hash of the content, `! …` a failure. */
function inWords(source: ReturnType<typeof sourceOf>): Observable<string> {
  return source.changes$.pipe(
    map((sign) => {
      if (sign.type === 'source-unreadable') return `! ${sign.reason}`;
      return sign.type === 'source-read' ? `= ${sign.hash.slice(0, 6)}` : sign.type;
    }),
  );
}
const hashOf = (content: object | string) => `= ${contentHash(content).slice(0, 6)}`;
const key = Buffer.from('key');
const failure = { reason: 'connection refused', status: undefined, pause: 0 };

describe('an object of Kubernetes as a source', () => {
  it(
    'is read when it is listed, and at each change; a state that is told again is not read again',
    marbles((m) => {
      const watch$ = m.cold('1s a 999ms a 999ms b', {
        a: watchEvent('MODIFIED', secret('2', { key })),
        b: watchEvent('MODIFIED', secret('3', { key, more: key })),
      });
      m.expectObservable(inWords(sourceOf(apiOf(secret('1', {}), watch$))), '^ 5s !').toBe(
        '(rec) 995ms (kc) 1996ms (lc)',
        {
          ...{
            r: 'ready',
            e: hashOf({}),
            c: 'changed',
            k: hashOf({ key }),
            l: hashOf({ key, more: key }),
          },
        },
      );
    }),
  );

  it(
    'that is not there is told, and read at once when it comes; one that goes is told, and kept',
    marbles((m) => {
      const watch$ = m.cold('500ms a 999ms d', {
        a: watchEvent('ADDED', secret('2', { key })),
        d: watchEvent('DELETED', secret('3', { key })),
      });
      const source = sourceOf(apiOf(undefined, watch$), {
        pauses: { first: 60_000, longest: 60_000 },
      });
      m.expectObservable(inWords(source), '^ 5s !').toBe('(rn) 496ms (kc) 996ms n', {
        ...{ r: 'ready', n: '! Secret/ns/front is not there', k: hashOf({ key }), c: 'changed' },
      });
      m.expectObservable(source.reading$.pipe(map(({ hash }) => hash)), '4s ^ 500ms !').toBe(
        '4s (h|)',
        { h: contentHash({ key }) },
      );
    }),
  );

  it(
    'is read again after an outage, if it has other content by the same version',
    marbles((m) => {
      const contents = [secret('7', { key }), secret('7', { key, more: key })];
      const api = apiOf(undefined);
      const restored: KubeApi = {
        get: (path) =>
          path.includes('?')
            ? of({
                ok: true,
                value: { metadata: { resourceVersion: '7' }, items: [contents.shift()] },
              })
            : api.get(path),
        watch: () =>
          contents.length === 0
            ? NEVER
            : m.cold('1s (l|)', { l: { type: 'refused', failure } satisfies WatchSign }),
      };
      const source = sourceOf(restored, { pauses: { first: 60_000, longest: 60_000 } });
      m.expectObservable(inWords(source), '^ 9s !').toBe('(rkc) 995ms n 999ms (lc)', {
        ...{ r: 'ready', c: 'changed', n: '! connection refused' },
        ...{ k: hashOf({ key }), l: hashOf({ key, more: key }) },
      });
    }),
  );

  it(
    'that cannot be read is told, and read again at once when the API answers',
    marbles((m) => {
      const object = secret('1', { key });
      let away = true;
      const api = apiOf(object);
      const down: KubeApi = {
        ...api,
        get: (path) =>
          away
            ? of({
                ok: false,
                failure: { reason: 'connection refused', status: undefined, pause: 0 },
              })
            : api.get(path),
      };
      const back$ = m.cold('1500ms x').pipe(map(() => (away = false)));
      const source = sourceOf(down, { pauses: { first: 60_000, longest: 60_000 } });
      m.expectObservable(back$);
      m.expectObservable(inWords(source), '^ 9s !').toBe('(rn) 2996ms (kc)', {
        r: 'ready',
        n: '! connection refused',
        k: hashOf({ key }),
        c: 'changed',
      });
    }),
  );

  it.each<
    [
      what: string,
      object: KubeObject,
      more: Partial<KubeTarget>,
      options: KubeOptions,
      expected: unknown,
    ]
  >([
    ['the data of a Secret, as bytes', secret('1', { key }), {}, { as: 'secret' }, { key }],
    ['one key', secret('1', { a: key, b: Buffer.of(1) }), {}, { key: 'a' }, key],
    ['the only key, for Envoy', secret('1', { 'envoy.yaml': 'x' }), {}, { as: 'envoy' }, 'x'],
    [
      'ConfigMap: texts and bytes',
      secret('1', { a: 'x' }, { binaryData: { b: 'AQ==' } }),
      { resource: 'ConfigMap' },
      {},
      { a: 'x', b: Buffer.of(1) },
    ],
    [
      'the spec of a custom resource',
      { ...secret('1', {}), data: undefined, spec: { hosts: ['*'] }, status: { a: 1 } },
      { resource: 'Gateway.networking.istio.io' },
      {},
      { hosts: ['*'] },
    ],
    [
      'what a user has said',
      { metadata: { name: 'front', resourceVersion: '1' }, roots: [1], status: {} },
      { resource: 'Gateway.networking.istio.io' },
      {},
      { roots: [1] },
    ],
  ])('gives %s', (_, object, more, options, expected) =>
    marbles((m) => {
      const content$ = sourceOf(apiOf(object), options, more).reading$.pipe(
        map(({ config }) => config?.[0]?.content),
      );
      m.expectObservable(content$).toBe('(c|)', { c: expected });
    })(),
  );

  it.each<[data: object, more: Partial<KubeTarget>, options: KubeOptions, reason: string]>([
    [{ a: 'x', b: 'y' }, {}, { key: 'c' }, "Secret/ns/front has no key 'c': it has a, b"],
    [
      { a: 'x', b: 'y' },
      {},
      { as: 'envoy' },
      'Secret/ns/front has a, b: say which of them is meant',
    ],
  ])('says which keys there are: %j %j', (data, more, options, reason) =>
    marbles((m) => {
      const trouble$ = sourceOf(apiOf(secret('1', data)), options, more).reading$.pipe(
        map(({ config }) => config?.[0]?.trouble),
      );
      m.expectObservable(trouble$).toBe('(t|)', { t: reason });
    })(),
  );

  it('asks nothing of the API before somebody listens', () => {
    const api: KubeApi = { get: () => EMPTY, watch: () => EMPTY };
    expect(() =>
      sourceOf({
        ...api,
        get: () => {
          throw new Error('asked');
        },
      }),
    ).not.toThrow();
  });
});
