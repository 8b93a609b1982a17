import { expect, it } from 'vitest';
import type { AgentEvent } from '../../src/epochs/model.ts';
import type { Proxy, Verdict } from '../../src/epochs/ports.ts';
import type { Looked } from '../../src/pilot-discovery/registry/files/folder-state.ts';
import type { TlsInputs } from '../../src/pilot-discovery/generate/tls/upstream-tls.ts';
import type { PossibleChanges } from '../../src/streams/changed-entries.ts';
import type { Serving } from '../../src/pilot-agent/run/secrets/secrets-plan.ts';

// What could be said once, and means nothing.

it('a verdict says one thing', () => {
  // @ts-expect-error what is refused has no room to want
  const refused: Verdict = { kind: 'refused', reason: 'no such cluster', outOfMemory: true };
  // @ts-expect-error what cannot be a child is not in want of room as well
  const both: Verdict = { kind: 'works-alone', reason: 'memory' };
  // @ts-expect-error who has no room says why
  const roomless: Verdict = { kind: 'no-room' };
  // @ts-expect-error a check without a verdict says whether memory was short
  const unchecked: Verdict = { kind: 'unchecked', reason: 'killed' };
  expect([refused, both, roomless, unchecked]).toHaveLength(4);
});

it('a reading that is accepted was not refused', () => {
  const refused: AgentEvent = {
    type: 'config-accepted',
    hash: 'a',
    // @ts-expect-error a refusal is an event of its own
    verdict: { kind: 'refused', reason: 'no such cluster' },
  };
  expect(refused.type).toBe('config-accepted');
});

it('a drain is told by its name', () => {
  const drain = (proxy: Proxy) => [
    // @ts-expect-error whoever reads `true` cannot tell what is asked for
    proxy.drain(0, true),
    // @ts-expect-error there is no such drain
    proxy.drain(0, 'plain'),
  ];
  expect(drain).toBeInstanceOf(Function);
});

it('secrets that are not served are neither pushed nor at hand', () => {
  // @ts-expect-error there is no server that would have them at hand
  const off: Serving = { kind: 'off', workload: 'at-hand' };
  // @ts-expect-error who serves knows whether it asks before Envoy does
  const pushed: Serving = { kind: 'pushed' };
  expect([off, pushed]).toHaveLength(2);
});

it('a folder that is lost was not read', () => {
  const lost = (tree: Looked['tree']): Looked => {
    // @ts-expect-error nothing was read of it
    return { type: 'lost', tree, reason: 'away', readings: new Map() };
  };
  // @ts-expect-error where all may have changed no name says more
  const changes: PossibleChanges = { entries: { isAll: true, names: [] }, named: new Set() };
  expect([lost, changes]).toHaveLength(2);
});

it('a cluster says by words how its connections are encrypted', () => {
  // @ts-expect-error whether that is plain, or not said, is not told by a boolean
  const inputs: Partial<TlsInputs> = { unruled: true };
  // @ts-expect-error there is no third place
  const place: Partial<TlsInputs> = { location: 'nowhere' };
  expect([inputs, place]).toHaveLength(2);
});
