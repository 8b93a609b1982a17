import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { Running } from '../support/e2e/running.ts';
import { type TwoSidecarsRig, twoSidecarsRig } from '../support/e2e/two-sidecars-rig.ts';

const rounds = 40;
const hosts = ['h1.mesh', 'h2.mesh', 'h3.mesh'];
const subsets = ['v1', 'v2'];

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const object = (fields: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  fc
    .record(fields)
    .map((values) =>
      Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)),
    );
const word = fc.constantFrom('a', 'b-c', 'x-user', 'some', 'more');
/**
 * Returns a value that is odd only rarely: one wrong value makes a resource invalid, and most
 * resources must be valid.
 */
const rarely = <T>(odd: fc.Arbitrary<T>, usual: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 1, arbitrary: odd }, { weight: 40, arbitrary: usual });
const duration = rarely(fc.constant('0s'), fc.constantFrom('1ms', '250ms', '1.5s', '1m', '2h'));
const percentage = fc.constantFrom(0, 0.01, 12.5, 100).map((value) => ({ value }));
const text = fc.oneof(
  word.map((exact) => ({ exact })),
  rarely(fc.constant(''), word).map((prefix) => ({ prefix })),
  fc.constantFrom('.*', '[a-z]+', '(?i)a|b', '\\d{1,3}', '^x$').map((regex) => ({ regex })),
);
const path = fc.oneof(
  fc.constantFrom('/', '/a', '/a/').map((prefix) => ({ prefix })),
  fc.constantFrom('/a', '/b').map((exact) => ({ exact })),
  fc.constant({ regex: '/[a-z]+/\\d+' }),
);
const operations = object({
  set: optional(
    rarely<Readonly<Record<string, string>>>(
      fc.constantFrom(
        { 'x-set': '%REQ%' },
        { 'x-set': '%PROTOCOL(x)%' },
        { 'x-set': '%START_TIME:3%' },
      ),
      fc.constantFrom(
        { 'x-set': 'a' },
        { 'x-set': '%DOWNSTREAM_REMOTE_ADDRESS%' },
        { host: 'other.mesh' },
        { 'x-set': '100 %%' },
        { 'x-set': '%PROTOCOL%%RESPONSE_CODE%' },
      ),
    ),
  ),
  add: optional(
    fc.constantFrom({ 'x-add': 'b' }, { 'x-add': '%REQ(:path)%' }, { host: 'other.mesh' }),
  ),
  remove: optional(fc.constant(['x-gone', 'x-user'])),
});
const headers = object({ request: optional(operations), response: optional(operations) });
const destination = object({
  host: fc.constantFrom(...hosts),
  subset: optional(fc.constantFrom(...subsets, 'none')),
});
const match = object({
  uri: optional(path),
  ignoreUriCase: optional(fc.boolean()),
  method: optional(text),
  scheme: optional(fc.constant({ exact: 'http' })),
  authority: optional(text),
  headers: optional(
    fc.dictionary(word, fc.oneof(text, fc.constant({})), { maxKeys: 2, noNullPrototype: true }),
  ),
  withoutHeaders: optional(
    fc.dictionary(word, fc.oneof(text, fc.constant({})), { maxKeys: 2, noNullPrototype: true }),
  ),
  queryParams: optional(fc.dictionary(word, text, { maxKeys: 2, noNullPrototype: true })),
  sourceLabels: optional(fc.constantFrom({ app: 'client' }, { app: 'other' })),
});
const common = {
  match: optional(fc.array(match, { minLength: 1, maxLength: 3 })),
  headers: optional(headers),
  corsPolicy: optional(
    object({
      allowOrigins: fc.array(text, { maxLength: 2 }),
      allowMethods: optional(fc.constant(['GET'])),
      maxAge: optional(duration),
      allowCredentials: optional(fc.boolean()),
    }),
  ),
};
const abort = fc.oneof(
  object({ httpStatus: fc.constantFrom(400, 503), percentage }),
  object({ grpcStatus: fc.constant('UNAVAILABLE'), percentage }),
);
const routed = object({
  ...common,
  route: fc.array(
    object({
      destination,
      weight: rarely(fc.constantFrom(0, 2 ** 31 - 1), fc.integer({ min: 1, max: 100 })),
      headers: optional(headers),
    }),
    {
      minLength: 1,
      maxLength: 3,
    },
  ),
  rewrite: optional(
    fc.constantFrom(
      { uri: '/new' },
      { authority: 'new.mesh' },
      { uriRegexRewrite: { match: '/(a|b)', rewrite: '/x\\1' } },
    ),
  ),
  timeout: optional(duration),
  retries: optional(
    object({
      attempts: fc.integer({ min: 0, max: 5 }),
      perTryTimeout: optional(duration),
      retryOn: optional(fc.constantFrom('5xx', 'reset,503', 'cancelled,retriable-4xx')),
      backoff: optional(duration),
    }),
  ),
  fault: optional(
    object({
      delay: optional(object({ fixedDelay: duration, percentage })),
      abort: optional(abort),
    }),
  ),
  mirrors: optional(fc.array(object({ destination, percentage }), { maxLength: 2 })),
});
const redirected = object({
  ...common,
  redirect: object({
    uri: optional(fc.constant('/there')),
    authority: optional(fc.constant('there.mesh')),
    redirectCode: optional(fc.constantFrom(301, 302, 303, 307, 308)),
    scheme: optional(fc.constantFrom('http', 'https')),
  }),
});
const answered = object({
  ...common,
  directResponse: object({
    status: fc.integer({ min: 200, max: 599 }),
    body: optional(fc.constant({ string: 'said' })),
  }),
});
const hash = fc.oneof(
  rarely(fc.constant(false), fc.constant(true)).map((useSourceIp) => ({ useSourceIp })),
  object({ httpHeaderName: word, minimumRingSize: optional(fc.integer({ min: 1, max: 4096 })) }),
  object({ httpQueryParameterName: word, maglev: optional(fc.constant({ tableSize: 65_537 })) }),
  fc.constant({ httpCookie: { name: 'c', ttl: '10s', path: '/' } }),
);
const policy = object({
  loadBalancer: optional(
    fc.oneof(
      fc.constantFrom('ROUND_ROBIN', 'LEAST_REQUEST', 'RANDOM').map((simple) => ({ simple })),
      hash.map((consistentHash) => ({ consistentHash })),
      duration.map((warmupTime) => ({ simple: 'ROUND_ROBIN', warmup: { duration: warmupTime } })),
    ),
  ),
  connectionPool: optional(
    object({
      tcp: optional(
        object({
          maxConnections: optional(fc.nat(100)),
          connectTimeout: optional(duration),
          idleTimeout: optional(duration),
          tcpKeepalive: optional(fc.constant({ time: '10s', probes: 3 })),
        }),
      ),
      http: optional(
        object({
          http1MaxPendingRequests: optional(fc.nat(100)),
          maxRequestsPerConnection: optional(fc.nat(9)),
          h2UpgradePolicy: optional(fc.constantFrom('UPGRADE', 'DO_NOT_UPGRADE')),
          idleTimeout: optional(duration),
        }),
      ),
    }),
  ),
  outlierDetection: optional(
    object({
      consecutive5xxErrors: optional(fc.nat(9)),
      consecutiveGatewayErrors: optional(fc.nat(9)),
      interval: optional(duration),
      baseEjectionTime: optional(duration),
      maxEjectionPercent: optional(fc.nat(100)),
      minHealthPercent: optional(fc.nat(100)),
      splitExternalLocalOriginErrors: optional(fc.boolean()),
    }),
  ),
  tls: optional(
    fc.constantFrom(
      { mode: 'DISABLE' },
      { mode: 'SIMPLE', sni: 'x.mesh', insecureSkipVerify: true },
      { mode: 'ISTIO_MUTUAL' },
    ),
  ),
});

/** Rules for three services, as a list of resources. */
const rules = fc
  .tuple(
    ...hosts.map((host, index) =>
      fc
        .record({
          http: fc.array(fc.oneof(routed, redirected, answered), { minLength: 1, maxLength: 4 }),
          trafficPolicy: policy,
          subsetPolicy: policy,
        })
        .map(({ http, trafficPolicy, subsetPolicy }) => [
          {
            apiVersion: 'networking.istio.io/v1',
            kind: 'VirtualService',
            metadata: { name: `h${index}` },
            spec: { hosts: [host], http },
          },
          {
            apiVersion: 'networking.istio.io/v1',
            kind: 'DestinationRule',
            metadata: { name: `h${index}` },
            spec: {
              host,
              trafficPolicy,
              subsets: subsets.map((name) => ({
                name,
                labels: { version: name },
                ...(name === 'v2' && { trafficPolicy: subsetPolicy }),
              })),
            },
          },
        ]),
    ),
  )
  .map((all) => all.flat());

/** Returns a valid resource, so that each round is pushed. */
const ofRound = (round: number) => ({
  apiVersion: 'networking.istio.io/v1',
  kind: 'VirtualService',
  metadata: { name: 'round' },
  spec: {
    hosts: ['round.mesh'],
    http: [{ directResponse: { status: 200, body: { string: String(round) } } }],
  },
});

describe('rules, whatever they are', () => {
  let rig: TwoSidecarsRig;
  let discovery: Running;

  beforeAll(async () => {
    rig = await twoSidecarsRig();
    for (const [index, host] of [...hosts, 'round.mesh'].entries())
      rig.write(
        `5${index}-service.yaml`,
        JSON.stringify({
          apiVersion: 'networking.istio.io/v1',
          kind: 'ServiceEntry',
          metadata: { name: host.replace('.', '-') },
          spec: {
            hosts: [host],
            location: 'MESH_EXTERNAL',
            resolution: 'STATIC',
            ports: [{ number: rig.ports.service, name: 'http', protocol: 'HTTP' }],
            endpoints: subsets.map((version) => ({ address: '127.0.0.1', labels: { version } })),
          },
        }),
      );
    discovery = rig.startDiscovery();
    rig.startAgents();
    await eventually(async () => (await rig.ask()).status === 200);
  });
  afterAll(() => rig.dispose(), 60_000);

  it('are accepted by Envoy, or refused before they are sent', async () => {
    let built = 0;
    for (const [round, resources] of fc.sample(rules, { numRuns: rounds, seed: 7 }).entries()) {
      const pushes = discovery.lines.filter(({ event }) => event === 'discovery.pushed').length;
      rig.write(
        '60-rules.yaml',
        [...resources, ofRound(round)].map((resource) => JSON.stringify(resource)).join('\n---\n'),
      );
      await eventually(
        () => discovery.lines.filter(({ event }) => event === 'discovery.pushed').length > pushes,
      );
      built += 1;
    }
    expect(built).toBe(rounds);
    type Synced = { readonly resources: Readonly<Record<string, { readonly status: string }>> };
    const states = async () =>
      (await rig.debug<readonly Synced[]>('syncz')).flatMap(({ resources }) =>
        Object.values(resources).map(({ status }) => status),
      );
    await expect.poll(states).not.toContain('SENT');
    const errors = discovery.lines.filter(({ level }) => level === 'error');
    const isRefused = ({ event }: { readonly event?: unknown }) => event === 'discovery.refused';
    expect(
      errors
        .filter((line) => !isRefused(line))
        .map(({ event, field, reason }) => [event, field, reason]),
    ).toEqual([]);
    expect(errors.filter(isRefused).length).toBeGreaterThan(0);
    expect(new Set(await states())).toEqual(new Set(['SYNCED']));
  });
});
