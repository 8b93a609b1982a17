import { EMPTY, ignoreElements, map, type Observable, take, tap } from 'rxjs';
import { controlGuard, insideGuard } from '../../shared/http/control-guard.ts';
import { answer, type Handler } from '../../shared/http/handler.ts';
import type { ConnectionState } from '../push/connection-states.ts';
import {
  type ConnectedProxy,
  connectedAnswers,
  debugAnswers,
  type ProxyWithView,
  proxyAnswers,
  proxyNameOf,
} from './debug-answers.ts';
import { discoveryFamilies } from './discovery-families.ts';
import { type DiscoveryView, readyNote, unready } from '../state/discovery-view.ts';
import { heldRemovalCount } from '../environment/store.ts';
import { printFamilies } from '../../shared/metrics/metric-family.ts';
import { jsonWithMaps } from '../../shared/text/json-with-maps.ts';
import { ownMember } from '../../shared/text/own-member.ts';

type Routes = (path: string) => Handler;

/** If the requested proxy is not connected, the answer names at most this number of others. */
const mostNamed = 100;

function missing(_: unknown, response: Parameters<Handler>[1]): Observable<never> {
  answer(response, 404, 'Not Found');
  return EMPTY;
}

/**
 * Returns the handlers of `--httpAddr`: `/ready` for all clients, `/debug` for this machine.
 *
 * @param view$ emits the current view at once, on subscribe
 * @param viewOfNode returns the proxy of a node, and its view; undefined before the first snapshot
 * @param confirm lets held removals happen
 */
export function debugRoutes(
  view$: Observable<DiscoveryView>,
  now: () => number,
  viewOfNode: (view: DiscoveryView, node: ConnectionState['node']) => ProxyWithView | undefined,
  confirm: () => void,
): Routes {
  return (path) => {
    if (path === '/ready') return ready(view$);
    if (path === '/confirm') return confirming(view$, confirm);
    const [ofAll, ofProxy] = [ownMember(debugAnswers, path), ownMember(proxyAnswers, path)];
    const ofConnected = ownMember(connectedAnswers, path);
    if (ofAll === undefined && ofProxy === undefined && ofConnected === undefined) return missing;
    const responseTo = (
      view: DiscoveryView,
      url: string,
    ): readonly [status: number, body: unknown] => {
      if (ofConnected !== undefined) return [200, ofConnected(connectedProxies(view, viewOfNode))];
      if (ofProxy === undefined) return [200, ofAll?.(view, now())];
      const id = new URL(url, 'http://localhost').searchParams.get('proxyID');
      const states = [...view.connections].map(([, state]) => state);
      const state = states.find(
        (candidate) => id !== null && (proxyNameOf(candidate) === id || candidate.node.id === id),
      );
      const proxy = state && viewOfNode(view, state.node);
      if (proxy !== undefined) return [200, ofProxy(proxy)];
      const connected = [...new Set(states.map(proxyNameOf))].slice(0, mostNamed);
      const reason =
        id === null ? 'it needs ?proxyID=NAME.NAMESPACE' : `no proxy ${id} is connected`;
      return [id === null ? 400 : 404, { error: reason, connected }];
    };
    return (request, response) => {
      const refusal = insideGuard(request);
      if (refusal !== undefined) {
        answer(response, ...refusal);
        return EMPTY;
      }
      return view$.pipe(
        take(1),
        tap((view) => {
          const [status, body] = responseTo(view, request.url ?? '');
          answer(response, status, jsonWithMaps(body), {
            'content-type': 'application/json',
          });
        }),
        ignoreElements(),
      );
    };
  };
}

const connectedProxies = (
  view: DiscoveryView,
  viewOfNode: (view: DiscoveryView, node: ConnectionState['node']) => ProxyWithView | undefined,
): readonly ConnectedProxy[] =>
  [...view.connections].flatMap(([, state]) => {
    const proxy = viewOfNode(view, state.node);
    return proxy === undefined ? [] : [{ state, proxy }];
  });

/** Returns the handlers of `--monitoringAddr`: `/metrics`. */
export function monitoringRoutes(view$: Observable<DiscoveryView>, version: string): Routes {
  return (path) =>
    path !== '/metrics'
      ? missing
      : (_, response) =>
          view$.pipe(
            take(1),
            map((view) => printFamilies(discoveryFamilies(view, version)).join('\n')),
            tap((text) =>
              answer(response, 200, text, {
                'content-type': 'text/plain; version=0.0.4; charset=utf-8',
              }),
            ),
            ignoreElements(),
          );
}

function ready(view$: Observable<DiscoveryView>): Handler {
  return (_, response) =>
    view$.pipe(
      take(1),
      tap((view) => {
        const reason = unready(view);
        answer(response, reason === undefined ? 200 : 503, reason ?? readyNote(view) ?? '');
      }),
      ignoreElements(),
    );
}

/** Lets held removals happen after a POST from this machine, and answers with their number. */
function confirming(view$: Observable<DiscoveryView>, confirm: () => void): Handler {
  return (request, response) => {
    const refusal = controlGuard(request);
    if (refusal !== undefined) {
      answer(response, ...refusal);
      return EMPTY;
    }
    return view$.pipe(
      take(1),
      tap(({ store }) => {
        const heldCount = store === undefined ? 0 : heldRemovalCount(store);
        confirm();
        answer(
          response,
          200,
          heldCount === 0
            ? 'nothing is held back'
            : `confirmed: ${heldCount} resources are removed`,
        );
      }),
      ignoreElements(),
    );
  };
}
