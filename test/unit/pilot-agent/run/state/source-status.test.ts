import { describe, expect, it } from 'vitest';
import {
  sourceFamilies,
  sourceNotes,
  sourcesRead,
  sourcesShown,
  type SourceStatuses,
  afterSourceSign,
} from '../../../../../src/pilot-agent/run/state/source-status.ts';
import type { SourceChange } from '../../../../../src/streams/config-source.ts';

const read = (hash: string): SourceChange => ({ type: 'source-read', source: 'url', hash });
const failed: SourceChange = {
  type: 'source-unreadable',
  source: 'url',
  reason: 'refused',
  delayMs: 1_000,
};
const after = (...signs: readonly SourceChange[]): SourceStatuses =>
  signs.reduce(
    (all: SourceStatuses, sign, second) => afterSourceSign(all, sign, second * 1_000),
    new Map(),
  );

describe('how it stands with a source', () => {
  it('counts readings, changes and failures, and knows since when it cannot be read', () => {
    expect(after(read('a'), read('a'), read('b'), failed, failed).get('url')).toEqual({
      name: 'url',
      use: undefined,
      hash: 'b',
      readHash: 'b',
      trouble: { reason: 'refused', since: 3_000 },
      flaw: undefined,
      readAt: 2_000,
      changedAt: 2_000,
      readings: 3,
      failures: 2,
      changes: 1,
    });
  });

  it('counts no change if another content is made of what is read', () => {
    const mapped = {
      source: 'url',
      use: 'envoy',
      at: '',
      content: 'A',
      trouble: undefined,
    } as const;
    const readings = [1, 2, 3].reduce(
      (statuses) =>
        sourcesRead(
          afterSourceSign(statuses, read('a'), 1_000),
          { contributions: [{ ...mapped, hash: 'made of a' }] },
          2_000,
        ),
      after(read('a')),
    );
    expect(readings.get('url')).toMatchObject({ readings: 4, changes: 0, changedAt: 0 });
  });

  it('is a note of readiness while it cannot be read', () => {
    expect(sourceNotes(after(read('a'), failed, failed))).toEqual([
      'source url: refused, since 1970-01-01T00:00:01.000Z: the last content stays in use',
    ]);
    expect(sourceNotes(after(failed))).toEqual([
      'source url: refused, since 1970-01-01T00:00:00.000Z: nothing was read yet',
    ]);
    expect(sourceNotes(after(failed, read('a')))).toEqual([]);
  });

  it('is shown with what the user has asked for, never with what it says', () => {
    const statuses = sourcesRead(
      after(read('0123456789abcdef')),
      {
        contributions: [
          {
            source: 'url',
            use: 'envoy',
            at: '',
            hash: '0123456789abcdef',
            content: 'SECRET',
            trouble: undefined,
          },
        ],
      },
      5_000,
    );
    const unreadSource = {
      kind: 'files',
      name: 'watch',
      as: 'restart',
      at: '',
      paths: ['/a'],
    } as const;
    const shown = sourcesShown(statuses, [unreadSource]);
    expect(shown).toMatchObject([
      { name: 'watch', kind: 'files', as: 'restart', effect: 'epoch', state: 'unread', hash: '' },
      {
        name: 'url',
        kind: 'custom',
        as: 'envoy',
        effect: 'epoch',
        state: 'read',
        hash: '0123456789ab',
        readAt: '1970-01-01T00:00:00.000Z',
      },
    ]);
    expect(JSON.stringify(shown)).not.toContain('SECRET');
    expect(sourcesShown(after(failed), [])).toMatchObject([
      { state: 'failing', reason: 'refused', since: '1970-01-01T00:00:00.000Z' },
    ]);
  });

  it('is in the metrics', () => {
    const values = (statuses: SourceStatuses) =>
      Object.fromEntries(
        sourceFamilies(statuses).map(({ name, samples }) => [
          name.replace('istio_agent_source_', ''),
          samples.map(({ value }) => value),
        ]),
      );
    expect(values(after(read('a'), read('b'), failed))).toEqual({
      up: [0],
      readings_total: [2],
      failures_total: [1],
      changes_total: [1],
      changed_timestamp_seconds: [1],
    });
    expect(values(after(failed))).toMatchObject({ up: [0], changed_timestamp_seconds: [] });
    expect(values(after(read('a')))).toMatchObject({ up: [1] });
  });
});
