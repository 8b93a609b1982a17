import {
  delay,
  EMPTY,
  filter,
  ignoreElements,
  map,
  merge,
  mergeMap,
  type Observable,
  of,
  Subject,
  tap,
  timer,
} from 'rxjs';
import { describe, it } from 'vitest';
import { publishRoots } from '../../src/pilot-discovery/ca/publish-roots.ts';
import type { RootBundle } from '../../src/pilot-discovery/ca/root-bundle.ts';
import { bundleDigest } from '../../src/pilot-discovery/ca/root-bundle.ts';
import type { KubeApi, KubeWriter } from '../../src/shared/kube/kube-api.ts';
import { at } from '../../src/testing/at.ts';
import { type FakeKube, fakeKube, type KubeDocument } from '../support/fake-kube.ts';
import { marbles } from '../support/marbles/marbles.ts';

const bundle = (text: string): RootBundle => ({
  text,
  digest: bundleDigest(text),
  isFor: 'all namespaces',
});
const namespace = (name: string): KubeDocument => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
});
const roots = (namespaceName: string, text: string): KubeDocument => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'istio-ca-root-cert', namespace: namespaceName },
  data: { 'root-cert.pem': text },
});

/** Emits what a control plane writes, as `shop: ours`, and its news. */
function publishing(
  kube: FakeKube,
  text = 'ours',
  bundle$: Observable<RootBundle> = of(bundle(text)),
): Observable<string> {
  const written$ = new Subject<string>();
  const api: KubeApi & KubeWriter = {
    ...kube.api,
    apply: (path, body) => {
      const { data, metadata } = JSON.parse(body) as KubeDocument & {
        readonly data: Readonly<Record<string, string>>;
      };
      written$.next(`${metadata.namespace ?? ''}: ${data['root-cert.pem'] ?? ''}`);
      return kube.api.apply(path, body).pipe(delay(1));
    },
  };
  const selectors$ = of([]);
  return merge(
    written$,
    publishRoots(api, { bundle$, selectors$, random: () => 0.5 }).pipe(map(({ type }) => type)),
  );
}
/** Does something after a time, in ms. */
const after$ = (ms: number, act: () => void): Observable<never> =>
  timer(ms).pipe(tap(act), ignoreElements());

/** Writes its roots again 5 ms after each change of them, as istiod does. */
function rival(kube: FakeKube, text: string): Observable<never> {
  return kube.api.watch('/api/v1/configmaps?watch=1&resourceVersion=0').pipe(
    mergeMap((sign) => {
      if (sign.type !== 'event') return EMPTY;
      const { object } = sign.value as { readonly object: KubeDocument };
      const { data, metadata } = object as KubeDocument & {
        readonly data: Readonly<Record<string, string>>;
      };
      const isForeign = data['root-cert.pem'] !== text;
      return isForeign ? after$(5, () => kube.put(roots(metadata.namespace ?? '', text))) : EMPTY;
    }),
  );
}

describe('publishRoots', () => {
  it(
    'writes the roots into one namespace after another, 10 ms apart, and into a new one at once',
    marbles((m) => {
      const kube = fakeKube();
      for (const name of ['a', 'b']) kube.put(namespace(name));
      const new$ = after$(1_000, () => kube.put(namespace('c')));
      m.expectObservable(merge(publishing(kube), new$), '^ 60s !').toBe(
        at({ '0s': 'a', '11ms': 'b', '12ms': 'p', '1s': 'c', '1001ms': 'p' }),
        { a: 'a: ours', b: 'b: ours', c: 'c: ours', p: 'roots-published' },
      );
    }),
  );

  it(
    'writes them again 200 ms after somebody has changed or removed them',
    marbles((m) => {
      const kube = fakeKube();
      kube.put(namespace('a'));
      kube.put(roots('a', 'ours'));
      const others$ = merge(
        after$(1_000, () => kube.put(roots('a', 'foreign'))),
        after$(1_800_000, () => kube.remove(roots('a', ''))),
      );
      m.expectObservable(merge(publishing(kube), others$), '^ 60m !').toBe(
        at({ '1200ms': 'w', '1201ms': 'p', '1800200ms': 'w', '1800201ms': 'p' }),
        { w: 'a: ours', p: 'roots-published' },
      );
    }),
  );

  it(
    'writes them again when they change',
    marbles((m) => {
      const kube = fakeKube();
      kube.put(namespace('a'));
      const bundle$ = m.cold('o 1s n', { o: bundle('ours'), n: bundle('next') });
      m.expectObservable(publishing(kube, '', bundle$), '^ 60s !').toBe(
        at({ '0s': 'o', '1ms': 'p', '1001ms': 'n', '1002ms': 'p' }),
        { o: 'a: ours', n: 'a: next', p: 'roots-published' },
      );
    }),
  );

  it(
    'tries later and later while it may not write, with one line',
    marbles((m) => {
      const kube = fakeKube();
      kube.put(namespace('a'));
      kube.protect('configmaps');
      const allowed$ = after$(20_000, () => kube.unprotect('configmaps'));
      m.expectObservable(merge(publishing(kube), allowed$), '^ 60s !').toBe(
        at({
          ...{ '0s': 'w', '1001ms': 'w', '1002ms': 'u', '3002ms': 'w', '7003ms': 'w' },
          ...{ '15004ms': 'w', '31005ms': 'w', '31006ms': 'p' },
        }),
        { w: 'a: ours', u: 'roots-unpublished', p: 'roots-published' },
      );
    }),
  );

  it(
    'does not fight with a program that has other roots: after three repairs, one line, and rarely',
    marbles((m) => {
      const kube = fakeKube();
      kube.put(namespace('a'));
      const both$ = merge(publishing(kube), rival(kube, 'theirs'));
      m.expectObservable(both$.pipe(filter((text) => text !== 'roots-published')), '^ 20m !').toBe(
        at({
          ...{ '0s': 'w', '205ms': 'w', '610ms': 'w', '1415ms': 'w', '1420ms': 'c' },
          ...{ '31420ms': 'w', '91425ms': 'w', '211430ms': 'w', '451435ms': 'w' },
          ...{ '751440ms': 'w', '1051445ms': 'w' },
        }),
        { w: 'a: ours', c: 'roots-contested' },
      );
    }),
  );

  it(
    'writes nothing that another instance with the same roots has written',
    marbles((m) => {
      const kube = fakeKube();
      kube.put(namespace('a'));
      const second$ = timer(500).pipe(mergeMap(() => publishing(kube)));
      const istiod$ = after$(2_000, () => kube.put(roots('a', 'ours')));
      m.expectObservable(merge(publishing(kube), second$, istiod$), '^ 60m !').toBe(
        at({ '0s': 'w', '1ms': 'p' }),
        { w: 'a: ours', p: 'roots-published' },
      );
    }),
  );

  it(
    'writes nothing while the API does not show the ConfigMaps',
    marbles((m) => {
      const kube = fakeKube();
      kube.put(namespace('a'));
      kube.forbid('configmaps');
      const allowed$ = after$(10_000, () => kube.allow('configmaps'));
      m.expectObservable(merge(publishing(kube), allowed$), '^ 60s !').toBe(
        at({ '0s': 'u', '15s': 'w', '15001ms': 'p' }),
        { u: 'roots-unpublished', w: 'a: ours', p: 'roots-published' },
      );
    }),
  );
});
