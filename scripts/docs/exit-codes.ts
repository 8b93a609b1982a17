import { exitCodes } from '../../src/shared/program/exit.ts';
import { code, list, page, paragraph, section, table } from './markdown.ts';

interface ExitCode {
  readonly text: string;
  /** What ends the program so. */
  readonly causes: readonly string[];
}

const meanings: Readonly<Record<keyof typeof exitCodes, ExitCode>> = {
  ok: {
    text: 'Asked to end',
    causes: ['The agent was asked to end.', 'The last Envoy ended with 0.'],
  },
  refused: {
    text: 'Envoy refuses a request, the agent is not ready, or a check fails',
    causes: [
      '`request`: Envoy answers with a status above 399, except 404.',
      '`status`: the agent is not ready.',
      '`check`: something keeps the proxy from serving (`×`).',
    ],
  },
  usage: {
    text: 'Wrong command line',
    causes: [
      'A flag or a role is wrong, or nearly right.',
      'Several agents run, and a command does not say which.',
      'The command is unknown.',
      'The command does not have the flag.',
      '`top` has no terminal to draw on.',
    ],
  },
  unavailable: {
    text: 'Something is not there, or is taken',
    causes: [
      'The status port is taken.',
      'No Envoy is found, can be installed or can be executed.',
      'The first Envoy finds one of its own addresses in use, or its user may not listen there.',
      'Another agent has the folder of `--configPath`.',
      '`--keepEnvoy`: `setsid` or `sh` is missing.',
      'An Envoy that was kept is gone, and it is not known how it ended.',
      '`request`, `wait`, `secrets`, `status` or `top` gets no answer, or `exec` waits in vain.',
    ],
  },
  software: {
    text: 'A bug',
    causes: [
      'The log has the stack. Envoy was drained first, or, with `--keepEnvoy`, left running.',
    ],
  },
  config: {
    text: 'Wrong configuration',
    causes: [
      'The mesh file, `PROXY_CONFIG`, an annotation or the file of `--config` is wrong.',
      '`CA_ADDR` or `PILOT_CERT_PROVIDER` cannot be used.',
      '`--customConfigFile` cannot be read.',
      '`--configPath` or a `--log_target` cannot be written.',
      'No bootstrap can be made.',
      'The first Envoy refuses its configuration.',
    ],
  },
};

const all = Object.entries(exitCodes)
  .map(([name, number]) => ({ number, ...meanings[name as keyof typeof exitCodes] }))
  .sort((one, other) => one.number - other.number);

/** Each code, and what it means. */
export function exitCodeRows(): readonly (readonly [code: string, text: string])[] {
  return [
    ...all.map(({ number, text }) => [String(number), text] as const),
    ['other', 'That of Envoy, or of the command of `exec`'],
  ];
}

export function exitCodesPage(): string {
  return page(
    'Exit codes',
    paragraph(
      'One line on stderr says why the program ends, unless it was asked to end. The log of `proxy` says it too: `agent.failed` has `code` ' +
        'and `reason`. If that log is JSON and goes where stderr goes, it has the only line.',
    ),
    table(
      ['Code', 'Meaning'],
      exitCodeRows().map(([number, text]) => [/\d/.test(number) ? code(number) : number, text]),
    ),
    ...all.map(({ number, causes }) => section(String(number), list(causes))),
    section(
      'Other codes',
      list([
        '**The code of Envoy**, or 128 and the number of the signal that ended it: the crash budget is spent, or `--envoyRestartPolicy` is `exit`.',
        '**`exec`**: the code of the command, or 128 and the number of the signal that ended it. 126 or 127 if the command cannot be started.',
      ]),
    ),
  );
}
