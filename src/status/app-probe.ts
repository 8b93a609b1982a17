import { asyncScheduler, catchError, EMPTY, filter, ignoreElements, map, type Observable, of, type SchedulerLike, take, tap } from 'rxjs';
import type { AppProbe } from '../config/app-probes.ts';
import { attentiveTimeout } from '../operators/attentive-timer.ts';
import { answer, type Handler, type ProbeRedirected } from './handler.ts';
import { ownRequest } from './own-requests.ts';
import { openSocket } from './open-socket.ts';
import { probeGrpc } from './probe-grpc.ts';
import { type ProbeAnswer, probeHttp } from './probe-http.ts';

/**
 * Answers what is below `/app-health` and `/app-lifecycle`: carries out the probe of that path, and
 * answers with the application's status and nothing else; 500 where it does not answer within the
 * probe's time-out.
 */
export function appProbe(probes: ReadonlyMap<string, AppProbe>, scheduler: SchedulerLike = asyncScheduler): Handler {
  const told = new Set<string>();
  return (request, response) => {
    const refusal = ownRequest(request);
    if (refusal !== undefined) {
      answer(response, ...refusal);
      return EMPTY;
    }
    const path = request.url?.replace(/\?.*/s, '') ?? '';
    const probe = probes.get(path);
    if (probe === undefined) {
      return of(undefined).pipe(
        tap(() => answer(response, 400, `app prober config does not exists for ${path}`)),
        ignoreElements(),
      );
    }
    return answerOf(probe, request.headersDistinct).pipe(
      attentiveTimeout(probe.timeout, scheduler),
      catchError(() => of<ProbeAnswer>({ status: 500 })),
      tap(({ status }) => response.writeHead(status, { 'content-length': 0 }).end()),
      filter(({ elsewhere }) => elsewhere !== undefined && !told.has(path)),
      map(({ elsewhere = '' }): ProbeRedirected => {
        told.add(path);
        return { type: 'probe-redirected', path, location: elsewhere.slice(0, longestLocation) };
      }),
    );
  };
}

/** In characters. */
const longestLocation = 200;

function answerOf(probe: AppProbe, headers: Parameters<typeof probeHttp>[1]): Observable<ProbeAnswer> {
  switch (probe.kind) {
    case 'http':
      return probeHttp(probe, headers);
    case 'tcp':
      return openSocket(probe.host, probe.port).pipe(take(1), map(() => ({ status: 200 }))); // prettier-ignore
    case 'grpc':
      return probeGrpc(probe).pipe(map((status) => ({ status })));
  }
}
