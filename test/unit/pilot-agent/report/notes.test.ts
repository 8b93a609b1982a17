import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { noteAnchor, furtherNotes } from '../../../../src/pilot-agent/report/notes.ts';
import { controlPlaneNotes } from '../../../../src/pilot-agent/run/status/control-plane-notes.ts';
import { secretNotes } from '../../../../src/pilot-agent/run/state/secret-troubles.ts';
import { sourceNotes } from '../../../../src/pilot-agent/run/state/source-status.ts';

const { advice } = (await import(resolve('scripts/advice.mjs'))) as {
  readonly advice: () => Readonly<Record<string, unknown>>;
};

const trouble = { reason: 'connection refused', since: 0 };
const statuses = [
  { name: 'mine', hash: '', trouble },
  { name: 'flawed', hash: '', flaw: 'a list' },
];
const notes = [
  'Envoy has crashed once in the last 10 min: SIGSEGV',
  'configuration refused: no such field',
  ...controlPlaneNotes(
    { address: 'istiod:15012', trouble, storedOf: 0 } as Parameters<typeof controlPlaneNotes>[0],
    1_000,
  ),
  ...sourceNotes(new Map(statuses.map((status) => [status.name, status])) as never),
  ...secretNotes([{ name: 'default', reason: 'no key', isServed: true }], undefined),
];

describe('a note', () => {
  it.each(notes.map((note) => [note]))(
    'leads to a section of the page that says what to do: %s',
    (note) => {
      expect(advice()).toHaveProperty([noteAnchor(note)]);
    },
  );

  it('is left out if its reason is told already', () => {
    expect(
      furtherNotes(['source a: gone, since now', 'source b: away, since now'], ['gone', undefined]),
    ).toEqual(['source b: away, since now']);
  });
});
