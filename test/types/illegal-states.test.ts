import { expect, it } from 'vitest';
import type { AgentEvent } from '../../src/epochs/model.ts';
import type { Proxy, Verdict } from '../../src/epochs/ports.ts';
import type { Looked } from '../../src/pilot-discovery/registry/files/folder-state.ts';
import type { TlsInputs } from '../../src/pilot-discovery/generate/tls/upstream-tls.ts';
import type { PossibleChanges } from '../../src/streams/changed-entries.ts';
import type { Serving } from '../../src/pilot-agent/run/secrets/secrets-plan.ts';

// These states could be written once, and mean nothing.

it('a verdict says one thing', () => {
  // @ts-expect-error a refusal does not report whether memory was short
  const refused: Verdict = { kind: 'refused', reason: 'no such cluster', outOfMemory: true };
  // @ts-expect-error a configuration that cannot be a child has no reason beside that
  const both: Verdict = { kind: 'works-alone', reason: 'memory' };
  // @ts-expect-error a lack of room has a reason
  const roomless: Verdict = { kind: 'no-room' };
  // @ts-expect-error a check without a verdict reports whether memory was short
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
    // @ts-expect-error `true` does not name a drain
    proxy.drain(0, true),
    // @ts-expect-error there is no such drain
    proxy.drain(0, 'plain'),
  ];
  expect(drain).toBeInstanceOf(Function);
});

it('secrets that are not served are neither pushed nor at hand', () => {
  // @ts-expect-error without a server no secrets are at hand
  const off: Serving = { kind: 'off', workload: 'at-hand' };
  // @ts-expect-error a server has its secrets at hand or on demand
  const pushed: Serving = { kind: 'pushed' };
  expect([off, pushed]).toHaveLength(2);
});

it('a folder that is lost was not read', () => {
  const lost = (tree: Looked['tree']): Looked => {
    // @ts-expect-error a lost folder has no readings
    return { type: 'lost', tree, reason: 'away', readings: new Map() };
  };
  // @ts-expect-error if everything may have changed, there are no names
  const changes: PossibleChanges = { entries: { isAll: true, names: [] }, named: new Set() };
  expect([lost, changes]).toHaveLength(2);
});

it('a cluster says by words how its connections are encrypted', () => {
  // @ts-expect-error a boolean does not distinguish plain text from no setting
  const inputs: Partial<TlsInputs> = { unruled: true };
  // @ts-expect-error there is no third place
  const place: Partial<TlsInputs> = { location: 'nowhere' };
  expect([inputs, place]).toHaveLength(2);
});
