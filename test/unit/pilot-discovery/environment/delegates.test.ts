import { describe, expect, it } from 'vitest';
import type { AnyResource } from '../../../../src/pilot-discovery/istio/documents/model.ts';
import type {
  HttpMatch,
  HttpRoute,
} from '../../../../src/pilot-discovery/istio/traffic/virtual-service.ts';
import { buildEnvironment } from '../../../../src/pilot-discovery/environment/build-environment.ts';
import { noChanges } from '../../../../src/pilot-discovery/environment/changes.ts';
import { emptyStore, reduceStore } from '../../../../src/pilot-discovery/environment/store.ts';
import {
  anyResource,
  route,
  routeMatch,
  toHosts,
  virtualService,
} from '../../../support/mesh-resources.ts';

const environmentWith = (...upserts: readonly AnyResource[]) => {
  const [store] = reduceStore(emptyStore(['files']), {
    type: 'changed',
    source: 'files',
    upserts,
    removes: [],
  });
  return buildEnvironment(undefined, store, noChanges, 'cluster.local', 'reached');
};
const root = (...http: readonly HttpRoute[]) =>
  anyResource('VirtualService/n/root', virtualService({ http }));
const delegate = (http: readonly HttpRoute[], exportTo: readonly string[] = []) =>
  anyResource('VirtualService/m/part', virtualService({ hosts: [], http, exportTo }));
const to = { delegate: { name: 'part', namespace: 'm' } };

/** Merges a route of the root with one of its delegate; returns the first result. */
const merged = (outer: Partial<HttpRoute>, inner: Partial<HttpRoute>) =>
  environmentWith(root(route({ ...to, ...outer })), delegate([route(inner)])).virtualServices[0]
    ?.spec.http[0];
/** Returns the merged matches of the two routes; undefined if the route is left out. */
const matches = (outer: readonly Partial<HttpMatch>[], inner: readonly Partial<HttpMatch>[]) =>
  merged({ match: outer.map(routeMatch) }, { match: inner.map(routeMatch) })?.match;

const exact = (value: string) => ({ type: 'exact', value }) as const;
const prefix = (value: string) => ({ type: 'prefix', value }) as const;
const regex = (value: string) => ({ type: 'regex', value }) as const;

describe('a delegate', () => {
  it('stands where the route leads to it, with hosts of its own namespace, and nowhere else', () => {
    const { virtualServices, warnings } = environmentWith(
      root(route(toHosts('first')), route(to), route(toHosts('last'))),
      delegate([route(toHosts('one')), route(toHosts('two'))]),
    );
    expect(virtualServices.map(({ name }) => name)).toEqual(['root']);
    const hosts = virtualServices[0]?.spec.http.map((httpRoute) =>
      httpRoute.route[0]?.destination.host.split('.').slice(0, 2).join('.'),
    );
    expect(hosts).toEqual(['first.n', 'one.m', 'two.m', 'last.n']);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['is not there', undefined],
    ['is not exported to the namespace n', delegate([route({})], ['other'])],
    ['is not exported to the namespace n', delegate([route({})], ['.'])],
    [
      'has hosts of its own, which a delegate may not have',
      anyResource('VirtualService/m/part', virtualService({ http: [route({})] })),
    ],
  ])('that %s costs the route, and a word', (reason, part) => {
    const { virtualServices, warnings } = environmentWith(
      root(route(to), route(toHosts('last'))),
      ...(part === undefined ? [] : [part]),
    );
    expect(virtualServices.find(({ name }) => name === 'root')?.spec.http).toHaveLength(1);
    expect(warnings).toEqual([
      {
        key: 'VirtualService/n/root',
        origin: { source: 'files', path: 'root.yaml', line: 1 },
        field: 'spec.http[0].delegate',
        reason: `the route is left out: the delegate m/part ${reason}`,
        severity: 'warning',
      },
    ]);
  });

  it('is of the same namespace if none is said, and may be exported to it', () => {
    const part = anyResource(
      'VirtualService/n/part',
      virtualService({ hosts: [], http: [route({})], exportTo: ['.'] }),
    );
    expect(
      environmentWith(root(route({ delegate: { name: 'part', namespace: '' } })), part).warnings,
    ).toEqual([]);
  });

  it('comes and goes with its root', () => {
    let [store] = reduceStore(emptyStore(['files']), {
      type: 'changed',
      source: 'files',
      upserts: [root(route(to))],
      removes: [],
    });
    let environment = buildEnvironment(undefined, store, noChanges, 'cluster.local', 'reached');
    const counts = () => [
      environment.virtualServices[0]?.spec.http.length,
      environment.warnings.length,
    ];
    expect(counts()).toEqual([0, 1]);
    const steps = [
      { upserts: [delegate([route({}), route({})])], removes: [] },
      { upserts: [], removes: ['VirtualService/m/part'] },
    ];
    const expected = [
      [2, 0],
      [0, 1],
    ];
    for (const [index, step] of steps.entries()) {
      const [next, changes] = reduceStore(store, { type: 'changed', source: 'files', ...step });
      environment = buildEnvironment(environment, next, changes, 'cluster.local', 'reached');
      store = next;
      expect(counts()).toEqual(expected[index]);
    }
  });

  it('has what the route says and it does not', () => {
    const headers = {
      request: { set: { a: 'b' }, add: {}, remove: [] },
      response: { set: {}, add: {}, remove: [] },
    };
    expect(merged({ name: 'o', timeoutMs: 1, headers }, { name: 'i' })).toMatchObject({
      name: 'o-i',
      timeoutMs: 1,
      headers,
    });
    expect(merged({ timeoutMs: 1 }, { name: 'i', timeoutMs: 2 })).toMatchObject({
      name: 'i',
      timeoutMs: 2,
    });
    expect(merged({ name: 'o' }, {})).toMatchObject({ name: 'o', delegate: undefined });
  });

  it('matches what both match, each with each', () => {
    const [matchA, matchB] = [{ uri: prefix('/a') }, { uri: prefix('/b') }];
    expect(matches([matchA], [])).toMatchObject([matchA]);
    expect(matches([], [matchA])).toMatchObject([matchA]);
    expect(matches([matchA, matchB], [{ method: exact('GET') }])).toMatchObject([
      { ...matchA, method: exact('GET') },
      { ...matchB, method: exact('GET') },
    ]);
    expect(matches([matchA, matchB], [{ uri: exact('/b/c') }])).toMatchObject([
      { uri: exact('/b/c') },
    ]);
    expect(matches([matchA], [{ uri: exact('/a/c') }, { uri: exact('/z') }])).toBeUndefined();
    const [outer, inner] = [
      { name: 'o', headers: { a: exact('1') }, sourceLabels: { x: 'y' }, port: 80 },
      { name: 'i', headers: { b: exact('2') } },
    ];
    expect(matches([outer], [inner])).toMatchObject([
      {
        name: 'o-i',
        headers: { a: exact('1'), b: exact('2') },
        sourceLabels: { x: 'y' },
        port: 80,
      },
    ]);
  });

  it('is left out if it would bring the matches above 10,000', () => {
    const those = (count: number) => Array.from({ length: count }, () => routeMatch({}));
    const part = delegate([route({ match: those(60) }), route({})]);
    const leading = route({ ...to, match: those(100) });
    const { virtualServices, warnings } = environmentWith(
      root(leading, leading, route(to), route(toHosts('last'))),
      part,
    );
    expect(virtualServices[0]?.spec.http.map(({ match }) => match.length)).toEqual([
      6_000, 100, 60, 0, 0,
    ]);
    expect(warnings.map(({ field, reason }) => `${field}: ${reason}`)).toEqual([
      'spec.http[1].delegate: the route is left out: the delegate m/part would give it more than 10000 matches from delegates, which is the limit',
    ]);
  });

  it.each([
    [prefix('/a/b'), prefix('/a')],
    [prefix('/a'), exact('/b')],
    [exact('/a'), prefix('/a')],
    [exact('/a'), exact('/b')],
    [regex('.*'), exact('/a')],
    [prefix('/'), regex('/a')],
  ])('that wants more than the route does, %o and %o, is left out', (outer, inner) => {
    expect(matches([{ uri: outer }], [{ uri: inner }])).toBeUndefined();
    expect(matches([{ headers: { x: outer } }], [{ headers: { x: inner } }])).toBeUndefined();
  });

  it.each([
    [{ port: 80 }, { port: 81 }],
    [{ sourceNamespace: 'a' }, { sourceNamespace: 'b' }],
    [{ sourceLabels: { a: 'b' } }, { sourceLabels: { a: 'c' } }],
    [{ gateways: ['mesh'] }, { gateways: ['mesh', 'n/gw'] }],
    [{ ignoreUriCase: true }, { ignoreUriCase: false }],
    [{ withoutHeaders: { a: exact('b') } }, { withoutHeaders: { a: exact('c') } }],
    [{ queryParams: { a: undefined } }, { queryParams: { a: exact('c') } }],
  ])('is left out if it contradicts: %o and %o', (outer, inner) =>
    expect(matches([outer], [inner])).toBeUndefined(),
  );
});
