import {
  asyncScheduler,
  ignoreElements,
  merge,
  type Observable,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { StoreEvent } from '../../src/pilot-discovery/environment/store-event.ts';
import { kubernetesSource } from '../../src/pilot-discovery/registry/kubernetes/kubernetes-source.ts';
import { meshMapSource } from '../../src/pilot-discovery/registry/kubernetes/mesh-map-source.ts';
import { type FakeKube, fakeKube, type KubeDocument } from '../support/fake-kube.ts';
import { marbles } from '../support/marbles/marbles.ts';

const service = (name: string, port: number): KubeDocument => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'shop', name },
  spec: { ports: [{ name: 'http', port }] },
});
const rule = (name: string, spec: unknown): KubeDocument => ({
  apiVersion: 'networking.istio.io/v1',
  kind: 'VirtualService',
  metadata: { namespace: 'shop', name },
  spec,
});
const route = { hosts: ['a'], http: [{ route: [{ destination: { host: 'a' } }] }] };
const policy = (spec: unknown): KubeDocument => ({
  apiVersion: 'security.istio.io/v1',
  kind: 'AuthorizationPolicy',
  metadata: { namespace: 'shop', name: 'closed' },
  spec,
});
const mesh = (text: string): KubeDocument => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'istio-system', name: 'istio' },
  data: { mesh: text },
});

/** Returns an event as a few words. */
function shown(event: StoreEvent): string {
  switch (event.type) {
    case 'changed':
      return [
        ...event.upserts.map(({ name, closes }) =>
          closes === undefined ? `+${name}` : `!${name}`,
        ),
        ...event.removes.map((key) => `-${key.split('/')[2] ?? ''}`),
      ].join(' ');
    case 'flaws':
      return `flaws ${event.flaws.map(({ severity }) => severity).join()}`;
    case 'lost':
      return `lost ${event.reason}`;
    case 'still-lost':
      return `still ${event.reason}`;
    case 'mesh':
      return `mesh ${event.mesh.trustDomain}`;
    default:
      return event.type;
  }
}

const options = { random: () => 0.5 };

/**
 * Subscribes to the source, and changes the API at some times in ms. Returns the events of each
 * time that has any.
 */
function eventsByTime(
  { flush }: RunHelpers,
  event$: Observable<StoreEvent>,
  steps: Readonly<Record<number, () => void>> = {},
  until = 60_000,
): Readonly<Record<number, readonly string[]>> {
  const events = new Map<number, string[]>();
  merge(
    event$,
    ...Object.entries(steps).map(([time, step]) =>
      timer(Number(time)).pipe(tap(step), ignoreElements()),
    ),
  )
    .pipe(takeUntil(timer(until)))
    .subscribe({
      next: (event) => {
        const time = asyncScheduler.now();
        events.set(time, [...(events.get(time) ?? []), shown(event)]);
      },
      error: (error: unknown) => {
        throw error;
      },
    });
  flush();
  return Object.fromEntries(events);
}

describe('kubernetesSource', () => {
  const source = ({ api }: FakeKube) => kubernetesSource(api, options);

  it(
    'emits what there is, then that it is synced, then each change',
    marbles((m) => {
      const kube = fakeKube();
      kube.put(service('a', 80));
      kube.put(rule('r', route));
      const events = eventsByTime(m, source(kube), {
        1_000: () => kube.put(service('b', 80)),
        2_000: () => kube.put(service('b', 81)),
        3_000: () => kube.put(service('b', 81)),
        4_000: () => kube.remove(service('a', 80)),
      });
      expect(events).toEqual({
        0: ['+r', '+a', 'synced'],
        1_000: ['+b'],
        2_000: ['+b'],
        4_000: ['-a'],
      });
    }),
  );

  it(
    'keeps the last good version of an object, and closes what a policy without one would restrict',
    marbles((m) => {
      const kube = fakeKube();
      kube.put(rule('r', route));
      kube.put(policy({ action: 'FORBID' }));
      const events = eventsByTime(m, source(kube), {
        1_000: () => kube.put(rule('r', { hosts: [] })),
        2_000: () => kube.put(policy({})),
        3_000: () => kube.put(policy({ action: 'FORBID' })),
        4_000: () => kube.put(rule('r', route)),
        5_000: () => kube.remove(policy({})),
      });
      expect(events).toEqual({
        0: ['+r', '!closed', 'flaws error,error', 'synced'],
        1_000: ['flaws error,error,error'],
        2_000: ['+closed', 'flaws error'],
        3_000: ['flaws error,error'],
        4_000: ['flaws error'],
        5_000: ['-closed', 'flaws '],
      });
    }),
  );

  it(
    'does without a kind that is not installed, and has its objects soon after it is',
    marbles((m) => {
      const kube = fakeKube();
      kube.put(rule('r', route));
      kube.uninstall('virtualservices');
      const events = eventsByTime(m, source(kube), {
        2_500: () => kube.install('virtualservices'),
      });
      expect(events).toEqual({ 0: ['synced'], 3_000: ['+r'] });
    }),
  );

  it(
    'keeps the objects of a kind that is no longer there, and says so',
    marbles((m) => {
      const kube = fakeKube();
      kube.put(rule('r', route));
      const events = eventsByTime(m, source(kube), {
        20_000: () => {
          kube.uninstall('virtualservices');
          kube.stop();
          kube.start();
        },
        30_000: () => kube.install('virtualservices'),
      });
      expect(events).toEqual({
        0: ['+r', 'synced'],
        20_000: ['lost virtualservices: 404'],
        21_000: [expect.stringMatching(/^lost .* has no kind 'VirtualService'/)],
        35_000: ['synced'],
      });
    }),
  );

  it(
    'is not synced before it may list each kind, and names those that it may not',
    marbles((m) => {
      const kube = fakeKube();
      kube.put(service('a', 80));
      kube.forbid('pods');
      kube.forbid('endpointslices');
      const events = eventsByTime(m, source(kube), {
        2_500: () => kube.allow('pods'),
        10_000: () => kube.allow('endpointslices'),
      });
      expect(events).toEqual({
        0: ['+a', 'lost endpointslices is forbidden; pods is forbidden'],
        3_000: ['still endpointslices is forbidden'],
        15_000: ['synced'],
      });
    }),
  );

  it(
    'keeps all objects while the API is away, and then emits only what differs',
    marbles((m) => {
      const kube = fakeKube();
      kube.put(service('a', 80));
      kube.put(service('b', 80));
      const events = eventsByTime(m, source(kube), {
        20_000: () => kube.stop(),
        30_000: () => {
          kube.put(service('b', 81));
          kube.remove(service('a', 80));
          kube.start();
        },
      });
      expect(events).toEqual({
        0: ['+a +b', 'synced'],
        20_000: ['lost connect ECONNREFUSED'],
        35_000: ['+b -a', 'synced'],
      });
    }),
  );

  it(
    'takes the data of a backup, even under versions that it has met with other data',
    marbles((m) => {
      const kube = fakeKube();
      kube.put(service('a', 80));
      kube.put(service('b', 80));
      const restore = kube.backUp();
      const events = eventsByTime(m, source(kube), {
        10_000: () => kube.put(service('b', 81)),
        11_000: () => kube.put(service('c', 80)),
        20_000: () => kube.stop(),
        30_000: () => {
          restore();
          kube.put(service('b', 82));
          kube.start();
        },
        40_000: () => kube.put(service('d', 80)),
      });
      expect(events).toEqual({
        0: ['+a +b', 'synced'],
        10_000: ['+b'],
        11_000: ['+c'],
        20_000: ['lost connect ECONNREFUSED'],
        35_000: ['+b -c', 'synced'],
        40_000: ['+d'],
      });
    }),
  );

  it(
    'lists again when the API has forgotten its version, and says nothing of it',
    marbles((m) => {
      const kube = fakeKube();
      kube.put(service('a', 80));
      kube.put(service('b', 80));
      const events = eventsByTime(m, source(kube), {
        20_000: () => {
          kube.stop();
          kube.remove(service('a', 80));
          kube.compact();
          kube.start();
        },
      });
      expect(events).toEqual({ 0: ['+a +b', 'synced'], 20_000: ['-a'] });
    }),
  );
});

describe('meshMapSource', () => {
  const source = ({ api }: FakeKube) => meshMapSource(api, 'istio-system', options);

  it(
    'emits the defaults without a ConfigMap, and each version of it later',
    marbles((m) => {
      const kube = fakeKube();
      const events = eventsByTime(m, source(kube), {
        1_000: () => kube.put(mesh('trustDomain: one')),
        2_000: () => kube.put(mesh('trustDomain: [')),
        3_000: () => kube.put(mesh('trustDomain: two')),
        4_000: () => kube.remove(mesh('')),
      });
      expect(events).toEqual({
        0: ['mesh cluster.local', 'synced', 'synced'],
        1_000: ['flaws ', 'mesh one', 'networks', 'synced'],
        2_000: ['flaws error', 'synced'],
        3_000: ['flaws ', 'mesh two', 'networks', 'synced'],
        4_000: ['lost ConfigMap/istio-system/istio is gone'],
      });
    }),
  );

  it(
    'has no flaws of a ConfigMap that is gone',
    marbles((m) => {
      const kube = fakeKube();
      kube.put(mesh('trustDomain: ['));
      const events = eventsByTime(m, source(kube), { 1_000: () => kube.remove(mesh('')) });
      expect(events[1_000]).toEqual(['flaws ', 'mesh cluster.local', 'synced']);
    }),
  );

  it(
    'reports once that it cannot read, whatever the API says on the way, and then that it can',
    marbles((m) => {
      const kube = fakeKube();
      const events = eventsByTime(m, source(kube), {
        20_000: () => kube.stop(),
        22_000: () => kube.forbid('configmaps'),
        30_000: () => kube.start(),
        40_000: () => kube.allow('configmaps'),
      });
      expect(Object.values(events).flat()).toEqual([
        'mesh cluster.local',
        'synced',
        'synced',
        'lost connect ECONNREFUSED',
        ...Array<string>(3).fill('still connect ECONNREFUSED'),
        'lost configmaps is forbidden',
        ...['mesh cluster.local', 'synced', 'synced'],
      ]);
    }),
  );

  it(
    'is not synced before the MeshConfig has been good',
    marbles((m) => {
      const kube = fakeKube();
      kube.put(mesh('trustDomain: 1\nconfigSources: [{ address: fs:///a }]'));
      const events = eventsByTime(m, source(kube), {
        1_000: () => kube.put({ ...mesh(''), data: {} }),
        2_000: () => kube.put(mesh('')),
      });
      expect(events[0]?.at(-1)).toMatch(/^lost ConfigMap\/istio-system\/istio:1: trustDomain: /);
      expect(events[1_000]?.at(-1)).toMatch(/^lost ConfigMap\/istio-system\/istio: data.mesh: /);
      expect(events[2_000]).toEqual(['flaws ', 'mesh cluster.local', 'networks', 'synced']);
    }),
  );
});
