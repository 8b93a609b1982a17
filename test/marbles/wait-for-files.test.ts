import { asyncScheduler, defer, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type FileSign, type FileSystem, waitForFiles } from '../../src/streams/wait-for-files.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';

type Stage = readonly [from: number, sign: FileSign];

/**
 * Returns files that are absent until their first stage. Each stage begins at a time in ms. `looks`
 * contains the times at which each file was looked at.
 */
function fakeFiles(stages: Readonly<Record<string, readonly Stage[]>>) {
  const looks: Record<string, number[]> = {};
  const files: FileSystem = {
    look: (path) =>
      defer(() => {
        const now = asyncScheduler.now();
        (looks[path] ??= []).push(now);
        return of(stages[path]?.findLast(([from]) => from <= now)?.[1] ?? 'absent');
      }),
  };
  return { files, looks };
}

const [chain, key, root] = [
  '/etc/certs/cert-chain.pem',
  '/etc/certs/key.pem',
  '/etc/certs/root-cert.pem',
] as const;
const missing = { a: [chain, key, root], c: [chain], k: [key], b: [chain, key], n: [] };

describe('waitForFiles', () => {
  it(
    'has nothing to say of files that are there, or of none, and holds nobody back',
    marbles((m) => {
      const { files } = fakeFiles({ [chain]: [[0, 'there']], [key]: [[0, 'there']] });
      m.expectObservable(waitForFiles([chain, key], { files })).toBe('|');
      m.expectObservable(waitForFiles([], { files })).toBe('|');
      m.expectObservable(waitForFiles(['', ''], { files })).toBe('|');
    }),
  );

  it(
    'says which are missing at once, whenever that changes, and that they are there; looking each 100 ms',
    marbles((m) => {
      const { files } = fakeFiles({
        [chain]: [[250, 'there']],
        [key]: [[1_000, 'there']],
        [root]: [[0, 'there']],
      });
      const expected = at({ '0s': 'b', '300ms': 'k', '1s': 'n|' });
      m.expectObservable(waitForFiles([chain, key, root], { files })).toBe(expected, missing);
    }),
  );

  it(
    'waits for all of them side by side: 2 minutes, and not longer, for whatever number',
    marbles((m) => {
      const { files, looks } = fakeFiles({
        [chain]: [[119_900, 'there']],
        [key]: [[120_000, 'there']],
      });
      const expected = at({ '0s': 'a', '119.9s': 'y', '120s': '|' });
      m.expectObservable(waitForFiles([chain, key, root], { files })).toBe(expected, {
        ...missing,
        y: [key, root],
      });
      m.flush();
      expect(looks[root]?.at(-1)).toBe(119_900);
    }),
  );

  it(
    'has the limit and the pace that are given',
    marbles((m) => {
      const { files, looks } = fakeFiles({});
      m.expectObservable(waitForFiles([key], { files, limit: 10_000, poll: 4_000 })).toBe(
        at({ '0s': 'k', '10s': '|' }),
        missing,
      );
      m.flush();
      expect(looks[key]).toEqual([0, 4_000, 8_000]);
    }),
  );

  it(
    'says again that a file is missing which was there while another was waited for',
    marbles((m) => {
      const { files } = fakeFiles({
        [chain]: [
          [100, 'there'],
          [200, 'absent'],
          [300, 'there'],
        ],
        [key]: [[400, 'there']],
      });
      const expected = at({ '0s': 'b', '100ms': 'k', '200ms': 'b', '300ms': 'k', '400ms': 'n|' });
      m.expectObservable(waitForFiles([chain, key], { files })).toBe(expected, missing);
    }),
  );

  it(
    'does not wait for a file that it cannot look for, but says that it is missing',
    marbles((m) => {
      const { files } = fakeFiles({ [chain]: [[0, 'barred']], [key]: [[0, 'there']] });
      m.expectObservable(waitForFiles([chain, key], { files })).toBe('(c|)', missing);
    }),
  );

  it(
    'waits for the others beside it, and takes it if it can be looked for meanwhile',
    marbles((m) => {
      const { files } = fakeFiles({
        [chain]: [
          [0, 'barred'],
          [200, 'there'],
        ],
        [key]: [[300, 'there']],
      });
      const expected = at({ '0s': 'b', '200ms': 'k', '300ms': 'n|' });
      m.expectObservable(waitForFiles([chain, key], { files })).toBe(expected, missing);
    }),
  );

  it(
    'waits for a file once that is named twice',
    marbles((m) => {
      const { files, looks } = fakeFiles({
        [chain]: [[100, 'there']],
        [key]: [[100, 'there']],
        [root]: [[100, 'there']],
      });
      m.expectObservable(waitForFiles([chain, key, root, chain, key, root], { files })).toBe(
        at({ '0s': 'a', '100ms': 'n|' }),
        missing,
      );
      m.flush();
      expect(looks[chain]).toEqual([0, 100]);
    }),
  );

  it(
    'stops looking when nobody wants to know any more, and begins anew for the next one',
    marbles((m) => {
      const { files, looks } = fakeFiles({});
      const awaited$ = waitForFiles([key], { files });
      m.expectObservable(awaited$, at({ '0s': '^', '250ms': '!' })).toBe('k', missing);
      m.expectObservable(awaited$, at({ '1s': '^', '1.15s': '!' })).toBe('1s k', missing);
      m.flush();
      expect(looks[key]).toEqual([0, 100, 200, 1_000, 1_100]);
    }),
  );

  it(
    'gives up on a look that never ends',
    marbles((m) => {
      const look$ = m.cold<FileSign>('-');
      m.expectObservable(waitForFiles([key], { files: { look: () => look$ } })).toBe('120s |');
      m.expectSubscriptions(look$.subscriptions).toBe(at({ '0s': '^', '120s': '!' }));
    }),
  );
});
