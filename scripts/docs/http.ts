import { block, code, list, page, paragraph, section, shellWord, table } from './markdown.ts';

interface Endpoint {
  readonly method: 'GET' | 'POST';
  /** The path as in `src/pilot-agent/status/routes.ts`. */
  readonly path: string;
  /** The rest of the request after the path. */
  readonly rest?: string;
  /**
   * The clients with access: all, programs on this machine, or programs on this machine with the
   * token.
   */
  readonly who: Client;
  readonly text: string;
  /** The options of curl in the example, and the text that replaces `rest`. */
  readonly example?: { readonly options?: string; readonly rest?: string };
  /** Details that have no room in the table. */
  readonly more?: string;
}

const clients = {
  everybody: 'For all clients',
  'this machine': 'For programs on this machine',
  'the token': 'Profiles',
} as const;

type Client = keyof typeof clients;

const withToken = '-H "Authorization: Bearer $token"';

export const endpoints: readonly Endpoint[] = [
  {
    method: 'GET',
    path: '/healthz/ready',
    who: 'everybody',
    text: '200 without a body, or 503 with the [reason](#reasons-for-not-being-ready)',
    more: 'With `Accept: application/json` the answer is JSON. It has notes too, for example that a change was refused.',
  },
  {
    method: 'GET',
    path: '/healthz/live',
    who: 'everybody',
    text: '200; 503 if Envoy has not answered for 30 s',
  },
  {
    method: 'GET',
    path: '/healthz/startup',
    who: 'everybody',
    text: '200 after an Envoy has been LIVE; before that, 503 with the reason',
  },
  {
    method: 'GET',
    path: '/app-health/',
    rest: '<container>/<probe>',
    who: 'everybody',
    text: 'The answer of the [application](#probes-of-the-application) to a probe',
    example: { rest: 'app/readyz' },
  },
  {
    method: 'GET',
    path: '/app-lifecycle/',
    rest: '<container>/<hook>',
    who: 'everybody',
    text: 'The answer of the application to a hook',
    example: { rest: 'app/prestopz' },
  },
  {
    method: 'GET',
    path: '/stats/prometheus',
    who: 'everybody',
    text: '[All metrics](metrics.md)',
  },
  {
    method: 'GET',
    path: '/version',
    who: 'everybody',
    text: 'The version, JSON',
  },
  {
    method: 'POST',
    path: '/quitquitquit',
    who: 'this machine',
    text: '`OK`. The agent drains Envoy, then ends, also with `--keepEnvoy`',
  },
  {
    method: 'POST',
    path: '/drain',
    who: 'this machine',
    text: '`OK`. Envoy drains, but does not end',
    more: 'The agent is not ready and starts no further epochs. A later SIGTERM ends it without a drain.',
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
    text: 'Sets the log level of the agent and of Envoy',
    example: { rest: '?level=debug' },
    more: 'The level is `trace`, `debug`, `info`, `warning`, `error`, `critical` or `off`. The next epoch of Envoy starts with the level of `--proxyLogLevel`.',
  },
  {
    method: 'POST',
    path: '/logging',
    rest: '?paths=<logger>:<level>,…',
    who: 'this machine',
    text: "Sets the levels of Envoy's loggers",
    example: { rest: '?paths=upstream:debug,http:info' },
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
    text: 'The epochs, JSON; a table for `Accept: text/plain`',
    example: { options: "-H 'Accept: text/plain'" },
    more: 'The answer has the last thousand epochs. Each has its state, its cause, and the change behind it. Each has the times (ISO 8601) of its launch, LIVE, drain and end, and the durations between them (names end in `Ms`). An epoch that has ended has its exit code or signal, the line that shows the cause, and the last lines of Envoy. The answer also has the next epoch, a refused configuration, pushes of secrets, counters, and the times at which Envoy served a stored configuration.',
  },
  {
    method: 'GET',
    path: '/debug/status',
    who: 'this machine',
    text: 'The state of the agent, JSON',
    more: 'The answer has the content of `pilot-agent status`: phase, readiness and its reason, epochs, certificates, sources, control plane, pushes of secrets. It has no key, no token, and no content of a source.',
  },
  {
    method: 'GET',
    path: '/debug/events',
    who: 'this machine',
    text: 'Each change of that state, as server-sent events',
    example: { options: '-N' },
    more: 'The events are `report`, `epochs`, `traffic`, `service` and, with `--statusPageLog`, `log`. Each second, `traffic` has requests, failures and connections of Envoy, and memory and CPU of the processes. Every 5 s, `service` has requests, success and latency of both directions, clusters with their healthy hosts, and listeners. There can be four streams; a further one gets 503. Without a stream, the agent measures nothing.',
  },
  {
    method: 'GET',
    path: '/debug/sources',
    who: 'this machine',
    text: 'The sources of configuration, JSON',
    more: 'Each source has its purpose (`as`), the effect of a change (`effect`), and its state (`state`). It also has the reason and time of a failure, and the time of the last change. The content is not shown.',
  },
  {
    method: 'GET',
    path: '/debug/config',
    who: 'this machine',
    text: 'The configuration, JSON',
    more: 'The answer has the content of `config print`: each value by the name of its flag, field or variable, and its source.',
  },
  {
    method: 'GET',
    path: '/debug/pprof/profile',
    rest: '?seconds=10',
    who: 'the token',
    text: 'A CPU profile of the agent (`.cpuprofile`)',
    example: { options: `-o agent.cpuprofile ${withToken}`, rest: '?seconds=10' },
    more: 'The developer tools of a browser show it. The longest profile is 30 s.',
  },
  {
    method: 'GET',
    path: '/debug/pprof/heap',
    who: 'the token',
    text: 'A snapshot of the heap of the agent (`.heapsnapshot`)',
    example: { options: `-o agent.heapsnapshot ${withToken}` },
    more: 'The agent is blocked while it makes the snapshot. A snapshot has no private key. It may have tokens and the content of the configuration: treat it as a secret.',
  },
];

/** A line of curl for an endpoint. */
export function curl({ method, path, rest = '', example = {} }: Endpoint): string {
  const url = shellWord(`localhost:15020${path}${example.rest ?? rest}`);
  const options = [...(method === 'GET' ? [] : [`-X ${method}`]), example.options ?? []].flat();
  return ['curl', ...options, url].join(' ');
}

/** The reasons in `/healthz/ready`, with placeholders. */
export const reasons: readonly (readonly [reason: string, meaning: string])[] = [
  [
    'waiting for <files>',
    'Certificates that a variable names, or that TLS needs, are not there yet',
  ],
  ['Envoy has not been started yet', 'The agent still reads the files'],
  ['Envoy is starting', 'Its admin endpoint does not answer yet'],
  ['failed to get readiness stats', 'The statistics of Envoy lack those that show readiness'],
  ['failed to get readiness stats: <status>', 'Envoy answers with an error'],
  [
    'config not received from Pilot (is Pilot running?): cds updates: N successful, N rejected; lds updates: N successful, N rejected',
    'Envoy has subscribed to clusters or listeners and has none yet',
  ],
  ['server is not live, current state is: <state>', 'Envoy initializes or drains'],
  ['workers have not yet started', 'Envoy is LIVE, but accepts no connections yet'],
  ['Envoy does not answer', 'Its admin endpoint has not answered for 2 s, or does not answer now'],
  [
    'Envoy has crashed and waits to be started again: <signal or code>: <cause>',
    'The agent waits before the restart',
  ],
  [
    'no certificate yet: <why>',
    'Envoy waits for the first certificate of the certificate authority',
  ],
  ['secret <name>: <why>', 'Envoy asks for a secret of the workload that the agent does not have'],
  [
    'Envoy is not running: configuration refused: <why>',
    'Envoy has ended, and the present configuration cannot work',
  ],
  ['Envoy is being replaced', 'The old Envoy ends first, because no second one can run beside it'],
  ['draining', 'The agent drains Envoy'],
  ['terminating', 'The drain is over, and Envoy ends'],
  ['terminating: a bug', 'The agent has a bug and ends'],
];

const profiles = paragraph(
  'Profiles are off without `--profiling`. They are for programs on this machine that have the token. The agent creates the token at each start, in the file `profile-token` ' +
    'in the folder of `--configPath`. Only the user of the agent and root can read the file.',
);

/** A shell command that sets the variable of {@link withToken}. */
const readToken = 'token=$(cat /etc/istio/proxy/profile-token)';

/** The kinds of probes, each with an example. */
export const probeKinds: readonly {
  readonly kind: string;
  readonly example: Readonly<Record<string, unknown>>;
  readonly fields: readonly string[];
  readonly text: string;
}[] = [
  {
    kind: 'httpGet',
    example: { path: '/ready', port: 8080 },
    fields: ['scheme', 'host', 'httpHeaders'],
    text: 'GET',
  },
  { kind: 'tcpSocket', example: { port: 5432 }, fields: ['host'], text: 'A connection' },
  {
    kind: 'grpc',
    example: { port: 9000 },
    fields: ['service'],
    text: 'Health check without TLS',
  },
];

export function httpPage(): string {
  const sections = Object.entries(clients).map(([who, title]) => {
    const ofClient = endpoints.filter((endpoint) => endpoint.who === who);
    const details = ofClient.flatMap(({ method, path, rest = '', more }) =>
      more === undefined ? [] : [`${code(`${method} ${path}${rest}`)}: ${more}`],
    );
    return section(
      title,
      ...(who === 'the token' ? [profiles] : []),
      table(
        ['Request', 'Answer'],
        ofClient.map(({ method, path, rest = '', text }) => [
          code(`${method} ${path}${rest}`),
          text,
        ]),
      ),
      block('sh', [...(who === 'the token' ? [readToken] : []), ...ofClient.map(curl)].join('\n')),
      list(details),
    );
  });
  return page(
    'Status port',
    paragraph(
      'The agent answers HTTP/1.1 at `--statusPort`, on all interfaces, IPv6 and IPv4. It answers HEAD as GET.',
    ),
    paragraph(
      'It gives the same answers on the Unix socket `status` in the folder of `--configPath`, also with `--statusPort 0`. Only the user of the agent and root can open the socket. ' +
        'There, `/debug/events` has the log too:',
    ),
    block('sh', 'curl --unix-socket /etc/istio/proxy/status http://localhost/debug/status'),
    ...sections,
    section(
      'Limits',
      list([
        'An agent answers the probe or the scrape of another agent, or its own, with 508. Otherwise an application that redirects to an agent would be asked again and again.',
        'For a path that is only for this machine, other machines get 403. A request that the page of another site makes a browser send gets 403 too. This machine is 127.0.0.1 and ::1. ' +
          'Other loopback addresses do not count, because 127.0.0.6 is the source address of outside traffic that Envoy forwards.',
        'On a path that is only for this machine, another method gets 405. The other paths answer any method as GET.',
        'Another path gets 404, and `/app-health` a redirect to `/app-health/`.',
        'A request must arrive within 5 s. Its head can have 16 KiB.',
        'If more than 512 connections have no request, the oldest of them is closed.',
        'If the server fails, it starts again after 200 ms, and the log says so. Further failures double the pause, up to 30 s.',
      ]),
    ),
    section(
      'Reasons for not being ready',
      paragraph(
        'Probes at the same time share one request to Envoy. If Envoy is ready, the agent reuses that answer for 100 ms. It reuses no other answer. ' +
          "The agent's own state counts at once. While a new epoch starts, the old one serves, and the answer is still 200.",
      ),
      paragraph(
        'In JSON the reason also has a name: its words up to the first detail, such as `envoy-does-not-answer`.',
      ),
      table(
        ['Reason', 'Meaning'],
        reasons.map(([reason, meaning]) => [code(reason), meaning]),
      ),
    ),
    section(
      'Probes of the application',
      paragraph(
        '`ISTIO_KUBE_APP_PROBERS` is a JSON object of paths and probes. A path is `/app-health/<container>/` or `/app-lifecycle/<container>/` ' +
          'and one of `livez`, `readyz`, `startupz`, `prestopz`, `poststartz`. A path that is not configured gets 400.',
      ),
      paragraph(
        'A probe has the form of a pod, with `timeoutSeconds` (default: 1 s). Ports are numbers.',
      ),
      table(
        ['Kind', 'Example', 'Further fields', 'Request of the agent'],
        probeKinds.map(({ kind, example, fields, text }) => [
          code(kind),
          code(JSON.stringify({ [kind]: example })),
          fields.length === 0 ? '–' : fields.map(code).join(', '),
          text,
        ]),
      ),
      list([
        'The agent asks `localhost`, or `host`, each time on a new connection. If nothing listens there, it asks the address of the pod ' +
          '(`INSTANCE_IP`). If `REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION` is `false`, it asks the address of the pod first. If it is `true`, it asks only `localhost`.',
        'The agent escapes a path as the kubelet does. Over TLS it sends no server name for an IP address.',
        'For `grpc` it calls `grpc.health.v1.Health/Check`. SERVING is 200. Any other answer, and a status of gRPC other than 0, is 500.',
        'The agent forwards the headers of the probe, and sets the configured headers.',
        "The agent answers with the application's status, without body and headers. If there is no answer in time, it answers with 500.",
        'Over TLS, the agent accepts any certificate, and speaks HTTP/2 if the application offers it. Without TLS, it speaks HTTP/2 if the application does not understand HTTP/1.1.',
        'The agent follows nine redirects to the same host (Go gives up at the tenth). A redirect to another host is not followed: it counts as 200, and the log reports it once.',
      ]),
    ),
  );
}
