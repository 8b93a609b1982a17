import { EMPTY, ignoreElements, map, type Observable, take, tap } from 'rxjs';
import { insideGuard } from '../status/control-guard.ts';
import { answer, type Handler } from '../status/handler.ts';
import { debugAnswers } from './debug-answers.ts';
import { discoveryFamilies } from './discovery-families.ts';
import { type DiscoveryView, unready } from './discovery-view.ts';
import { printFamilies } from '../metrics/metric-family.ts';

type Routes = (path: string) => Handler;

function missing(_: unknown, response: Parameters<Handler>[1]): Observable<never> {
  answer(response, 404, 'Not Found');
  return EMPTY;
}

/**
 * Who answers what on `--httpAddr`: `/ready` to everybody, `/debug` to this machine.
 *
 * @param view$ emits at once, on subscribe, what holds now
 */
export function debugRoutes(view$: Observable<DiscoveryView>, now: () => number): Routes {
  return (path) => {
    if (path === '/ready') return ready(view$);
    const found = debugAnswers[path];
    if (found === undefined) return missing;
    return (request, response) => {
      const refusal = insideGuard(request);
      if (refusal !== undefined) {
        answer(response, ...refusal);
        return EMPTY;
      }
      return view$.pipe(
        take(1),
        tap((view) => answer(response, 200, JSON.stringify(found(view, now()), withMaps), { 'content-type': 'application/json' })),
        ignoreElements(),
      );
    };
  };
}

/** A map as an object, for JSON. */
const withMaps = (_: string, value: unknown): unknown =>
  value instanceof Map ? Object.fromEntries(value as Map<unknown, unknown>) : value;

/** Who answers what on `--monitoringAddr`: `/metrics`. */
export function monitoringRoutes(view$: Observable<DiscoveryView>, version: string): Routes {
  return (path) =>
    path !== '/metrics'
      ? missing
      : (_, response) =>
          view$.pipe(
            take(1),
            map((view) => printFamilies(discoveryFamilies(view, version)).join('\n')),
            tap((text) => answer(response, 200, text, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })),
            ignoreElements(),
          );
}

function ready(view$: Observable<DiscoveryView>): Handler {
  return (_, response) =>
    view$.pipe(
      take(1),
      tap((view) => {
        const reason = unready(view);
        answer(response, reason === undefined ? 200 : 503, reason ?? '');
      }),
      ignoreElements(),
    );
}
