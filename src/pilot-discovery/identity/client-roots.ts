// Why: docs/decisions/111-clients-of-another-authority-are-trusted-too.md
import {
  asyncScheduler,
  connect,
  distinctUntilChanged,
  map,
  merge,
  type Observable,
  type SchedulerLike,
  switchMap,
} from 'rxjs';
import { ofType } from '../../operators/tagged-union.ts';
import { rootsFlaw } from '../../shared/certificates/pair-flaw.ts';
import { largest, readOutside } from '../../shared/files/outside-file.ts';
import { rereadFiles } from './reread-files.ts';
import type { ServingEvent } from './serving-files.ts';

type RootsReading =
  | { readonly type: 'roots'; readonly roots: string }
  | { readonly type: 'unserved'; readonly reason: string };

/**
 * Lets a server also trust the clients of another authority, by the roots in a file. Subscribes to
 * `serving$` when the file can be read, and again when its roots change. If it cannot be read,
 * emits the reason, and the previous roots stay. Cold; never completes; errors if `serving$` does.
 */
export function withClientRoots(
  serving$: Observable<ServingEvent>,
  path: string,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<ServingEvent> {
  const reading$ = rereadFiles([path], () => readRoots(path), scheduler).pipe(
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
          // The server overwrites each key after use, so each change needs a new certificate.
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
