import { EMPTY, ignoreElements, merge, type Observable, of, tap } from 'rxjs';
import type { AdminClient } from '../../proxy/admin-client.ts';
import type { LogLevel } from '../../shared/log/log-line.ts';
import { answer, type Handler } from '../../shared/http/handler.ts';
import type { StatusRequest } from './status-event.ts';
import { controlGuard } from '../../shared/http/control-guard.ts';
/** Envoy's levels, each with the corresponding level of the agent. */
const levels: Readonly<Record<string, LogLevel>> = {
  trace: 'debug',
  debug: 'debug',
  info: 'info',
  warning: 'warn',
  error: 'error',
  critical: 'fatal',
  off: 'none',
};

/**
 * Changes log levels at run time: `level` sets that of the agent and of Envoy, `paths`
 * (`logger:level,…`) those of Envoy's loggers, by Envoy's names. The response is Envoy's, which
 * lists its loggers.
 */
export function logging(admin: Pick<AdminClient, 'request'>): Handler<StatusRequest> {
  return (request, response): Observable<StatusRequest> => {
    const refusal = controlGuard(request);
    if (refusal !== undefined) {
      answer(response, ...refusal);
      return EMPTY;
    }
    const query = new URLSearchParams(request.url?.replace(/^[^?]*\??/, ''));
    const [requestedLevel, paths] = [query.get('level'), query.get('paths')];
    const word =
      requestedLevel?.toLowerCase() === 'warn' ? 'warning' : requestedLevel?.toLowerCase();
    const level = word !== undefined && Object.hasOwn(levels, word) ? levels[word] : undefined;
    if ((word === undefined) === (paths === null) || (word !== undefined && level === undefined)) {
      answer(
        response,
        400,
        `level=, one of ${Object.keys(levels).join(', ')}, or paths=, a list of logger:level`,
      );
      return EMPTY;
    }
    const toEnvoy = new URLSearchParams(
      word === undefined ? { paths: paths ?? '' } : { level: word },
    );
    return merge(
      level === undefined ? EMPTY : of<StatusRequest>({ type: 'level-requested', level }),
      admin.request('POST', `/logging?${toEnvoy.toString()}`).pipe(
        tap((reply) => {
          if (reply.ok) answer(response, reply.value.status, reply.value.body.trimEnd());
          else
            answer(
              response,
              502,
              level === undefined
                ? 'Envoy does not answer'
                : 'the agent has the new level, but Envoy does not answer',
            );
        }),
        ignoreElements(),
      ),
    );
  };
}
