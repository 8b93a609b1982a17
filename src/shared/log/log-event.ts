import { discoveryLogEvents } from './discovery-log-events.ts';

/** At which level a line is written, and what it reports. */
interface LogEventText {
  readonly level:
    'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'info or warn' | 'debug or info' | 'any';
  readonly text: string;
}

/**
 * What a line of the log reports, by its code: codes stay, sentences of lines may change. Running
 * code imports the type only, so that this text is not bundled.
 */
export const logEvents = {
  'agent.started': { level: 'info', text: 'The agent starts.' },
  'agent.ready': {
    level: 'info',
    text: 'The agent is ready for the first time, so many ms after its start.',
  },
  'agent.not_ready': {
    level: 'warn',
    text: 'The agent has not been ready yet, 10 s after its first Envoy was started.',
  },
  'agent.process_one': {
    level: 'warn',
    text: 'The agent is process 1, and cannot reap the zombies of other programs.',
  },
  'agent.stopped': { level: 'info', text: 'No Envoy is left.' },
  'agent.ended': {
    level: 'info',
    text: 'The agent ends. The line has the exit code, the reason, and its counters.',
  },
  'agent.failed': {
    level: 'fatal',
    text: 'The agent ends with a failure. The line has the exit code and the reason.',
  },
  'agent.bug': {
    level: 'error',
    text: 'A bug: Envoy is drained, or left with `--keepEnvoy`, and the agent ends with 70.',
  },
  'connection.broken': {
    level: 'warn',
    text: 'A connection broke while no code listened for its errors. The agent goes on.',
  },
  'connection.not_taken': {
    level: 'warn',
    text: 'A server could not take a connection. It goes on.',
  },
  'part.failed': {
    level: 'error',
    text: 'A part around the core of the agent has failed. It is started again.',
  },
  'tool.missing': {
    level: 'warn',
    text: 'A small program that takes part in a start is not in PATH.',
  },
  'config.given': {
    level: 'info',
    text: 'The values that differ from their defaults, and where each is from.',
  },
  'config.effective': {
    level: 'debug',
    text: 'Each value of the configuration at the start, as `config print` has it.',
  },
  'config.passed_over': {
    level: 'info',
    text: 'A file that is not needed cannot be used. `reason` says why.',
  },
  'config.read': { level: 'info', text: 'The configuration has been read for the first time.' },
  'config.change_seen': {
    level: 'debug',
    text: 'A watched file has changed. The files are read after the window.',
  },
  'config.changed': { level: 'info', text: 'The configuration is not the same as before.' },
  'config.unchanged': {
    level: 'debug',
    text: 'A source has changed, but the configuration is the same as before.',
  },
  'config.refused': {
    level: 'error',
    text: 'The configuration is refused. The old epoch goes on, if there is one.',
  },
  'config.refusal_ended': {
    level: 'info',
    text: 'A configuration was refused. It is not refused or not wanted any more.',
  },
  'config.unchecked': {
    level: 'warn',
    text: 'The configuration could not be checked. The check is repeated.',
  },
  'config.warning': {
    level: 'warn',
    text: 'Something in the configuration is odd. It is in force all the same.',
  },
  'config.watch_failed': {
    level: 'warn',
    text: 'A file cannot be watched. The agent tries again.',
  },
  'source.unreadable': {
    level: 'warn',
    text: 'A source of configuration cannot be read. The agent tries again.',
  },
  'source.read_again': { level: 'info', text: 'A source of configuration can be read again.' },
  'runtime.changed': {
    level: 'info',
    text: 'Runtime settings have changed, and nothing else. Envoy is told, and goes on.',
  },
  'runtime.told': {
    level: 'info',
    text: 'Envoy has taken runtime settings: log levels and runtime values.',
  },
  'runtime.refused': {
    level: 'warn',
    text: 'Envoy has not taken runtime settings. The agent tries again.',
  },
  'files.awaited': { level: 'info', text: 'The agent waits for files before the first start.' },
  'files.found': { level: 'info', text: 'The files that the agent waited for are there.' },
  'files.missing': {
    level: 'warn',
    text: 'Files are still missing. The agent goes on without them.',
  },
  'restart.requested': { level: 'info', text: 'Somebody asks for a hot restart.' },
  'restart.scheduled': {
    level: 'warn',
    text: 'Envoy has crashed, and is started again after a pause: attempt `attempt` of `of`.',
  },
  'drain.requested': { level: 'info', text: 'Somebody asks Envoy to drain. The agent goes on.' },
  'drain.ended': { level: 'info or warn', text: 'The drain of a termination is over.' },
  'termination.requested': { level: 'info', text: 'Somebody asks the agent to end.' },
  'epoch.claimed': { level: 'debug', text: 'A new epoch is prepared.' },
  'epoch.withdrawn': { level: 'info', text: 'The new epoch is not needed any more.' },
  'epoch.started': {
    level: 'debug or info',
    text: 'The Envoy of an epoch has been started. At debug while another one serves.',
  },
  'epoch.not_started': { level: 'error', text: 'The Envoy of an epoch could not be started.' },
  'epoch.live': {
    level: 'info',
    text: 'An epoch is LIVE: it serves, and those of `draining` do not take new clients any more.',
  },
  'epoch.not_live': {
    level: 'warn',
    text: 'An epoch is not LIVE in time. The next one does not wait any longer.',
  },
  'epoch.awaits_resources': {
    level: 'warn',
    text: 'A new epoch waits for resources of the control plane. The old one serves.',
  },
  'epoch.late': {
    level: 'warn',
    text: 'A new epoch waits for its configuration for too long. It is killed, and the old one serves.',
  },
  'epoch.unresponsive': {
    level: 'warn',
    text: 'The admin endpoint of an epoch does not answer. The agent is not ready.',
  },
  'epoch.answering': { level: 'info', text: 'The admin endpoint of an epoch answers again.' },
  'epoch.hung': { level: 'error', text: 'The Envoy of an epoch hangs. It is killed.' },
  'epoch.handed_off': { level: 'info', text: 'An epoch has no clients any more. It ends.' },
  'epoch.not_drained': {
    level: 'warn',
    text: 'An epoch does not answer and cannot be drained. It is killed.',
  },
  'epoch.ended': { level: 'info', text: 'An epoch has ended without a failure.' },
  'epoch.ended_early': {
    level: 'warn',
    text: 'An epoch has ended while its child still needs it.',
  },
  'epoch.failed': { level: 'error', text: 'An epoch has failed.' },
  'epoch.retried': { level: 'warn', text: 'An epoch that failed is tried again at once.' },
  'epoch.standalone': {
    level: 'warn',
    text: 'A hot restart is impossible. The new epoch starts without a parent.',
  },
  'epoch.no_room': {
    level: 'warn',
    text: 'Memory has no room for two Envoys. The old epoch ends before the new one starts.',
  },
  'epoch.adopted': {
    level: 'info',
    text: 'An Envoy that an earlier agent has left is taken over.',
  },
  'epoch.left': { level: 'info', text: 'An Envoy serves on without the agent.' },
  'rescue.unserved': {
    level: 'warn',
    text: 'No Envoy serves or comes up. One is started at once.',
  },
  'rescue.started': {
    level: 'warn',
    text: 'The new epoch comes up side by side with the old one.',
  },
  'envoy.log': { level: 'any', text: 'A message of Envoy itself.' },
  'envoy.replaced': {
    level: 'warn',
    text: 'The Envoy that runs can be no parent: another hot restart version, or abstract sockets.',
  },
  'envoy.unsupported': {
    level: 'warn',
    text: 'The Envoy that runs is of a release that the agent is not made for.',
  },
  'envoy.orphan_killed': { level: 'warn', text: 'An Envoy of an agent that is gone is killed.' },
  'envoy.not_recorded': {
    level: 'warn',
    text: 'An Envoy cannot be recorded for the next agent, which will kill it.',
  },
  'rotation.by_push': { level: 'info', text: 'A changed certificate is pushed to Envoy.' },
  'rotation.by_restart': { level: 'info', text: 'A changed certificate restarts Envoy.' },
  'certificate.issued': {
    level: 'info',
    text: 'The certificate authority has issued a certificate.',
  },
  'certificate.request_failed': {
    level: 'error',
    text: 'A request to the certificate authority has failed. The agent tries again.',
  },
  'certificate.expiring': {
    level: 'warn',
    text: 'A certificate that is served expires soon, and nobody has replaced it yet.',
  },
  'certificate.expired': { level: 'warn', text: 'A certificate that is served has expired.' },
  'secret.read': { level: 'info', text: 'A secret has been read.' },
  'secret.refused': {
    level: 'error',
    text: 'A secret cannot be served. Envoy goes on with the one before, if there is one.',
  },
  'secret.written': { level: 'info', text: 'Secrets can be written to the output folder again.' },
  'secret.not_written': {
    level: 'error',
    text: 'Secrets could not be written to the output folder.',
  },
  'secret.pushed': { level: 'debug', text: 'A secret has been pushed to Envoy.' },
  'secret.accepted': { level: 'info', text: 'Envoy has accepted a secret.' },
  'secret.rejected': {
    level: 'error',
    text: 'Envoy has rejected a secret, and goes on with the one before, if there is one.',
  },
  'secret.missing': { level: 'warn', text: 'Envoy asks for a secret that is not there.' },
  'sds.listening': { level: 'info', text: 'The secret discovery server listens.' },
  'sds.stream_refused': { level: 'warn', text: 'The secret discovery server refuses a stream.' },
  'xds.listening': {
    level: 'info',
    text: 'The xDS proxy listens: Envoy takes its configuration from the agent.',
  },
  'xds.connected': { level: 'info', text: 'The control plane has answered.' },
  'xds.unavailable': {
    level: 'warn',
    text: 'The control plane is not available. Envoy goes on with what it has, or waits.',
  },
  'xds.available': { level: 'info', text: 'The control plane is available again.' },
  'xds.rejected': {
    level: 'error',
    text: 'Envoy has rejected resources of the control plane, and goes on with those before.',
  },
  'xds.stored_served': {
    level: 'warn',
    text: 'An Envoy is given the stored configuration, since the control plane does not answer.',
  },
  'xds.stored_replaced': {
    level: 'info',
    text: 'The control plane has replaced the stored configuration.',
  },
  'xds.store_ignored': {
    level: 'warn',
    text: 'The stored configuration is of no use to this agent.',
  },
  'xds.accepted': {
    level: 'info',
    text: 'Envoy has accepted resources in the place of those that it rejected.',
  },
  'xds.stored': {
    level: 'info',
    text: 'The configuration of the control plane can be stored again.',
  },
  'xds.store_failed': {
    level: 'warn',
    text: 'The configuration of the control plane cannot be stored.',
  },
  'sts.listening': { level: 'info', text: 'The token server listens.' },
  'sts.token_given': { level: 'info', text: 'The token server has given a token.' },
  'sts.token_refused': { level: 'warn', text: 'The token server cannot give a token.' },
  'metrics.refused': {
    level: 'warn',
    text: 'A source has too many metrics. A scrape gives a part of them.',
  },
  'metrics.left_out': {
    level: 'info',
    text: 'A scrape leaves rows of a source out: the first one for each reason, once.',
  },
  'probe.failed': {
    level: 'info',
    text: 'A probe of the application fails, for another reason than before.',
  },
  'probe.redirected': {
    level: 'warn',
    text: 'An application leads a probe to another host. That counts as success.',
  },
  'status.request_failed': {
    level: 'error',
    text: 'The status server could not answer a request.',
  },
  'status.socket_failed': {
    level: 'warn',
    text: 'The status socket cannot be listened on. `status` and `top` do not find the agent.',
  },
  'log.reopened': { level: 'info', text: 'The log files are opened anew.' },
  'log.reopen_failed': {
    level: 'warn',
    text: 'A log file cannot be opened anew. The old one goes on.',
  },
  'log.dropped': {
    level: 'warn',
    text: 'Lines of the log were dropped, because the reader is too slow.',
  },
  'demo.certificate_written': { level: 'info', text: 'The demo has written a new certificate.' },
  'demo.certificate_shown': {
    level: 'info',
    text: 'The demo has seen which certificate clients are shown.',
  },
  'demo.folder_removed': { level: 'info', text: 'The demo has removed its temporary folder.' },
  'demo.answers': { level: 'info', text: 'What the last requests of the demo got, and how often.' },
  ...discoveryLogEvents,
} as const satisfies Readonly<Record<string, LogEventText>>;

export type LogEvent = keyof typeof logEvents;
