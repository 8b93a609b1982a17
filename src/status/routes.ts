import type { IncomingMessage } from 'node:http';
import { EMPTY, from, type Observable, of, shareReplay, switchMap } from 'rxjs';
import { answer } from './answer.ts';
import { insideGuard } from './control-guard.ts';
import type { Handler } from './handler.ts';
import { logging } from './logging.ts';
import { order } from './order.ts';
import { probe } from './probe.ts';
import type { StatusParts } from './status-parts.ts';
import { tell } from './tell.ts';

/**
 * Who answers what: the handler of a path without its query. What a run may never be asked for is loaded when it is: probes of the application with HTTP/2, the
 * merging of metrics with compression, the profiler.
 */
export function routes(parts: StatusParts): (path: string) => Handler {
  const fixed = new Map<string, Handler>([
    ['/healthz/ready', probe(parts.unready$, parts.notes$)],
    ['/healthz/live', probe(parts.unlive$)],
    ['/healthz/startup', probe(parts.unstarted$)],
    ['/stats/prometheus', lazily(async () => (await import('./all-metrics.ts')).allMetrics(parts))],
    ['/app-health/', lazily(async () => (await import('./app-probe.ts')).appProbe(parts.probes))],
    ['/quitquitquit', order({ type: 'quit-requested' })],
    ['/drain', order({ type: 'drain-requested' })],
    ['/restart', order({ type: 'restart-requested' })],
    ['/logging', logging(parts.admin)],
    ['/debug/epochs', tell(parts.epochs$, insideGuard)],
    ['/debug/config', tell(parts.config$, insideGuard)],
    ['/debug/pprof/profile', guarded(lazily(async () => (await import('./inspect.ts')).inspect('cpu')))],
    ['/debug/pprof/heap', guarded(lazily(async () => (await import('./inspect.ts')).inspect('heap')))],
    ['/version', tell(of(parts.version), () => undefined)],
  ]);
  return (path) => fixed.get(path.replace(/^\/app-(?:health|lifecycle)\/.*/s, '/app-health/')) ?? missing;
}

/** A handler that is loaded for its first request. */
function lazily(load: () => Promise<Handler>): Handler {
  let handler$: Observable<Handler> | undefined;
  return (request, response) => {
    handler$ ??= from(load()).pipe(shareReplay({ bufferSize: 1, refCount: false }));
    return handler$.pipe(switchMap((handler) => handler(request, response)));
  };
}

function guarded(handler: Handler): Handler {
  return (request: IncomingMessage, response) => {
    const refusal = insideGuard(request);
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
