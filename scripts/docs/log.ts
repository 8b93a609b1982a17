import { describedEvents } from './log-events.ts';
import { code, list, page, paragraph, section, table } from './markdown.ts';

/** The fields of a line, by what they are about. */
export const fields: readonly (readonly [names: readonly string[], meaning: string])[] = [
  [['level'], '`trace`, `debug`, `info`, `warn`, `error` or `fatal`'],
  [['time'], 'The time, UTC'],
  [['msg'], 'A sentence, which may change. What varies is in the other fields'],
  [['event'], 'What has happened: a [code](#events) that stays'],
  [
    ['component'],
    '`agent`, `watcher`, `sources`, `status`, `demo`, `envoy.<logger>`, `envoy.stderr`',
  ],
  [['epoch'], 'Number of the Envoy process. It only grows'],
  [['hash'], 'First 8 digits of the hash of all watched files'],
  [['changed'], 'Which source has changed, and which part of it'],
  [['pid'], 'The process that was started, was taken over, serves on or is killed'],
  [['path'], 'A file, or the path of a request'],
  [
    ['delayMs'],
    'How long until the agent does it: the length of a window, the pause before the next try',
  ],
  [['tookMs'], 'How long a request took'],
  [['documents', 'reasons'], 'How many documents are passed over, and how many of each kind'],
  [['removals', 'resources'], 'How many removals are held back, and of which resources'],
  [['reason'], 'Why something is refused or fails'],
  [['row'], 'A row of metrics that is left out, cut if it is long'],
  [['excerpt'], 'The line of a file that is refused, with a caret below it'],
  [['stack'], 'Where in the program a bug or a failure of a part is'],
  [['part'], 'The part of the agent that has failed'],
  [
    ['see'],
    'Of a warning, of an error, and of the end of the agent: the section that says what to do',
  ],
  [
    ['kind', 'code', 'signal'],
    'How an Envoy ended. At the end of the agent `code` is its exit code',
  ],
  [['hint'], '`out of memory` or `may be out of memory`'],
  [['tail'], 'The last 20 messages of an Envoy that failed'],
  [['attempt'], 'Restarts after crashes so far, or requests that failed in a row'],
  [
    ['changes', 'windows', 'restarts', 'refusals', 'crashes', 'rescues', 'drains'],
    'At the end of the agent: how many',
  ],
  [['missing'], 'Files that are waited for, or were in vain'],
  [['warning'], 'What is odd in the configuration, once for each'],
  [
    ['because'],
    'What decides which way a changed certificate takes, or what follows from a change',
  ],
  [['effect'], 'What follows from a change: `nothing`, `push`, `runtime`, `epoch`'],
  [['settings'], 'The log levels and runtime values that Envoy has taken'],
  [['secret'], 'Name of a secret'],
  [
    ['version'],
    'Of a secret: its content in short. Of resources, of the agent at its start, of an Envoy: their version',
  ],
  [['serial', 'notAfter'], 'The certificate of a secret, and when it expires'],
  [['source'], 'Where a secret comes from; the name of a source of configuration'],
  [['stream'], 'Number of the connection on which a secret is pushed'],
  [['by'], 'Who asked to end'],
  [['active'], 'The epochs that run then. After the drain: the number of requests in flight'],
  [['lines'], 'How many lines were dropped'],
  [['node', 'role', 'id', 'nodeId', 'configuration'], 'At the start of the agent'],
  [
    ['envoy'],
    'At the start its path, when the agent is ready its version; in a bug what becomes of it',
  ],
  [['address', 'controlPlane'], 'Of the control plane: its address, and what it calls itself'],
  [
    ['since', 'forMs'],
    'Since when the control plane is away, and for how long; how long the agent has not been ready',
  ],
  [
    ['why', 'startMs', 'draining'],
    'Of an epoch that is LIVE: why it was started, how long that took, which ones drain',
  ],
  [['of'], 'When the stored configuration was confirmed last. Of attempts: how many there may be'],
  [['lastWords'], 'The line of an Envoy that crashed that tells the cause'],
  [['location'], 'Where an application has led a probe'],
  [['type'], 'What kind of resources Envoy has rejected'],
  [
    ['values', 'config'],
    'At the start: the values that are no defaults; each value with its source',
  ],
  [
    ['configDir', 'services', 'afterMs'],
    'Of the control plane: its folder, its services, how long it has read',
  ],
  [
    ['snapshot', 'proxies'],
    'Number of what the control plane has made of its sources; how many proxies are given it',
  ],
  [['resource'], 'A resource of Istio: `Kind/namespace/name`'],
  [
    ['names', 'madeOf'],
    'Of what a proxy has rejected: resources of Envoy, and those of Istio that they are made of',
  ],
  [
    ['port', 'status'],
    'Of the token server: port and status of an answer. At the start: the status port',
  ],
  [['server'], 'The server that could not take a connection: its port, its socket or its flag'],
];

export function logPage(): string {
  return page(
    'Log',
    paragraph(
      'The log is on stdout, or where `--log_target` says. It is JSON, one object a line. If stdout is a terminal, it is text for a person. The log of Envoy is ' +
        'part of it, one message an object.',
    ),
    list([
      'Envoy inherits stdout. An access log on `/dev/stdout` goes there too, as Envoy writes it.',
      'With `--keepEnvoy` the log of Envoy and an access log on `/dev/stdout` or `/dev/stderr` are in the [file](files.md) `envoy.log`.',
      'The agent never waits for the reader of its log. Lines beyond 1 MiB that wait for a slow reader are dropped and counted. A line says so when there is ' +
        'room again. At the end the agent gives the reader one second.',
      'A line of Envoy of more than 64 KiB and a message of more than 1,000 lines are cut in pieces.',
    ]),
    section(
      'Fields',
      table(
        ['Field', 'Meaning'],
        fields.map(([names, meaning]) => [names.map(code).join(', '), meaning]),
      ),
      paragraph(
        '`hint` is `out of memory` if the kernel says so of a SIGKILL. It is `may be out of memory` if the kernel does not say, and the agent has not killed ' +
          "the process. `component` is `envoy.stderr` for what does not come from one of Envoy's loggers.",
      ),
    ),
    section(
      'Events',
      paragraph(
        'Each line has one of these codes in `event`. Use the codes for alerts: a sentence may change in any version.',
      ),
      table(
        ['Event', 'Level', 'Meaning'],
        describedEvents().map(({ event, levels, meaning }) => [
          code(event),
          levels.length === 6 ? 'any' : levels.join(' or '),
          meaning,
        ]),
      ),
      paragraph('`any` is the level that Envoy gives to the message.'),
    ),
  );
}
