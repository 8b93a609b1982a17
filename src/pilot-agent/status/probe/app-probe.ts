import {
  asyncScheduler,
  catchError,
  EMPTY,
  ignoreElements,
  map,
  mergeMap,
  type Observable,
  of,
  type SchedulerLike,
  take,
  tap,
} from 'rxjs';
import type { AppProbe } from '../../config/app-probes.ts';
import { attentiveTimeout } from '../../../operators/attentive-timer.ts';
import { answer, type Handler } from '../../../shared/http/handler.ts';
import { ownRequest } from './own-requests.ts';
import { hostsOf, openSocket } from '../../../shared/http/open-socket.ts';
import { probeGrpc } from './probe-grpc.ts';
import { type ProbeAnswer, probeHttp } from './probe-http.ts';

/** An application redirected a probe to another host, for the first time. */
export interface ProbeRedirected {
  readonly type: 'probe-redirected';
  readonly path: string;
  readonly location: string;
}

/** A probe fails, for another reason than before. */
export interface ProbeFailed {
  readonly type: 'probe-failed';
  readonly path: string;
  readonly reason: string;
}

/**
 * Handles the paths below `/app-health` and `/app-lifecycle`: runs the probe of that path, and
 * answers with the application's status and nothing else. If the application does not answer within
 * the probe's timeout, answers 500 with the reason. Reports a failing probe once for each reason,
 * until the reason changes. A probe that names no host tries `localHosts` in their order.
 */
export function appProbe(
  probes: ReadonlyMap<string, AppProbe>,
  localHosts: readonly string[],
  scheduler: SchedulerLike = asyncScheduler,
): Handler<ProbeRedirected | ProbeFailed> {
  const redirected = new Set<string>();
  const failures = new Map<string, string>();
  const isNews = (
    path: string,
    { status, reason = `the application answers ${status}` }: ProbeAnswer,
  ) => {
    const before = failures.get(path);
    if (status < 400) failures.delete(path);
    else failures.set(path, reason);
    return failures.has(path) && reason !== before;
  };
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
    return answerOf(probe, localHosts, request.headersDistinct).pipe(
      attentiveTimeout(probe.timeout, scheduler),
      catchError((error: unknown) => of<ProbeAnswer>({ status: 500, reason: reasonOf(error) })),
      tap(({ status, reason = '' }) => answer(response, status, reason)),
      mergeMap((result): readonly (ProbeRedirected | ProbeFailed)[] => {
        const { status, elsewhere, reason = `the application answers ${status}` } = result;
        if (isNews(path, result)) return [{ type: 'probe-failed', path, reason }];
        if (elsewhere === undefined || redirected.has(path)) return [];
        redirected.add(path);
        return [{ type: 'probe-redirected', path, location: elsewhere.slice(0, longestLocation) }];
      }),
    );
  };
}

/** Returns why the application did not answer. Pure. */
function reasonOf(error: unknown): string {
  const { message, code = 'no connection' } = error as NodeJS.ErrnoException;
  return (message === '' ? code : message).replaceAll(/[\p{C}\s]+/gu, ' ').slice(0, longestReason);
}

/** In characters. */
const longestReason = 200;
/** In characters. */
const longestLocation = 200;

function answerOf(
  probe: AppProbe,
  localHosts: readonly string[],
  headers: Parameters<typeof probeHttp>[2],
): Observable<ProbeAnswer> {
  switch (probe.kind) {
    case 'http':
      return probeHttp(probe, localHosts, headers);
    case 'tcp':
      return openSocket(hostsOf(probe.host, localHosts), probe.port).pipe(
        take(1),
        map(() => ({ status: 200 })),
      );
    case 'grpc':
      return probeGrpc(probe, localHosts);
  }
}
