import type { IncomingMessage } from 'node:http';
import {
  asyncScheduler,
  EMPTY,
  from,
  ignoreElements,
  type Observable,
  of,
  shareReplay,
  switchMap,
  take,
  tap,
  withLatestFrom,
} from 'rxjs';
import {
  controlGuard,
  insideGuard,
  type RequestRefusal,
  tokenGuard,
} from '../../shared/http/control-guard.ts';
import { answer, type Handler } from '../../shared/http/handler.ts';
import type { StatusRequest, StatusSign } from './status-event.ts';
import type { StatusParts } from './status-parts.ts';
import { logging } from './logging.ts';
import { printable } from '../../shared/log/printable.ts';
import { probe } from './probe/probe.ts';

/**
 * Returns the handler of a path without its query. Loads rarely used handlers at their first
 * request: probes of the application with HTTP/2, the merging of metrics with compression, the
 * profiler, the page. Shows the log only if `showsLog`.
 */
export function routes(parts: StatusParts): (path: string) => Handler<StatusSign> {
  // One handler for both paths, so that only one inspection runs at a time.
  const handler = profiling(
    parts.profileToken,
    lazily(async () => (await import('./profile.ts')).inspect()),
  );
  const fixed = new Map<string, Handler<StatusSign>>([
    ['/healthz/ready', probe(parts.unready$, parts.notes$)],
    ['/healthz/live', probe(parts.unlive$)],
    ['/healthz/startup', probe(parts.unstarted$)],
    ['/stats/prometheus', lazily(() => scrapes(parts))],
    [
      '/app-health/',
      lazily(async () =>
        (await import('./probe/app-probe.ts')).appProbe(parts.probes, parts.probeHosts),
      ),
    ],
    ['/quitquitquit', order({ type: 'quit-requested' })],
    ['/drain', order({ type: 'drain-requested' })],
    ['/restart', order({ type: 'restart-requested', by: 'POST /restart' })],
    ['/logging', logging(parts.admin)],
    ['/debug/epochs', showEpochs(parts.epochs$)],
    ['/debug/status', showJson(parts.report$, insideGuard)],
    [
      '/debug/events',
      lazily(async () =>
        (await import('./event-stream.ts')).eventStream(parts.live$(parts.showsLog), mostStreams),
      ),
    ],
    ['/debug/sources', showJson(parts.sources$, insideGuard)],
    ['/debug/config', showJson(parts.config$, insideGuard)],
    ['/debug/pprof/profile', handler],
    ['/debug/pprof/heap', handler],
    ...(parts.hasPage
      ? [['/', inside(lazily(async () => (await import('./page.ts')).page()))] as const]
      : []),
    ['/version', showJson(of(parts.version), () => undefined)],
  ]);
  return (path) =>
    fixed.get(path.replace(/^\/app-(?:health|lifecycle)\/.*/s, '/app-health/')) ?? missing;
}

/** The maximum number of event streams of one server. */
const mostStreams = 4;

/** Returns a handler that is loaded at its first request. */
function lazily(load: () => Promise<Handler<StatusSign>>): Handler<StatusSign> {
  let handler$: Observable<Handler<StatusSign>> | undefined;
  return (request, response) => {
    handler$ ??= from(load()).pipe(shareReplay({ bufferSize: 1, refCount: false }));
    return handler$.pipe(switchMap((handler) => handler(request, response)));
  };
}

async function scrapes(parts: StatusParts): Promise<Handler<StatusSign>> {
  const { allMetrics } = await import('./scrape/scrape.ts');
  parts.beforeScrapes();
  return allMetrics(parts);
}

/** Returns a handler that refuses clients that may not inspect the agent. */
function inside<Sign>(handler: Handler<Sign>): Handler<Sign> {
  return (request, response) => {
    const refusal = insideGuard(request);
    if (refusal === undefined) return handler(request, response);
    answer(response, ...refusal);
    return EMPTY;
  };
}

/** Returns a handler that also refuses clients without the token. */
function profiling(token: string | undefined, handler: Handler<StatusSign>): Handler<StatusSign> {
  return (request, response) => {
    const refusal = insideGuard(request) ?? tokenGuard(request, token);
    if (refusal === undefined) return handler(request, response);
    answer(response, ...refusal);
    return EMPTY;
  };
}

function missing({ url }: IncomingMessage, response: Parameters<Handler>[1]): Observable<never> {
  if (url === '/app-health') answer(response, 301, '', { location: '/app-health/' });
  else answer(response, 404, '404 page not found');
  return EMPTY;
}

/** Answers with `OK`, and emits the request. */
function order(sign: StatusRequest): Handler<StatusRequest> {
  return (request, response) => {
    const refusal = controlGuard(request);
    answer(response, ...(refusal ?? [200, 'OK']));
    return refusal === undefined ? of(sign) : of();
  };
}

/** Answers as {@link showJson} does, but with a table if the client asks for text. */
function showEpochs(epochs$: StatusParts['epochs$']): Handler {
  return (request, response) => {
    const isText = /^\s*text\/plain\b/.test(request.headers.accept ?? '');
    if (!isText || insideGuard(request) !== undefined)
      return showJson(epochs$, insideGuard)(request, response);
    return from(import('../report/epoch-table.ts')).pipe(
      withLatestFrom(epochs$),
      tap(([{ epochTable }, report]) =>
        answer(response, 200, printable(epochTable(report, asyncScheduler.now()))),
      ),
      ignoreElements(),
    );
  };
}

/**
 * Answers with the newest value of `value$`, which it emits at once, as JSON; or with the refusal
 * of `guard`.
 */
function showJson(
  value$: Observable<unknown>,
  guard: (request: IncomingMessage) => RequestRefusal | undefined,
): Handler {
  return (request, response) => {
    const refusal = guard(request);
    if (refusal !== undefined) {
      answer(response, ...refusal);
      return EMPTY;
    }
    return value$.pipe(
      take(1),
      tap((value) =>
        answer(response, 200, JSON.stringify(value, undefined, 2), {
          'content-type': 'application/json',
        }),
      ),
      ignoreElements(),
    );
  };
}
