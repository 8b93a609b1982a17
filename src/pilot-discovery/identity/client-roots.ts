// Why: docs/decisions/111-clients-of-another-authority-are-trusted-beside.md
import {
  asyncScheduler,
  concatMap,
  connect,
  distinctUntilChanged,
  map,
  merge,
  type Observable,
  type SchedulerLike,
  switchMap,
  timer,
} from 'rxjs';
import { repeatOn } from '../../operators/repeat-on.ts';
import { ofType } from '../../operators/tagged-union.ts';
import { rootsFlaw } from '../../shared/certificates/pair-flaw.ts';
import { largest, readOutside } from '../../shared/files/outside-file.ts';
import { watchFiles } from '../../streams/watch-files.ts';
import type { ServingEvent } from './serving-files.ts';

type RootsReading =
  | { readonly type: 'roots'; readonly roots: string }
  | { readonly type: 'unserved'; readonly reason: string };

/** The time from a change to the reading, in ms: a file may be written in pieces. */
const gather = 100;
/** The time between two readings without a change, in ms. */
const every = 60_000;

/**
 * Lets a server also trust the clients of another authority, by the roots in a file. Subscribes to
 * `serving$` when the file can be read, and again when its roots change. If it cannot be read,
 * emits the reason, and the roots before stay. Cold; never completes; errors if `serving$` does.
 */
export function withClientRoots(
  serving$: Observable<ServingEvent>,
  path: string,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<ServingEvent> {
  const reading$ = timer(gather, scheduler).pipe(
    concatMap(() => readRoots(path)),
    repeatOn(watchFiles([path], scheduler), () => every, scheduler),
    distinctUntilChanged((before, after) => contentOf(before) === contentOf(after)),
  );
  return reading$.pipe(
    connect((readings$) =>
      merge(
        readings$.pipe(ofType('unserved')),
        readings$.pipe(
          ofType('roots'),
          map(({ roots }) => roots),
          distinctUntilChanged(),
          // The server overwrites a key once it has it: each change needs another certificate.
          switchMap((roots) => serving$.pipe(map((event) => withRoots(event, roots)))),
        ),
      ),
    ),
  );
}

const contentOf = (reading: RootsReading): string =>
  reading.type === 'roots' ? reading.roots : reading.reason;

function withRoots(event: ServingEvent, roots: string): ServingEvent {
  if (event.type !== 'serving') return event;
  const { serving } = event;
  return { type: 'serving', serving: { ...serving, roots: `${serving.roots}\n${roots}` } };
}

/** Never rejects. */
async function readRoots(path: string): Promise<RootsReading> {
  const file = await readOutside(path, largest.pem);
  const flaw = file.kind === 'read' ? rootsFlaw(file.bytes.toString()) : file.reason;
  return file.kind === 'read' && flaw === undefined
    ? { type: 'roots', roots: file.bytes.toString() }
    : { type: 'unserved', reason: `the roots of clients cannot be used: ${path}: ${String(flaw)}` };
}
