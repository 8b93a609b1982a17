import { narrate } from '../../epochs/narrate.ts';
import { isSupported, supportedReleases } from '../envoy/supported-envoys.ts';
import type { LogLine } from '../../shared/log/log-line.ts';
import type { Fold } from '../../operators/feedback.ts';
import { narrateExpiry } from '../secrets/secret-telemetry.ts';
import type { SourceChange } from '../../streams/config-source.ts';
import { effectOf } from './start/effect-of.ts';
import { exitCodes, seeExit } from '../../shared/program/exit.ts';
import { partLine } from './state/part.ts';
import { exitOf, type ProgramExit } from './end/program-exit.ts';
import type { SourceStatuses } from './state/source-status.ts';
import type { RunEvent, RunView } from './state/view.ts';

/** What there is to say of something that has happened in a run. Pure. */
export function narrateRun({
  value: { sign },
  before,
  state,
}: Fold<RunView, RunEvent>): readonly LogLine[] {
  switch (sign.type) {
    case 'transition':
      return [
        ...narrate(sign.transition, state.past.epochs, state.known.config.envoyRestartBudget),
        ...(state.agent.phase === 'stopped' ? [lastLine(state, exitOf(state.agent.outcome))] : []),
      ];
    case 'window-opened': {
      const { source, path, delayMs } = sign;
      return [
        {
          level: 'debug',
          event: 'config.change_seen',
          msg: 'change seen: all sources are read after the window',
          component: 'watcher',
          ...(source !== undefined && { source }),
          path,
          delayMs,
        },
      ];
    }
    case 'watch-failed': {
      const { path, reason } = sign;
      return [
        {
          level: 'warn',
          event: 'config.watch_failed',
          msg: 'a file cannot be watched: the agent tries again',
          component: 'watcher',
          path,
          reason,
        },
      ];
    }
    case 'read': {
      const warnings = (sign.reading.config?.warnings ?? []).filter(
        (warning, index, all) => !before.warned.has(warning) && all.indexOf(warning) === index,
      );
      const { reading, isNew } = sign;
      const { effect, because } = effectOf({
        isNew,
        had: before.runtime,
        settings: reading.config?.runtime,
        contributions: reading.config?.contributions ?? [],
      });
      return [
        ...readAgain(before.sources, state.sources),
        ...warnings.map((warning): LogLine => ({
          level: 'warn',
          event: 'config.warning',
          msg: 'configuration warning',
          component: 'watcher',
          warning,
        })),
        // A new epoch is told of by the agent itself.
        ...(effect === 'nothing' && before.isChangeTold
          ? [
              {
                level: 'debug',
                event: 'config.unchanged',
                msg: 'the configuration is the same as before',
                component: 'watcher',
                effect,
              } as const,
            ]
          : []),
        ...(effect === 'runtime'
          ? [
              {
                level: 'info',
                event: 'runtime.changed',
                msg: 'Envoy is told its new runtime settings, and goes on',
                component: 'watcher',
                effect,
                because,
              } as const,
            ]
          : []),
      ];
    }
    case 'source-read':
      return readAgain(before.sources, state.sources);
    case 'source-unreadable':
      return unreadable(sign, before.sources);
    case 'runtime-told': {
      const { epoch, settings } = sign;
      return [
        {
          level: 'info',
          event: 'runtime.told',
          msg: 'Envoy has its runtime settings',
          epoch,
          settings: JSON.stringify(settings),
        },
      ];
    }
    case 'runtime-refused': {
      const { epoch, reason, delayMs } = sign;
      return [
        {
          level: 'warn',
          event: 'runtime.refused',
          msg: 'Envoy has not taken its runtime settings: the agent tries again',
          epoch,
          reason,
          delayMs,
        },
      ];
    }
    case 'part-failed':
      return [partLine(sign)];
    case 'connection-broken': {
      const { reason, stack } = sign;
      return [
        {
          level: 'warn',
          event: 'connection.broken',
          msg: 'a connection broke, and the agent goes on',
          reason,
          stack,
        },
      ];
    }
    case 'bug': {
      const { reason, stack, leaves } = sign;
      const envoy = leaves ? 'left' : 'drained';
      return [
        {
          level: 'error',
          event: 'agent.bug',
          msg: 'this is a bug: the agent ends',
          reason,
          envoy,
          stack,
        },
      ];
    }
    case 'bug-over':
      return [lastLine(state, { code: exitCodes.software, why: `this is a bug: ${sign.reason}` })];
    case 'request-failed': {
      const { path, reason } = sign;
      return [
        {
          level: 'error',
          event: 'status.request_failed',
          msg: 'a request could not be answered',
          component: 'status',
          path,
          reason,
        },
      ];
    }
    case 'socket-failed': {
      const { path, reason } = sign;
      return [
        {
          level: 'warn',
          event: 'status.socket_failed',
          msg: 'the status socket cannot be listened on',
          component: 'status',
          path,
          reason,
        },
      ];
    }
    case 'not-taken': {
      const { server, reason } = sign;
      return [
        {
          level: 'warn',
          event: 'connection.not_taken',
          msg: 'a connection could not be taken: the server goes on',
          component: 'status',
          server,
          reason,
        },
      ];
    }
    case 'metrics-refused': {
      const { source, reason } = sign;
      return [
        {
          level: 'warn',
          event: 'metrics.refused',
          msg: 'the rest of the metrics of a source is left out',
          component: 'status',
          source,
          reason,
        },
      ];
    }
    case 'metrics-left-out': {
      const { source, row, reason } = sign;
      return [
        {
          level: 'info',
          event: 'metrics.left_out',
          msg: 'rows of metrics are left out',
          component: 'status',
          source,
          row,
          reason,
        },
      ];
    }
    case 'probe-failed': {
      const { path, reason } = sign;
      return [
        {
          level: 'info',
          event: 'probe.failed',
          msg: 'a probe of the application fails',
          component: 'status',
          path,
          reason,
        },
      ];
    }
    case 'probe-redirected': {
      const { path, location } = sign;
      return [
        {
          level: 'warn',
          event: 'probe.redirected',
          msg: 'the application leads a probe to another host, which counts as success',
          component: 'status',
          path,
          location,
        },
      ];
    }
    case 'certificate-expiring':
    case 'certificate-expired':
      return [narrateExpiry(sign)];
    case 'envoy-told': {
      const { version, path } = sign;
      if (isSupported(version) || version === before.envoyVersion) return [];
      const msg = `the agent is not made for this release of Envoy: take one of ${supportedReleases}`;
      return [{ level: 'warn', event: 'envoy.unsupported', msg, version, path }];
    }
    case 'found-ready':
      if (before.readyAt !== undefined) return [];
      return [
        {
          level: 'info',
          event: 'agent.ready',
          msg: `ready after ${Math.round((state.readyAt ?? 0) - state.startedAt)} ms`,
          ...(state.envoyVersion !== undefined && { envoy: state.envoyVersion }),
        },
      ];
    case 'found-unready': {
      const { reason, forMs } = sign;
      return [
        {
          level: 'warn',
          event: 'agent.not_ready',
          msg: 'not ready yet',
          component: 'status',
          reason,
          forMs,
        },
      ];
    }
    case 'servers-log':
      return [sign.line];
    default:
      return [];
  }
}

/** The end of an outage, be it learned from the source or from a reading of all of them. */
function readAgain(before: SourceStatuses, now: SourceStatuses): readonly LogLine[] {
  return [...now.values()]
    .filter(({ name, trouble }) => trouble === undefined && before.get(name)?.trouble !== undefined)
    .map(({ name }) => ({
      level: 'info',
      event: 'source.read_again',
      msg: 'a source of configuration can be read again',
      component: 'sources',
      source: name,
    }));
}

/** An outage is told once. */
function unreadable(
  sign: Extract<SourceChange, { type: 'source-unreadable' }>,
  before: SourceStatuses,
): readonly LogLine[] {
  const { source } = sign;
  const { trouble } = before.get(source) ?? {};
  const { reason, delayMs } = sign;
  if (trouble?.reason === reason) return [];
  const isEmpty = (before.get(source)?.hash ?? '') === '';
  const msg = isEmpty
    ? 'a source of configuration cannot be read: the agent tries again'
    : 'a source of configuration cannot be read: what was read last holds, and the agent tries again';
  return [
    {
      level: 'warn',
      event: 'source.unreadable',
      msg,
      component: 'sources',
      source,
      reason,
      delayMs,
    },
  ];
}

function lastLine({ past }: RunView, { code, why: reason }: ProgramExit): LogLine {
  const see = seeExit(code);
  return {
    level: 'info',
    event: 'agent.ended',
    msg: 'the agent ends',
    code,
    ...(reason !== undefined && { reason }),
    ...(see !== undefined && { see }),
    ...past.counters,
  };
}
