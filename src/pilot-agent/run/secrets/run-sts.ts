import {
  concatMap,
  connect,
  defaultIfEmpty,
  defer,
  EMPTY,
  filter,
  ignoreElements,
  map,
  merge,
  type Observable,
  scan,
  shareReplay,
  startWith,
  take,
} from 'rxjs';
import type { AgentConfig } from '../../config/agent-config.ts';
import type { Platform } from '../../bootstrap/cloud.ts';
import { httpAnswer } from '../../../shared/http/http-answer.ts';
import { googleTokenExchange } from '../../sts/google-token-exchange.ts';
import { type StsEvent, stsServer } from '../../sts/sts-server.ts';
import { countSts, narrateSts, noSts, stsFamilies } from '../../sts/sts-telemetry.ts';
import { noTokenExchange } from '../../sts/token-exchange.ts';
import type { ServersSign } from '../state/view.ts';
import { serversLog } from './servers-log.ts';

export interface StsParts {
  readonly platform$: Observable<Platform>;
  readonly trustDomain: string;
}

/**
 * Runs the token server: emits once that it listens, or why it cannot, and serves until it is
 * unsubscribed. Emits its metrics and its log lines. Cold, never completes.
 */
export function runSts(
  {
    stsPort,
    tokenManagerPlugin,
    node,
    gkeClusterUrl: clusterUrl,
    httpProxy,
    noProxy,
  }: Pick<
    AgentConfig,
    'stsPort' | 'tokenManagerPlugin' | 'node' | 'gkeClusterUrl' | 'httpProxy' | 'noProxy'
  >,
  { platform$, trustDomain }: StsParts,
): Observable<ServersSign> {
  return defer(() => {
    const proxy = { url: httpProxy, except: noProxy };
    // The project comes from a variable, or a little later from the metadata server. A client that
    // asks for a token meanwhile waits.
    const exchange$ = (tokenManagerPlugin === 'GoogleTokenExchange' ? platform$ : EMPTY).pipe(
      map(({ metadata }) => metadata['gcp_project_number'] ?? ''),
      filter((projectNumber) => projectNumber !== ''),
      take(1),
      map((projectNumber) =>
        googleTokenExchange({
          projectNumber,
          trustDomain,
          clusterUrl,
          ask: (url, question) => httpAnswer(url, { ...question, proxy }),
        }),
      ),
      defaultIfEmpty(noTokenExchange),
      shareReplay({ bufferSize: 1, refCount: true }),
    );
    const served$ = stsServer(node.ipv6 ? '::1' : '127.0.0.1', stsPort, exchange$).pipe(
      connect((event$) =>
        merge(
          event$.pipe(
            scan(countSts, noSts),
            startWith(noSts),
            map((counts): ServersSign => ({
              type: 'servers-measured',
              server: 'sts',
              families: () => stsFamilies(counts),
            })),
          ),
          event$.pipe(concatMap((event) => signs(event, stsPort))),
        ),
      ),
    );
    return merge(exchange$.pipe(ignoreElements()), served$); // looks up the project before a client asks
  });
}

function signs(event: StsEvent, port: number): readonly ServersSign[] {
  if (event.type === 'failed')
    return [
      {
        type: 'servers-failed',
        exit: 'unavailable',
        reason: `--stsPort ${port}: ${event.reason}`,
      },
    ];
  const lines = [narrateSts(event, port)].map(serversLog('sts'));
  return event.type === 'listening' ? [...lines, { type: 'servers-listening' }] : lines;
}
