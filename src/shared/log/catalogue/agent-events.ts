import { debug, error, fatal, info, warn } from './sentence.ts';

/** The events of the agent, except those of its Envoys and its secrets. */
export const agentEvents = {
  /** The agent starts. */
  'agent.started': info('pilot-agent'),
  /** The agent is ready for the first time; the line has the ms since its start. */
  'agent.ready': info((ms: number) => `ready after ${ms} ms`),
  /** The agent has not been ready yet, 10 s after its first Envoy was started. */
  'agent.not_ready': warn('not ready yet'),
  /** The agent is process 1, and cannot reap the zombies of other programs. */
  'agent.process_one': warn(
    "the agent is process 1, and Node cannot reap other programs' zombies: put a small init before it, such as tini",
  ),
  /** No Envoy is left. */
  'agent.stopped': info('no Envoy is left'),
  /** The agent ends. The line has the exit code, the reason, and its counters. */
  'agent.ended': info('the agent ends'),
  /** The agent ends with a failure. The line has the exit code and the reason. */
  'agent.failed': fatal('the agent has failed'),
  /** A bug: Envoy is drained, or left with `--keepEnvoy`, and the agent ends with 70. */
  'agent.bug': error('this is a bug: the agent ends'),
  /** A connection broke while no code listened for its errors. The agent goes on. */
  'connection.broken': warn('a connection broke, and the agent goes on'),
  /** A server could not accept a connection. It accepts the next ones. */
  'connection.not_taken': warn('a connection could not be accepted: the server goes on'),
  /** A part around the core of the agent has failed. It is started again. */
  'part.failed': error('a part of the agent failed, and is started again'),
  /** A small program that takes part in a start is not in PATH. */
  'tool.missing': {
    setpriv: warn(
      'setpriv is not in PATH: an Envoy in its first moments may survive a SIGKILL of the agent',
    ),
    sh: warn(
      'sh is not in PATH: an Envoy that is stopped or stuck survives a SIGKILL of the agent',
    ),
    mkfifo: warn("mkfifo is not in PATH: Envoy's log lines are passed on as they are"),
  },
  /** The values that differ from their defaults, and the origin of each. */
  'config.given': info('values that differ from their defaults'),
  /** Each value of the configuration at the start, as `config print` prints it. */
  'config.effective': debug('the configuration'),
  /** An optional file cannot be used. `reason` says why. */
  'config.passed_over': info('an optional file cannot be used'),
  /** The configuration has been read for the first time. */
  'config.read': info('configuration read'),
  /** A watched file has changed. The files are read after the window. */
  'config.change_seen': debug('change seen: all sources are read after the window'),
  /** The configuration is not the same as before. */
  'config.changed': info('configuration changed'),
  /** A source has changed, but the configuration is the same as before. */
  'config.unchanged': debug('the configuration is the same as before'),
  /** The configuration is refused. The old epoch goes on, if there is one. */
  'config.refused': {
    old: error('configuration refused: the old epoch goes on'),
    none: error('configuration refused'),
  },
  /** A refused configuration is no longer refused, or no longer needed. */
  'config.refusal_ended': info('the configuration is no longer refused'),
  /** The configuration could not be checked. The check is repeated, or the epoch starts. */
  'config.unchecked': {
    again: warn(
      (seconds: number) =>
        `the configuration could not be checked: it is checked again in ${seconds} s`,
    ),
    started: warn('the configuration could not be checked: the epoch starts without a check'),
  },
  /** A part of the configuration is odd, has no effect, or takes effect only in a new agent. */
  'config.warning': warn('configuration warning'),
  /** A file cannot be watched. The agent tries again. */
  'config.watch_failed': warn('a file cannot be watched: the agent tries again'),
  /** A source of configuration cannot be read. The agent tries again. */
  'source.unreadable': {
    old: warn(
      'a source of configuration cannot be read: the agent keeps what it read last, and tries again',
    ),
    none: warn('a source of configuration cannot be read: the agent tries again'),
  },
  /** A source of configuration can be read again. */
  'source.read_again': info('a source of configuration can be read again'),
  /** Only runtime settings have changed. Envoy gets them, and goes on. */
  'runtime.changed': info('Envoy gets its new runtime settings, and goes on'),
  /** Envoy has applied runtime settings: log levels and runtime values. */
  'runtime.told': info('Envoy has its runtime settings'),
  /** Envoy has not applied runtime settings. The agent tries again. */
  'runtime.refused': warn('Envoy has not applied its runtime settings: the agent tries again'),
  /** The agent waits for files before the first start. */
  'files.awaited': info('waiting for files or sources'),
  /** The files that the agent waited for exist. */
  'files.found': info('all files that the agent waited for exist'),
  /** Files are still missing. The agent goes on without them. */
  'files.missing': warn('files are still missing: the agent goes on without them'),
  /** A source has too many metrics. A scrape contains a part of them. */
  'metrics.refused': warn('a source has too many metrics: the rest is left out'),
  /** A scrape drops rows of a source. The first row for each reason is logged once. */
  'metrics.left_out': info('rows of metrics are left out'),
  /** A probe of the application fails, for another reason than before. */
  'probe.failed': info('a probe of the application fails'),
  /** An application redirects a probe to another host. That counts as success. */
  'probe.redirected': warn(
    'the application redirects a probe to another host, which counts as success',
  ),
  /** The status server could not answer a request. */
  'status.request_failed': error('a request could not be answered'),
  /** The agent cannot listen on the status socket. `status` and `top` do not find it. */
  'status.socket_failed': warn('the agent cannot listen on the status socket'),
  /** The log files are opened again. */
  'log.reopened': info('log files are opened again'),
  /** A log file cannot be opened again. The agent writes to the old one. */
  'log.reopen_failed': warn('a log file cannot be opened again: lines go to the old one'),
  /** Lines of the log were dropped, because the reader is too slow. */
  'log.dropped': warn('log lines were dropped: the reader is too slow'),
  /** The demo has written a new certificate. */
  'demo.certificate_written': info('a new certificate is written'),
  /** The demo has seen which certificate clients get. */
  'demo.certificate_shown': info('clients are shown this certificate'),
  /** The demo has removed its temporary folder. */
  'demo.folder_removed': info('the temporary folder is removed'),
  /** The answers to the last requests of the demo, with the count of each. */
  'demo.answers': info((requests: number) => `the answers to ${requests} requests`),
};
