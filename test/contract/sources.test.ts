import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BehaviorSubject, map, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  gated,
  mapped,
  polled,
  renamed,
  shared,
} from '../../src/pilot-agent/sources/combinators.ts';
import { compose } from '../../src/pilot-agent/sources/compose.ts';
import type { ContributingSource } from '../../src/pilot-agent/sources/contribution.ts';
import { debounced, throttled } from '../../src/pilot-agent/sources/pace.ts';
import { source } from '../../src/pilot-agent/sources/source.ts';
import { withFallback } from '../../src/pilot-agent/sources/with-fallback.ts';
import { fileSource } from '../../src/streams/file-source.ts';
import { sourceContract, type SourceStage } from '../../src/testing/source-contract.ts';

const promised = (name: string, stage: () => SourceStage) => {
  describe(name, () => {
    for (const promise of sourceContract(stage)) it(promise.name, promise.check);
  });
};

/** Returns a value that is read every 20 ms, and that can be away. */
function reread(
  wrap: (source: ContributingSource) => ContributingSource = (inner) => inner,
  window?: number,
): SourceStage {
  let version = 1;
  let isAway = false;
  const read = () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve({ version }));
  return {
    source: wrap(
      source('asked', read, {
        every: 20,
        pauses: { first: 20, longest: 20 },
        ...(window !== undefined && { window }),
      }),
    ),
    change: () => void (version += 1),
    outage: { begin: () => void (isAway = true), end: () => void (isAway = false) },
  };
}

promised('source(), read again and again', () => reread());
/** Returns a source that works like one that sends a server the version that it knows. */
function versioned(): SourceStage {
  let version = 1;
  let isAway = false;
  let knownVersion = 0;
  const read = (): Promise<string | undefined> => {
    if (isAway) return Promise.reject(new Error('away'));
    if (knownVersion === version) return Promise.resolve(undefined);
    knownVersion = version;
    return Promise.resolve(String(version));
  };
  return {
    source: source('versioned', read, { every: 20, pauses: { first: 20, longest: 20 } }),
    change: () => void (version += 1),
    outage: { begin: () => void (isAway = true), end: () => void (isAway = false) },
  };
}
promised('source(), which says that nothing has changed', versioned);

promised('source(), with a window of its own', () => reread((inner) => inner, 100));

promised('source(), a stream', () => {
  const value$ = new BehaviorSubject('1');
  return { source: source('stream', () => value$), change: () => value$.next('2') };
});
promised('source(), read when it is told', () => {
  let version = 1;
  const on$ = new Subject<void>();
  return {
    source: source('told', () => [String(version)], { on$ }),
    change: () => {
      version += 1;
      on$.next();
    },
  };
});
promised('source(), a watched file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-source-'));
  const path = join(folder, 'file');
  writeFileSync(path, '1');
  return {
    source: source('file', () => readFile(path), {
      watch: [path],
      pauses: { first: 50, longest: 50 },
    }),
    change: () => writeFileSync(path, '2'),
    outage: {
      begin: () => renameSync(path, `${path}.away`),
      end: () => renameSync(`${path}.away`, path),
    },
    end: () => rmSync(folder, { recursive: true }),
  };
});
promised('fileSource()', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-source-'));
  const path = join(folder, 'file');
  writeFileSync(path, '1');
  return {
    source: fileSource([path]),
    change: () => writeFileSync(path, '2'),
    end: () => rmSync(folder, { recursive: true }),
  };
});

const fixed = source('fixed', () => ['same']);
promised('compose()', () => reread((inner) => compose(fixed, inner)));
promised('renamed()', () => reread((inner) => renamed(inner, 'other')));
promised('gated()', () => reread((inner) => gated(inner, new BehaviorSubject(true))));
promised('mapped()', () => reread((inner) => mapped(inner, (content) => ({ content }))));
promised('polled()', () => reread((inner) => polled(inner, 1_000)));
promised('withFallback()', () => reread((inner) => withFallback(inner, fixed)));
promised('throttled()', () => reread((inner) => throttled(inner, 100)));
promised('debounced()', () => reread((inner) => debounced(inner, 100)));
promised('shared()', () => reread((inner) => shared(inner)));

describe('the contract', () => {
  const broken = async (stage: () => SourceStage): Promise<readonly string[]> => {
    const results = await Promise.all(
      sourceContract(stage).map(({ name, check }) =>
        check().then(
          () => [],
          () => [name],
        ),
      ),
    );
    return results.flat();
  };
  const within = 300;

  it('finds a source that loses what it had in an outage', async () => {
    const lost = () =>
      reread((inner) => ({
        ...inner,
        reading$: inner.reading$.pipe(
          map((reading) => ({
            ...reading,
            hash: reading.config?.[0]?.trouble === undefined ? reading.hash : '',
          })),
        ),
      }));
    expect(await broken(lost)).toEqual([
      'an outage is not a change, and a change after it is emitted',
    ]);
  });

  it('finds a source that does not tell its changes', async () => {
    const { changes$, reading$ } = source('mute', () => [
      String(Math.floor(performance.now() / 1e9)),
    ]);
    expect(
      await broken(() => ({ source: { changes$, reading$ }, change: () => undefined, within })),
    ).toEqual([
      'a change is emitted, and the reading after it differs in the hash and in a part',
      'it can be listened to again after all listeners have left',
    ]);
  });

  it('finds a source whose hash says nothing', async () => {
    const random = () =>
      reread((inner) => ({
        ...inner,
        reading$: inner.reading$.pipe(
          map((reading) => ({ ...reading, hash: String(Math.random()) })),
        ),
      }));
    expect(await broken(random)).toContain('two readings of the same content have the same hash');
  });
});
