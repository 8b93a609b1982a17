import {
  defaultIfEmpty,
  defer,
  EMPTY,
  filter,
  ignoreElements,
  map,
  merge,
  type Observable,
  ReplaySubject,
  share,
  switchMap,
  take,
  tap,
} from 'rxjs';
import type { LogLine } from '../log/log-line.ts';
import type { Platform } from '../node/cloud.ts';
import { httpAnswer } from '../node/http-answer.ts';
import { googleTokenExchange } from '../sts/google-token-exchange.ts';
import { stsServer } from '../sts/sts-server.ts';
import { noTokenExchange } from '../sts/token-exchange.ts';
import { exitCodes, Fatal } from './exit.ts';
import type { AgentConfig } from '../config/agent-config.ts';

export interface StsParts {
  readonly platform$: Observable<Platform>;
  readonly trustDomain: string;
  readonly log: (line: LogLine) => void;
}

/**
 * The token server: emits once, when it listens, and serves until it is unsubscribed. Cold, never completes; errors with a {@link Fatal} if the port is not
 * to be had.
 */
export function runSts(
  {
    stsPort,
    tokenManagerPlugin,
    node,
    gkeClusterUrl: clusterUrl,
  }: Pick<AgentConfig, 'stsPort' | 'tokenManagerPlugin' | 'node' | 'gkeClusterUrl'>,
  { platform$, trustDomain, log }: StsParts,
): Observable<void> {
  return defer(() => {
    let exchange = noTokenExchange;
    // The project is known by a variable, or by the metadata server a little later: who asks for a token meanwhile waits.
    const exchange$ = (tokenManagerPlugin === 'GoogleTokenExchange' ? platform$ : EMPTY).pipe(
      map(({ metadata }) => metadata['gcp_project_number'] ?? ''),
      filter((projectNumber) => projectNumber !== ''),
      take(1),
      map((projectNumber) => googleTokenExchange({ projectNumber, trustDomain, clusterUrl, ask: httpAnswer })),
      defaultIfEmpty(noTokenExchange),
      tap((found) => (exchange = found)),
      share({ connector: () => new ReplaySubject(1), resetOnComplete: false, resetOnRefCountZero: false }),
    );
    const tokens = {
      exchange: (request: Parameters<typeof exchange.exchange>[0]) => exchange$.pipe(switchMap((found) => found.exchange(request))),
      dump: () => exchange.dump(),
    };
    const served$ = stsServer(node.ipv6 ? '::1' : '127.0.0.1', stsPort, tokens).pipe(
      tap((event) => {
        if (event.type === 'listening') log({ level: 'info', event: 'sts.listening', msg: 'tokens are exchanged', port: stsPort });
        if (event.type !== 'answered') return;
        const { status, reason } = event;
        log(
          status === 200
            ? { level: 'info', event: 'sts.token_given', msg: 'token given' }
            : { level: 'warn', event: 'sts.token_refused', msg: 'no token is given', status, reason },
        );
      }),
      filter(({ type }) => type !== 'answered'),
      map((event) => {
        if (event.type === 'failed') throw new Fatal(`--stsPort ${stsPort}: ${event.reason}`, exitCodes.unavailable);
      }),
    );
    return merge(exchange$.pipe(ignoreElements()), served$); // the project is looked for before somebody asks
  });
}
