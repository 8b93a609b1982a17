import { render } from 'preact';
import {
  animationFrameScheduler,
  asyncScheduler,
  auditTime,
  combineLatest,
  distinctUntilChanged,
  fromEvent,
  interval,
  map,
  NEVER,
  of,
  scan,
  startWith,
  switchMap,
  timer,
} from 'rxjs';
import type { Advices } from './advice.ts';
import { connectTo, followAgent } from './follow-agent.ts';
import { afterMessage, nothing } from './page-state.ts';
import { Page } from './page.tsx';
import { parseJson } from '../../shared/text/parse-json.ts';

/** In ms. A hidden page closes its stream after a minute. */
const unseen = 60_000;

const wanted$ = fromEvent(document, 'visibilitychange').pipe(
  startWith(undefined),
  switchMap(() => (document.hidden ? timer(unseen).pipe(map(() => false)) : of(true))),
  distinctUntilChanged(),
);
const messages$ = wanted$.pipe(
  switchMap((wanted) => (wanted ? followAgent(() => connectTo('debug/events')) : NEVER)),
);
const state$ = messages$.pipe(scan(afterMessage, nothing), startWith(nothing));
const now$ = interval(1_000).pipe(
  startWith(0),
  map(() => asyncScheduler.now()),
);

/** The build writes it into the page. */
const advices = parseJson(document.getElementById('advice')?.textContent ?? '{}') as Advices;
const place = document.getElementById('page');
place?.replaceChildren();
combineLatest([state$, now$])
  .pipe(auditTime(0, animationFrameScheduler))
  .subscribe({
    next: ([view, now]) => {
      if (place !== null)
        render(<Page state={view} now={now + view.skew} advices={advices} />, place);
    },
    error: reportError,
  });
