import { describe, expect, it } from 'vitest';
import { mergeMessages, mergeOverride } from '../../../src/proxy/merge-override.ts';

type Message = Parameters<typeof mergeMessages>[0];

/**
 * Checks our merge; test/e2e/override.test.ts checks that Envoy does the same by `--config-yaml`.
 */
describe('mergeMessages', () => {
  it.each<[what: string, base: Message, over: Message, merged: Message]>([
    ['puts lists behind each other', { a: [1] }, { a: [1, 2] }, { a: [1, 1, 2] }],
    ['merges messages', { a: { b: 1, c: 1 } }, { a: { c: 2 } }, { a: { b: 1, c: 2 } }],
    [
      'knows a field by both of its names',
      { a_b: { c_d: 1 } },
      { aB: { cD: 2 } },
      { a_b: { c_d: 2 } },
    ],
    ['adds what is not there', { a: 1 }, { bC: 0 }, { a: 1, bC: 0 }],
    [
      'sets nothing by a default',
      { a: 1, b: true, c: 'c' },
      { a: 0, b: false, c: '' },
      { a: 1, b: true, c: 'c' },
    ],
    ['sets nothing by null', { a: 1 }, { a: null, b: null }, { a: 1 }],
    [
      'has one of an address',
      { socketAddress: { port_value: 1 } },
      { pipe: { path: '/p' } },
      { pipe: { path: '/p' } },
    ],
    [
      'has a port of 0 if it is asked for',
      { named_port: 'x' },
      { port_value: 0 },
      { port_value: 0 },
    ],
    [
      'replaces an Any',
      { x: { '@type': 'a', b: 1 } },
      { x: { '@type': 'a', c: 2 } },
      { x: { '@type': 'a', c: 2 } },
    ],
    [
      'replaces the members of metadata',
      { metadata: { a: { b: 1 }, c_d: 1 } },
      { metadata: { a: { e: 2 }, cD: 2 } },
      { metadata: { a: { e: 2 }, c_d: 1, cD: 2 } },
    ],
    ['replaces what is of another kind', { a: [1], b: {} }, { a: 1, b: 'c' }, { a: 1, b: 'c' }],
  ])('%s', (_, base, over, merged) => {
    expect(mergeMessages(base, over)).toEqual(merged);
  });
});

describe('mergeOverride', () => {
  it('lays what sources say over the configuration, each at its field, and the override above them', async () => {
    const overlays = [
      { source: 'a', at: 'static_resources.clusters', text: '[{"name": "two"}]' },
      { source: 'b', at: '', text: 'node: {id: b, cluster: b}' },
      { source: 'empty', at: 'static_resources.clusters', text: '' },
    ];
    const text = JSON.stringify({ static_resources: { clusters: [{ name: 'one' }] } });
    const merged = await mergeOverride({
      kind: 'generated',
      text,
      extension: '.json',
      override: 'node: {id: override}',
      overlays,
    });
    expect(merged.ok && JSON.parse(merged.text)).toEqual({
      static_resources: { clusters: [{ name: 'one' }, { name: 'two' }] },
      node: { id: 'override', cluster: 'b' },
    });
    const bad = await mergeOverride({
      kind: 'generated',
      text,
      extension: '.json',
      override: '',
      overlays: [{ source: 'a', at: '', text: 'SECRET: [' }],
    });
    expect(bad).toMatchObject({ ok: false });
    expect(!bad.ok && bad.reason).toMatch(/^source a:1:10: /);
    expect(!bad.ok && bad.reason).not.toContain('SECRET');
  });

  const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
  it.each<[what: string, text: string, over: unknown, reason: string]>([
    [
      'too deep to be written',
      deep,
      'b: 1',
      'source a cannot be merged over the bootstrap: it is nested more than 100 levels deep',
    ],
    [
      'an alias without an anchor',
      '{}',
      'a: *b',
      'source a: its aliases cannot be expanded: an alias has no anchor',
    ],
    [
      'what no caller gives it',
      '{}',
      7,
      'source a: this is a bug: TypeError: source is not a string',
    ],
  ])('says of each failure what it is: %s', async (_, text, over, reason) => {
    const overlays = [{ source: 'a', at: '', text: over as string }];
    const merged = await mergeOverride({
      kind: 'generated',
      text,
      extension: '.json',
      override: '',
      overlays,
    });
    expect(merged).toEqual({ ok: false, reason });
  });

  it('adds an admin layer of runtime values if there is none', async () => {
    const layered = async (layers: readonly object[]) => {
      const merged = await mergeOverride({
        kind: 'generated',
        text: JSON.stringify({ layered_runtime: { layers } }),
        extension: '.json',
        override: '',
        withAdminLayer: true,
      });
      return merged.ok ? (JSON.parse(merged.text) as object) : merged.reason;
    };
    const [fixed, adminLayer] = [
      { name: 'a', static_layer: {} },
      { name: 'b', admin_layer: {} },
    ];
    expect(await layered([fixed])).toEqual({
      layered_runtime: { layers: [fixed, { name: 'pilot-agent', admin_layer: {} }] },
    });
    expect(await layered([adminLayer])).toEqual({ layered_runtime: { layers: [adminLayer] } });
  });
});
