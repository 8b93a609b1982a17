import { describedEvents } from './log-events.ts';
import { code, list, page, paragraph, section, table } from './markdown.ts';

/** The fields of a line, by subject. */
export const fields: readonly (readonly [names: readonly string[], meaning: string])[] = [
  [['level'], '`trace`, `debug`, `info`, `warn`, `error` or `fatal`'],
  [['time'], 'Time, UTC'],
  [['msg'], 'A sentence, which may change between versions. The details are in the other fields'],
  [['event'], 'The [code](#events) of the event, which does not change'],
  [
    ['component'],
    '`agent`, `watcher`, `sources`, `status`, `discovery`, `demo`, `envoy.<logger>`, `envoy.stderr`',
  ],
  [['epoch'], 'Number of the Envoy process. It only grows'],
  [
    ['hash'],
    'First 8 digits of the hash of all watched files, or of the certificates of an authority',
  ],
  [['changed'], 'The source that changed, and the part of it'],
  [['pid'], 'A process: started, taken over, still serving, or killed'],
  [['path'], 'A file, or the path of a request'],
  [['delayMs'], 'Time until an action in ms: the length of a window, or the pause before a retry'],
  [['tookMs'], 'Duration of a request in ms'],
  [['documents', 'reasons'], 'Number of skipped documents, and the number for each kind'],
  [['removals', 'resources'], 'Number of removals that are held back, and the resources'],
  [['reason'], 'Reason of a refusal or a failure'],
  [['row'], 'A row of metrics that was dropped; a long row is cut'],
  [['excerpt'], 'The line of a refused file, with a caret below it'],
  [['stack'], 'Stack of a bug, or of the failure of a part'],
  [['part'], 'The part of the agent that failed'],
  [
    ['see'],
    'The section of the documents that says what to do about a warning, an error or the end',
  ],
  [
    ['kind', 'code', 'signal'],
    'The way an Envoy ended. At the end of the agent, `code` is its exit code',
  ],
  [['hint'], '`out of memory` or `may be out of memory`'],
  [['tail'], 'The last 20 messages of an Envoy that failed'],
  [['attempt'], 'Number of restarts after crashes so far, or of failed requests in a row'],
  [
    ['changes', 'windows', 'restarts', 'refusals', 'crashes', 'rescues', 'drains'],
    'Counters, at the end of the agent',
  ],
  [
    ['missing'],
    'Files that the agent waits for, or that did not come in time; resources that a new epoch waits for',
  ],
  [['warning'], 'An odd value in the configuration; each is logged once'],
  [
    ['because'],
    'Reason why a certificate is pushed or restarts Envoy, or why a change has its effect',
  ],
  [['effect'], 'Effect of a change: `nothing`, `push`, `runtime`, `epoch`'],
  [['settings'], 'Log levels and runtime values that Envoy has now'],
  [['secret'], 'Name of a secret'],
  [
    ['version'],
    'Digest of a secret; version of resources, of the agent at its start, or of an Envoy',
  ],
  [['serial', 'notAfter'], 'Serial number and expiry of a certificate'],
  [['identity'], 'SPIFFE ID of the workload, or of the client of the certificate authority'],
  [['before'], 'SPIFFE ID that the workload had'],
  [['requests'], 'Number of refused requests of this identity since the last line'],
  [['more'], 'Number of refused callers of this IP since the last line, without this one'],
  [['roots'], 'Number of roots of the certificate authority'],
  [['holder'], 'The instance that writes the status of resources'],
  [['namespaces', 'written'], 'Number of namespaces with the roots, and of written ConfigMaps'],
  [
    ['revoked', 'nextUpdate'],
    'Number of revoked certificates, and when the first CRL must be replaced',
  ],
  [['namespace'], 'A namespace whose ConfigMap another program replaces'],
  [['source'], 'Origin of a secret, or name of a source of configuration'],
  [['stream'], 'Number of the stream on which a secret is pushed'],
  [['by'], 'Origin of the request to restart or to end'],
  [
    ['active'],
    'The epochs that run when an end or a drain is requested. After a drain: the requests in flight',
  ],
  [['lines'], 'Number of dropped lines'],
  [['node', 'role', 'id', 'nodeId', 'configuration'], 'Properties of the agent, at its start'],
  [
    ['envoy'],
    'Path of Envoy at the start; version when the agent is ready; after a bug: `drained` or `left`',
  ],
  [
    ['address', 'controlPlane'],
    'Address and identifier of the control plane, which itself logs the address of a client',
  ],
  [
    ['since', 'forMs'],
    'Start and duration in ms of an outage of the control plane, or of not being ready',
  ],
  [
    ['why', 'startMs', 'draining'],
    'Cause of an epoch that is LIVE, duration of its start in ms, epochs that drain',
  ],
  [['of'], 'Time of the last confirmation of the stored configuration, or the limit of attempts'],
  [['lastWords'], 'The line of a crashed Envoy that shows the cause'],
  [['location'], 'Target of a redirect that an application gave to a probe'],
  [['type'], 'Type of the resources that Envoy NACKed'],
  [
    ['values', 'config'],
    'At the start: the values that are not defaults; each value with its source',
  ],
  [
    ['configDir', 'registries', 'services', 'afterMs'],
    'Sources and services of the control plane; first reading in ms',
  ],
  [
    ['snapshot', 'proxies'],
    'Number of a snapshot of the control plane, and how many proxies receive it',
  ],
  [['resource'], 'A resource of Istio: `Kind/namespace/name`'],
  [['names', 'madeOf'], 'Resources that a proxy NACKed, and the resources of Istio behind them'],
  [['port'], 'Port of the token server'],
  [
    ['status'],
    'Status of an answer of the token server, or of a refusal; at the start: where the status port is',
  ],
  [['server'], 'The server that could not accept a connection: its port, its socket or its flag'],
];

export function logPage(): string {
  return page(
    'Log',
    paragraph(
      'The log goes to `--log_target`; the default is stdout. It is JSON, with one object in each line. On a terminal, it is text for people. It contains the log of Envoy: ' +
        'each message is an object.',
    ),
    list([
      'Envoy inherits stdout. An access log on `/dev/stdout` goes there too, in the format of Envoy.',
      'With `--keepEnvoy`, the log of Envoy and an access log on `/dev/stdout` or `/dev/stderr` go to the [file](files.md) `envoy.log`.',
      'The agent never waits for the reader of its log. It keeps 1 MiB of lines for a slow reader, and drops and counts further lines. A line reports the number when there is ' +
        'space again. At its end, the agent waits at most one second for the reader.',
      'The agent splits a line of Envoy of more than 64 KiB, and a message of more than 1,000 lines.',
      'The agent leaves out two warnings that Envoy writes at each hot restart: `shutting down admin due to child startup` and `terminating parent process`. An Envoy without a limit of downstream ' +
        'connections also warns of that at its start; the agent logs this once. The generated configuration has such a limit.',
    ]),
    section(
      'Fields',
      table(
        ['Field', 'Meaning'],
        fields.map(([names, meaning]) => [names.map(code).join(', '), meaning]),
      ),
      paragraph(
        '`hint` is `out of memory` if the kernel reports that as the cause of a SIGKILL. It is `may be out of memory` if the kernel reports no cause, and the agent did not kill ' +
          "the process. `component` is `envoy.stderr` for output that does not come from one of Envoy's loggers.",
      ),
    ),
    section(
      'Events',
      paragraph(
        'Each line has one of these codes in `event`. Use the codes for alerts, because sentences may change in any version.',
      ),
      table(
        ['Event', 'Level', 'Meaning'],
        describedEvents().map(({ event, levels, meaning }) => [
          code(event),
          levels.length === 6 ? 'any' : levels.join(' or '),
          meaning,
        ]),
      ),
      paragraph('For `any`, Envoy decides the level of the message.'),
    ),
  );
}
