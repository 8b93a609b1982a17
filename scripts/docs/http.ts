import { block, code, list, page, paragraph, section, table } from './markdown.ts';

interface Endpoint {
  readonly method: 'GET' | 'POST';
  /** As `src/pilot-agent/status/routes.ts` has it. */
  readonly path: string;
  /** What follows the path in a request. */
  readonly rest?: string;
  /** Who may ask: everybody, programs on this machine, or those of them that have the token. */
  readonly who: 'everybody' | 'this machine' | 'the token';
  readonly text: string;
  /** What has no room in the table. */
  readonly more?: string;
}

export const endpoints: readonly Endpoint[] = [
  {
    method: 'GET',
    path: '/healthz/ready',
    who: 'everybody',
    text: '200 without a body, or 503 with the [reason](#reasons-for-not-being-ready)',
    more: 'With `Accept: application/json` the answer is JSON. It has notes too, such as that a change was refused.',
  },
  {
    method: 'GET',
    path: '/healthz/live',
    who: 'everybody',
    text: '200; 503 if Envoy has been silent for 30 s',
  },
  {
    method: 'GET',
    path: '/healthz/startup',
    who: 'everybody',
    text: '200 once an Envoy has been LIVE; until then 503 with the reason',
  },
  {
    method: 'GET',
    path: '/app-health/',
    rest: '<container>/<probe>',
    who: 'everybody',
    text: 'What the [application](#probes-of-the-application) answers',
  },
  {
    method: 'GET',
    path: '/app-lifecycle/',
    rest: '<container>/<hook>',
    who: 'everybody',
    text: 'The same for hooks',
  },
  { method: 'GET', path: '/stats/prometheus', who: 'everybody', text: '[All metrics](metrics.md)' },
  { method: 'GET', path: '/version', who: 'everybody', text: 'The version, JSON' },
  {
    method: 'POST',
    path: '/quitquitquit',
    who: 'this machine',
    text: '`OK`. The agent ends as with SIGTERM',
  },
  {
    method: 'POST',
    path: '/drain',
    who: 'this machine',
    text: '`OK`. Envoy drains and goes on',
    more: 'The agent is not ready and starts no more epochs. A SIGTERM that comes later ends it without a drain.',
  },
  {
    method: 'POST',
    path: '/restart',
    who: 'this machine',
    text: '`OK`. A new epoch starts now, as with SIGHUP',
  },
  {
    method: 'POST',
    path: '/logging',
    rest: '?level=<level>',
    who: 'this machine',
    text: "Sets the agent's and Envoy's log level",
    more: 'The level is `trace`, `debug`, `info`, `warning`, `error`, `critical` or `off`. The next epoch of Envoy has its old level again.',
  },
  {
    method: 'POST',
    path: '/logging',
    rest: '?paths=<logger>:<level>,…',
    who: 'this machine',
    text: "Sets the levels of Envoy's loggers",
  },
  {
    method: 'GET',
    path: '/',
    who: 'this machine',
    text: 'The [page](../guide/see-it.md) for a browser',
  },
  {
    method: 'GET',
    path: '/debug/epochs',
    who: 'this machine',
    text: 'The lives of the epochs, JSON; a table for `Accept: text/plain`',
    more:
      'Each of the last thousand epochs has its state, its cause and what had changed. It has the times (ISO 8601) at which it was launched, LIVE, draining ' +
      'and over, and the durations in between (names end in `Ms`). An epoch that has ended has exit code or signal, the line that shows the cause, and the last words of Envoy. The ' +
      'answer also has the next epoch, a refused configuration, pushes of secrets, counters, and when Envoy served a stored configuration.',
  },
  {
    method: 'GET',
    path: '/debug/status',
    who: 'this machine',
    text: 'How it stands with the agent, JSON',
    more:
      'The answer has what `pilot-agent status` shows: phase, readiness and why not, epochs, certificates, sources, control plane, pushes of secrets. No key, no token, ' +
      'no content of a source.',
  },
  {
    method: 'GET',
    path: '/debug/events',
    who: 'this machine',
    text: 'The same as it changes, as server-sent events',
    more:
      'The events are `report`, `epochs`, `traffic` (once a second: requests, failures and connections of Envoy, memory and CPU of the processes), `service` ' +
      '(every 5 s: requests, success and latency of both directions, clusters with their healthy hosts, listeners) and, ' +
      'with `--statusPageLog`, `log`. Four streams at most: 503 for one more. While nobody looks, nothing is measured.',
  },
  {
    method: 'GET',
    path: '/debug/sources',
    who: 'this machine',
    text: 'The sources of configuration, JSON',
    more:
      'Each source has its purpose (`as`), what a change leads to (`effect`), whether it can be read (`state`), why not and since when, and when it has ' +
      'changed. The content is not shown.',
  },
  {
    method: 'GET',
    path: '/debug/config',
    who: 'this machine',
    text: 'The configuration, JSON',
    more: 'It has what `config print` prints: each value by the name of its flag, field or variable, and where it comes from.',
  },
  {
    method: 'GET',
    path: '/debug/pprof/profile',
    rest: '?seconds=10',
    who: 'the token',
    text: 'What the agent does: a `.cpuprofile`',
    more: 'The developer tools of a browser show it. 30 s at most.',
  },
  {
    method: 'GET',
    path: '/debug/pprof/heap',
    who: 'the token',
    text: 'What the agent holds: a `.heapsnapshot`',
    more: 'The agent does nothing else while it is made.',
  },
];

/** What `/healthz/ready` says, with a placeholder for what varies. */
export const reasons: readonly (readonly [reason: string, meaning: string])[] = [
  [
    'waiting for <files>',
    'Certificates that a variable names, or that TLS needs, are not there yet',
  ],
  ['Envoy has not been started yet', 'The files are being read'],
  ['Envoy is starting', 'Its admin endpoint does not answer yet'],
  ['failed to get readiness stats', 'The statistics of Envoy lack what is looked for'],
  ['failed to get readiness stats: <status>', 'Envoy answers with an error'],
  [
    'config not received from Pilot (is Pilot running?): cds updates: N successful, N rejected; lds updates: N successful, N rejected',
    'Envoy subscribes to clusters or listeners and has none yet',
  ],
  ['server is not live, current state is: <state>', 'Envoy initializes or drains'],
  ['workers have not yet started', 'Envoy is LIVE, but takes no connections yet'],
  ['Envoy does not answer', 'Its admin endpoint has been silent for 2 s, or is silent now'],
  [
    'Envoy has crashed and waits to be started again: <signal or code>: <cause>',
    'The pause before the restart',
  ],
  [
    'no certificate yet: <why>',
    'Envoy waits, and its certificate authority has not given the first certificate',
  ],
  [
    'secret <name>: <why>',
    "Envoy asks for one of the workload's own secrets, and there is none to serve",
  ],
  [
    'Envoy is not running: configuration refused: <why>',
    'Envoy is gone, and what is on disk now cannot work',
  ],
  ['Envoy is being replaced', 'No second Envoy can run beside the old one: the old one ends first'],
  ['draining', 'The agent was asked to end'],
  ['terminating', 'The drain is over, Envoy ends'],
  ['terminating: a bug', 'The agent has a bug and ends'],
];

export function httpPage(): string {
  const told = endpoints.flatMap(({ method, path, rest = '', more }) =>
    more === undefined ? [] : [`${code(`${method} ${path}${rest}`)}: ${more}`],
  );
  return page(
    'Status port',
    paragraph(
      'The agent answers HTTP/1.1 at `--statusPort`, on all interfaces, IPv6 and IPv4. HEAD is answered as GET.',
    ),
    paragraph(
      'It answers the same on the Unix socket `status` in the folder of `--configPath`, which its user alone can open, with the log in `/debug/events`: ' +
        '`curl --unix-socket /etc/istio/proxy/status http://localhost/debug/status`. The socket is there with `--statusPort 0`, too.',
    ),
    table(
      ['Request', 'Who may', 'Answer'],
      endpoints.map(({ method, path, rest = '', who, text }) => [
        code(`${method} ${path}${rest}`),
        who,
        text,
      ]),
    ),
    list(told),
    section(
      'Limits',
      list([
        'A probe or a scrape that leads back to an agent is refused with 508: it would ask the application again.',
        'Paths for this machine are answered with 403 for all others, and for a browser on behalf of another site. This machine is 127.0.0.1 and ::1. ' +
          'Other loopback addresses are not, because Envoy passes on traffic from outside from 127.0.0.6.',
        'Another method is answered with 405. Another path is answered with 404, and `/app-health` with a redirect to `/app-health/`.',
        'A request has to be there within 5 s. Its head has 16 KiB at most.',
        'If more than 512 connections ask nothing, the oldest one is closed.',
        'If the server breaks, it is started again each second, and the log says so.',
      ]),
    ),
    section(
      'Profiles',
      paragraph(
        'Profiles are off. With `--profiling` they are for programs of this machine that have the token. The agent makes it at each start, ' +
          'and writes it into `profile-token` in the folder of `--configPath`, which only its user and root may read:',
      ),
      block(
        'sh',
        'token=$(cat /etc/istio/proxy/profile-token)\n' +
          'curl -H "Authorization: Bearer $token" -o agent.heapsnapshot localhost:15020/debug/pprof/heap',
      ),
      paragraph(
        'A snapshot of the heap has no private key. It may have tokens, and what is in the configuration: treat it as a secret.',
      ),
    ),
    section(
      'Reasons for not being ready',
      paragraph(
        "Probes that come together share one question to Envoy. An answer that Envoy is ready counts for 100 ms. The agent's own " +
          'state counts at once. Nothing is remembered for longer. While a new epoch starts the old one serves, and the answer is still 200.',
      ),
      paragraph(
        'In JSON the reason has a name too: its words up to the first detail, such as `envoy-does-not-answer`.',
      ),
      table(
        ['Reason', 'What it means'],
        reasons.map(([reason, meaning]) => [code(reason), meaning]),
      ),
    ),
    section(
      'Probes of the application',
      paragraph(
        '`ISTIO_KUBE_APP_PROBERS` is a JSON object of paths and probes. A path is `/app-health/<container>/` or `/app-lifecycle/<container>/` ' +
          'and one of `livez`, `readyz`, `startupz`, `prestopz`, `poststartz`. A path that is not configured is answered with 400.',
      ),
      paragraph(
        'A probe is written as in a pod, with `timeoutSeconds` (1 s if there is none). Ports are numbers.',
      ),
      table(
        ['Kind', 'Fields', 'What the agent does'],
        [
          ['`httpGet`', '`path`, `port`, `scheme`, `host`, `httpHeaders`', 'It asks by GET'],
          ['`tcpSocket`', '`port`, `host`', 'It connects'],
          [
            '`grpc`',
            '`port`, `service`',
            'It asks `grpc.health.v1.Health/Check` without TLS. SERVING is 200, all else 500',
          ],
        ],
      ),
      list([
        'The agent asks `localhost`, or `host`, each time on a new connection. If nobody listens there, it asks the address of the pod ' +
          '(`INSTANCE_IP`). `REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION` is `false`: the address of the pod first; `true`: `localhost` alone.',
        'A path is escaped as by the kubelet. Over TLS no name is sent for an address. A status of gRPC other than 0 is a failure.',
        'It sends the headers of the probe that it was sent and, over them, the configured ones.',
        "It answers with the application's status, without body and headers. If there is no answer in time, it answers with 500.",
        'HTTPS accepts any certificate. HTTP/2 is spoken with an application that offers it, or that understands nothing else.',
        'A redirect to the same host is followed, nine times at most (Go gives up at the tenth). A redirect to another host is not, and counts as 200; the log says so once.',
      ]),
    ),
  );
}
