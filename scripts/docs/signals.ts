import { list, page, section, table } from './markdown.ts';

/** What each signal that the agent takes does. */
export const signals: readonly (readonly [signal: string, what: string, more?: string])[] = [
  [
    'SIGTERM, SIGINT',
    'The agent drains Envoy, then ends',
    'The second one cuts the drain short. The third one kills Envoy. `POST /quitquitquit` counts as one of them.',
  ],
  ['SIGTERM, SIGINT with `--keepEnvoy`', 'The agent ends at once, and Envoy serves on'],
  [
    'SIGHUP',
    'A new epoch starts now, without a window and without a change',
    '`POST /restart` does the same. If stdout is a terminal, SIGHUP ends the agent as SIGTERM does.',
  ],
  [
    'SIGUSR1',
    'The agent and each Envoy reopen their log files',
    'The agent opens those of `--log_target`. An Envoy that still starts does not.',
  ],
  ['SIGKILL', 'The agent is gone, and each of its Envoys is killed, a stopped one too'],
];

/** What `exec` passes on to its command. */
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
      ['Signal', 'What happens'],
      signals.map(([signal, what]) => [signal, what]),
    ),
    list(signals.flatMap(([signal, , more]) => (more === undefined ? [] : [`${signal}: ${more}`]))),
    section(
      '`exec`',
      list([
        `\`pilot-agent exec\` passes ${passedOn.join(', ')} on to its command. Signals that are typed on a terminal (SIGINT, SIGQUIT) reach the command directly.`,
      ]),
    ),
  );
}
