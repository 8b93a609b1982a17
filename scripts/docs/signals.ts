import { list, page, section, table } from './markdown.ts';

/** The effect of each signal that the agent handles. */
export const signals: readonly (readonly [signal: string, what: string, more?: string])[] = [
  [
    'SIGTERM, SIGINT',
    'The agent drains Envoy, then ends',
    'The second signal ends the drain early. The third one kills Envoy. `POST /quitquitquit` counts as a signal. With `--keepEnvoy` it still drains and ends Envoy too.',
  ],
  ['SIGTERM, SIGINT with `--keepEnvoy`', 'The agent ends at once, and Envoy continues to serve'],
  [
    'SIGHUP',
    'A new epoch starts at once, even if nothing has changed',
    '`POST /restart` does the same. If stdout is a terminal, SIGHUP ends the agent as SIGTERM does.',
  ],
  [
    'SIGUSR1',
    'The agent and each Envoy reopen their log files',
    'The agent reopens the files of `--log_target`, and so does `pilot-discovery`. The agent does not pass the signal on to an Envoy that is starting: the signal would end it.',
  ],
  [
    'SIGKILL',
    'The agent ends without a drain, and its Envoys are killed, even stopped ones',
    'With `--keepEnvoy` the Envoys continue to serve.',
  ],
];

/** The signals that `exec` passes on to its command. */
export const passedOn: readonly string[] = [
  'SIGTERM',
  'SIGINT',
  'SIGQUIT',
  'SIGHUP',
  'SIGUSR1',
  'SIGUSR2',
];

export function signalsPage(): string {
  return page(
    'Signals',
    table(
      ['Signal', 'Effect'],
      signals.map(([signal, what]) => [signal, what]),
    ),
    list(signals.flatMap(([signal, , more]) => (more === undefined ? [] : [`${signal}: ${more}`]))),
    section(
      '`exec`',
      list([
        `\`pilot-agent exec\` passes ${passedOn.join(', ')} on to its command. A terminal sends SIGINT and SIGQUIT directly to the command.`,
      ]),
    ),
  );
}
