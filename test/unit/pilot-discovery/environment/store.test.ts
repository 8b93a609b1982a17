import { describe, expect, it } from 'vitest';
import { defaultMeshConfig } from '../../../../src/pilot-discovery/istio/mesh/mesh-config.ts';
import type {
  AnyResource,
  Flaw,
  ResourceKey,
} from '../../../../src/pilot-discovery/istio/documents/model.ts';
import {
  changeClass,
  type Changes,
  mergeChanges,
  noChanges,
} from '../../../../src/pilot-discovery/environment/changes.ts';
import { ofKind, resourceAt } from '../../../../src/pilot-discovery/environment/resources.ts';
import type { StoreEvent } from '../../../../src/pilot-discovery/environment/store-event.ts';
import {
  emptyStore,
  isSynced,
  reduceStore,
  type Store,
} from '../../../../src/pilot-discovery/environment/store.ts';
import { flawsOf } from '../../../../src/pilot-discovery/environment/store-flaws.ts';
import {
  anyResource,
  serviceEntry,
  virtualService,
  workload,
} from '../../../support/mesh-resources.ts';

const changed = (
  source: string,
  upserts: readonly AnyResource[],
  removes: readonly ResourceKey[] = [],
): StoreEvent => ({
  type: 'changed',
  source,
  upserts,
  removes,
});
const after = (store: Store, ...events: readonly StoreEvent[]): Store =>
  events.reduce((now, event) => reduceStore(now, event)[0], store);
const listed = ({ class: wide, keys }: Changes) => [wide, ...keys];

const entry = (name: string, address: string) =>
  anyResource(`WorkloadEntry/n/${name}`, workload({ address }));
const rule = (name: string, ...hosts: string[]) =>
  anyResource(`VirtualService/n/${name}`, virtualService({ hosts }));

describe('reduceStore', () => {
  const store = after(
    emptyStore(['one', 'two']),
    changed('one', [entry('a', '1'), rule('v', 'x')]),
    changed('two', [entry('b', '2')]),
  );

  it('puts in what has come, and takes out what has gone', () => {
    const [next, changes] = reduceStore(
      store,
      changed('one', [entry('c', '3')], ['VirtualService/n/v']),
    );
    expect(listed(changes)).toEqual(['config', 'VirtualService/n/v', 'WorkloadEntry/n/c']);
    expect([...(ofKind(next.resources, 'WorkloadEntry').get('n')?.keys() ?? [])]).toEqual([
      'a',
      'b',
      'c',
    ]);
    expect(ofKind(next.resources, 'VirtualService').size).toBe(0);
    expect(ofKind(store.resources, 'VirtualService').size).toBe(1);
  });

  it('copies only the path to what has changed', () => {
    const [next] = reduceStore(
      store,
      changed('one', [anyResource('WorkloadEntry/other/c', workload({}))]),
    );
    expect(next.resources.get('VirtualService')).toBe(store.resources.get('VirtualService'));
    expect(next.resources.get('WorkloadEntry')?.get('n')).toBe(
      store.resources.get('WorkloadEntry')?.get('n'),
    );
    expect(next.sources.get('two')).toBe(store.sources.get('two'));
  });

  it('knows a change only if a resource says something else', () => {
    const moved: AnyResource = {
      ...entry('a', '1'),
      origin: { source: 'one', path: 'other.yaml', line: 7 },
    };
    const [next, changes] = reduceStore(
      store,
      changed('one', [moved, rule('v', 'x')], ['VirtualService/n/none']),
    );
    expect(listed(changes)).toEqual(['none']);
    expect(resourceAt(next.resources, 'WorkloadEntry/n/a')?.origin.line).toBe(7);
  });

  it('puts in what is taken out and put in at once', () => {
    const [next, changes] = reduceStore(
      store,
      changed('one', [entry('a', '9')], ['WorkloadEntry/n/a']),
    );
    expect(listed(changes)).toEqual(['endpoints', 'WorkloadEntry/n/a']);
    expect(resourceAt(next.resources, 'WorkloadEntry/n/a')?.spec).toMatchObject({ address: '9' });
  });

  it('gives a key to the first source that has it, and the other a flaw', () => {
    const secondOrigin = { source: 'two', path: 'elsewhere', line: 3 };
    const firstOrigin = { source: 'one', path: 'here', line: 4 };
    const entryOf = (origin: typeof firstOrigin, address: string): AnyResource => ({
      ...entry('x', address),
      origin,
    });
    const [late, none] = reduceStore(
      after(store, changed('one', [entryOf(firstOrigin, '1')])),
      changed('two', [entryOf(secondOrigin, '2')]),
    );
    expect(listed(none)).toEqual(['none']);
    expect(resourceAt(late.resources, 'WorkloadEntry/n/x')?.origin).toBe(firstOrigin);
    expect(flawsOf(late)).toEqual([
      {
        key: 'WorkloadEntry/n/x',
        origin: secondOrigin,
        field: '',
        reason: 'this WorkloadEntry/n/x is not used: one has it too (here:4), and comes first',
        severity: 'error',
      },
    ]);

    const [early, wins] = reduceStore(
      after(store, changed('two', [entryOf(secondOrigin, '2')])),
      changed('one', [entryOf(firstOrigin, '1')]),
    );
    expect(listed(wins)).toEqual(['endpoints', 'WorkloadEntry/n/x']);
    expect(early.resources).toEqual(late.resources);

    const [left, falls] = reduceStore(late, changed('one', [], ['WorkloadEntry/n/x']));
    expect(listed(falls)).toEqual(['endpoints', 'WorkloadEntry/n/x']);
    expect(resourceAt(left.resources, 'WorkloadEntry/n/x')?.origin).toBe(secondOrigin);
    expect(flawsOf(left)).toEqual([]);
  });

  it('holds the flaws of each source, as it has told them last', () => {
    const flaw = (reason: string): Flaw => ({
      key: undefined,
      origin: { source: 'one', path: 'a', line: 1 },
      field: '',
      reason,
      severity: 'error',
    });
    const flawed = after(
      store,
      { type: 'flaws', source: 'one', flaws: [flaw('x')] },
      { type: 'flaws', source: 'two', flaws: [flaw('y')] },
    );
    expect(flawsOf(flawed).map(({ reason }) => reason)).toEqual(['x', 'y']);
    expect(
      flawsOf(after(flawed, { type: 'flaws', source: 'one', flaws: [] })).map(
        ({ reason }) => reason,
      ),
    ).toEqual(['y']);
  });

  it('knows a mesh only as another one', () => {
    const mesh = { ...defaultMeshConfig, trustDomain: 'td' };
    const [next, changes] = reduceStore(store, { type: 'mesh', mesh });
    expect(listed(changes)).toEqual(['mesh']);
    expect(reduceStore(next, { type: 'mesh', mesh: { ...mesh } })).toEqual([next, noChanges]);
    expect(reduceStore(next, { type: 'mesh', mesh: { ...mesh } })[0].mesh).toBe(mesh);
  });

  it('is synced when every source is, and keeps what a lost one has told until it is read again', () => {
    const half = after(store, { type: 'synced', source: 'one' });
    expect(isSynced(half)).toBe(false);
    const lost = after(
      half,
      { type: 'synced', source: 'two' },
      { type: 'lost', source: 'one', reason: 'gone' },
    );
    expect(isSynced(lost)).toBe(true);
    expect(lost.sources.get('one')?.lost).toBe('gone');
    expect(lost.resources).toBe(store.resources);
    // The change may be of another kind.
    expect(after(lost, changed('one', [])).sources.get('one')?.lost).toBe('gone');
    expect(after(lost, { type: 'synced', source: 'one' }).sources.get('one')?.lost).toBeUndefined();
  });
});

describe('changeClass', () => {
  const service = (...fields: Parameters<typeof serviceEntry>) =>
    anyResource('ServiceEntry/n/s', serviceEntry(...fields));
  const endpointsAt = (address: string) => ({ endpoints: [workload({ address })] });

  it.each([
    ['endpoints', service(endpointsAt('1')), service(endpointsAt('2'))],
    ['endpoints', entry('a', '1'), undefined],
    ['config', service(endpointsAt('1')), service({ ...endpointsAt('1'), hosts: ['b.com'] })],
    [
      'config',
      service({ ...endpointsAt('1'), resolution: 'dns' }),
      service({ ...endpointsAt('2'), resolution: 'dns' }),
    ],
    ['config', undefined, service(endpointsAt('1'))],
    ['config', rule('v', 'a'), rule('v', 'b')],
    ['none', rule('v', 'a'), rule('v', 'a')],
    ['none', undefined, undefined],
  ] as const)('is %s', (expected, before, now) => expect(changeClass(before, now)).toBe(expected));
});

describe('mergeChanges', () => {
  const changesOf = (wide: Changes['class'], ...keys: string[]): Changes => ({
    class: wide,
    keys: new Set(keys),
  });

  it('has the keys of both, and the wider class', () => {
    expect(mergeChanges(changesOf('endpoints', 'a', 'b'), changesOf('config', 'b', 'c'))).toEqual(
      changesOf('config', 'a', 'b', 'c'),
    );
    expect(mergeChanges(changesOf('mesh'), changesOf('endpoints', 'a'))).toEqual(
      changesOf('mesh', 'a'),
    );
    expect(mergeChanges(noChanges, changesOf('endpoints', 'a'))).toEqual(
      changesOf('endpoints', 'a'),
    );
    expect(mergeChanges(changesOf('endpoints', 'a'), noChanges)).toEqual(
      changesOf('endpoints', 'a'),
    );
  });
});
