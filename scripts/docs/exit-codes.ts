import { exitCodes } from '../../src/shared/program/exit.ts';
import { code, list, page, paragraph, section, table } from './markdown.ts';

interface ExitCode {
  readonly text: string;
  /** Each ends the program with this code. */
  readonly causes: readonly string[];
}

const meanings: Readonly<Record<keyof typeof exitCodes, ExitCode>> = {
  ok: {
    text: 'Ended on request',
    causes: ['The agent was asked to end.', 'The last Envoy ended with 0.'],
  },
  refused: {
    text: 'Envoy refuses a request, `status` finds that the agent is not ready, or a check fails',
    causes: [
      '`request`: Envoy answers with a status above 399, except 404.',
      '`status`: the agent is not ready.',
      '`check`: something keeps the proxy from serving (`×`).',
    ],
  },
  usage: {
    text: 'Wrong command line',
    causes: [
      'A flag or a role is wrong or misspelt.',
      'Several agents run, and a command does not say which.',
      'The command is unknown.',
      'The command does not have the flag.',
      '`top` has no terminal to draw on.',
    ],
  },
  unavailable: {
    text: 'Something is missing, or in use',
    causes: [
      'The status port, the port of the token server, or a socket for secrets or xDS cannot be used.',
      'There is no Envoy, or it cannot be installed or executed.',
      'An address of the first Envoy is in use, or the user of Envoy may not listen there.',
      'Another agent uses the folder of `--configPath`.',
      '`--keepEnvoy`: `setsid` or `sh` is missing.',
      'A kept Envoy has ended, and its exit code is unknown.',
      '`request`, `secrets`, `status` or `top` gets no answer.',
      'A command cannot write its output: the disk is full, for example.',
      '`wait`: the proxy is not ready in time.',
      '`exec`: the agent is not ready in time.',
    ],
  },
  software: {
    text: 'A bug',
    causes: [
      '`proxy`: an error of the core, or an exception that is not caught. The log has the stack. The agent drains Envoy first; with `--keepEnvoy`, Envoy keeps running.',
      'Any other command: an exception that is not caught. stderr has the stack.',
    ],
  },
  config: {
    text: 'Wrong configuration',
    causes: [
      'The mesh file, `PROXY_CONFIG`, `ISTIO_METAJSON_LABELS` or the file of `--config` is wrong.',
      'A variable that sets a flag has a bad value.',
      '`CA_ADDR` or `PILOT_CERT_PROVIDER` cannot be used.',
      '`--customConfigFile` cannot be read.',
      '`--configPath` or a `--log_target` cannot be written.',
      'The bootstrap of Envoy cannot be generated.',
      'The first Envoy refuses its configuration.',
    ],
  },
};

const all = Object.entries(exitCodes)
  .map(([name, number]) => ({ number, ...meanings[name as keyof typeof exitCodes] }))
  .sort((first, second) => first.number - second.number);

/** Each code, and what it means. */
export function exitCodeRows(): readonly (readonly [code: string, text: string])[] {
  return [
    ...all.map(({ number, text }) => [String(number), text] as const),
    ['other', 'Exit code of Envoy, or of the command of `exec`'],
  ];
}

export function exitCodesPage(): string {
  return page(
    'Exit codes',
    paragraph(
      'A line on stderr has the reason. Further lines may follow: lines of the configuration, advice, or a stack. The log of `proxy` has the reason too: ' +
        '`agent.failed` with `code` and `reason`. If this log is JSON and has the same target as stderr, only the log has the line.',
    ),
    paragraph(
      'There is no line if the program ends with 0, if `status` or `check` ends with 1 (stdout has the reason), or if `exec` ends with the code of its command.',
    ),
    table(
      ['Code', 'Meaning'],
      exitCodeRows().map(([number, text]) => [/\d/.test(number) ? code(number) : number, text]),
    ),
    ...all.map(({ number, causes }) => section(String(number), list(causes))),
    section(
      'Other codes',
      list([
        '**Envoy**: if the restart budget is used up, or if `--envoyRestartPolicy` is `exit`, the agent ends with the exit code of Envoy. If a signal ended Envoy, the code is 128 plus the number of the signal.',
        '**`exec`**: it ends with the exit code of the command. If a signal ended the command, the code is 128 plus the number of the signal. If the command cannot be started, it ends with 126 or 127.',
      ]),
    ),
  );
}
