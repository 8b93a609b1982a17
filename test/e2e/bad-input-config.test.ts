import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectEnd, run, standardFlags } from '../support/e2e/bad-input-program.ts';
import { program } from '../support/e2e/program.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

let rig: Rig;
beforeEach(async () => (rig = await makeRig()));
afterEach(() => rig.dispose());

interface Bad {
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  readonly code: number;
  /** `@` stands for the folder of the files. */
  readonly why: string | RegExp;
}

const start = ({ files = {}, env = {}, flags = [] }: Bad, command = 'proxy') => {
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(rig.folder, name), content);
  const here = (text: string) => text.replaceAll('@', rig.folder);
  const variables = Object.entries(env).map(([name, value]) => `${name}=${here(value)}`);
  const ports = [
    `ENVOY_PROMETHEUS_PORT=${rig.ports.prometheus}`,
    `ENVOY_STATUS_PORT=${rig.ports.health}`,
  ];
  const standard = standardFlags(rig).filter((_, index) => index > 1); // no custom configuration
  return run(rig, [
    'env',
    ...ports,
    ...variables,
    ...program,
    command,
    'sidecar',
    ...standard,
    ...flags.map(here),
  ]);
};

it('wrong annotations, and what a proxy can serve without, end nothing: each is a warning', async () => {
  const env = {
    PROXY_CONFIG: JSON.stringify({
      tracing: { zipkin: { address: 'z:1' }, datadog: { address: 'nowhere' } },
      envoyMetricsService: { address: 'm:1', tlsSettings: { mode: 'MUTUAL' } },
      statsdUdpAddress: 'statsd.:x',
      gatewayTopology: { numTrustedProxies: 'two' },
    }),
    ISTIO_METAJSON_ANNOTATIONS: '{',
    ISTIO_PROMETHEUS_ANNOTATIONS: '{"scrape":"true","path":"","port":"http"}',
    ISTIO_KUBE_APP_PROBERS: '{"/app-health/app/readyz":{"httpGet":{"port":"http"}}}',
  };
  const agent = rig.start(
    ['--log_output_level=default:loud', '--proxyLogLevel=loud', '--proxyComponentLogLevel=misc'],
    {
      env,
      generated: true,
    },
  );
  await agent.said('epoch.started');
  const warned = agent
    .log()
    .filter(({ event }) => event === 'config.warning')
    .map((line) => String(line['warning']));
  const places = [
    'PROXY_CONFIG.tracing',
    'PROXY_CONFIG.envoyMetricsService.tlsSettings',
    'PROXY_CONFIG.statsdUdpAddress',
    'PROXY_CONFIG.gatewayTopology.numTrustedProxies',
    'ISTIO_METAJSON_ANNOTATIONS',
    'ISTIO_PROMETHEUS_ANNOTATIONS',
    'ISTIO_KUBE_APP_PROBERS',
    '--log_output_level',
    '--proxyLogLevel',
    '--proxyComponentLogLevel',
  ];
  expect(places.filter((place) => !warned.some((text) => text.includes(place)))).toEqual([]);
});

describe('a configuration that can not be', () => {
  it.each<[what: string, bad: Bad]>([
    [
      'a mesh file that is a folder',
      {
        flags: ['--meshConfig', '@/certs'],
        code: 78,
        why: /^mesh file @\/certs: cannot be read: it is a directory, and not a regular file/,
      },
    ],
    [
      'a mesh file that is not YAML',
      {
        files: { mesh: 'defaultConfig: {a: [}' },
        flags: ['--meshConfig', '@/mesh'],
        code: 78,
        why: /^mesh file @\/mesh: line 1, column \d+: /,
      },
    ],
    [
      'a mesh file with a wrong type',
      {
        files: { mesh: 'defaultConfig: {concurrency: many}' },
        flags: ['--meshConfig', '@/mesh'],
        code: 78,
        why: "mesh file @/mesh: defaultConfig.concurrency: 'many' is not a whole number from 0 on",
      },
    ],
    [
      'PROXY_CONFIG that is not YAML',
      { env: { PROXY_CONFIG: '{bogus: [}' }, code: 78, why: /^PROXY_CONFIG: line 1, column \d+: / },
    ],
    [
      'PROXY_CONFIG with a wrong type',
      {
        env: { PROXY_CONFIG: 'drainDuration: 5' },
        code: 78,
        why: /^PROXY_CONFIG\.drainDuration: .* is not a duration/,
      },
    ],
    [
      'a bad discovery address',
      {
        flags: ['--discoveryAddress', 'istiod'],
        code: 64,
        why: /^--discoveryAddress: 'istiod' is not host:port/,
      },
    ],
    [
      'a template with an unknown variable',
      {
        files: { template: '{\n"admin": {{ .adminPort }}}' },
        flags: ['--templateFile', '@/template'],
        code: 78,
        why: /^@\/template: line 2: .*adminPort/,
      },
    ],
    [
      'a template with an action',
      {
        files: { template: '{{ if .sts }}{}{{ end }}' },
        flags: ['--templateFile', '@/template'],
        code: 78,
        why: /^@\/template: line 1: .*if/,
      },
    ],
    [
      'a template that is not there',
      { env: { ISTIO_BOOTSTRAP: '@/none' }, code: 78, why: /^@\/none: cannot be read: ENOENT/ },
    ],
    [
      'metadata that does not parse',
      { env: { ISTIO_METAJSON_LABELS: '{"app": ' }, code: 78, why: /^ISTIO_METAJSON_LABELS: / },
    ],
    [
      'several of them at once',
      {
        env: { PROXY_CONFIG: 'statusPort: high', ISTIO_METAJSON_LABELS: 'x' },
        flags: ['--connectTimeout', '1h', '--log_as_json=maybe'],
        code: 78,
        why: /--connectTimeout: .*PROXY_CONFIG\.statusPort: .*--log_as_json: .*ISTIO_METAJSON_LABELS: /,
      },
    ],
  ])('%s is refused in one line', async (_what, bad) => {
    const why =
      typeof bad.why === 'string'
        ? bad.why.replaceAll('@', rig.folder)
        : new RegExp(bad.why.source.replaceAll('@', rig.folder));
    await expectEnd(rig, start(bad), bad.code, why);
  });

  it.each<[what: string, override: string, why: RegExp]>([
    [
      'is not YAML',
      '{a: [}',
      /^Envoy refuses its configuration: ISTIO_BOOTSTRAP_OVERRIDE \S+\/o\/over\.yaml:1:6: it is not YAML/,
    ],
    [
      'has a field that Envoy does not know',
      'nodes: {}',
      /^Envoy refuses its configuration: ISTIO_BOOTSTRAP_OVERRIDE \S+\/o\/over\.yaml:1:1: no such field: 'nodes'/,
    ],
  ])(
    'an override that %s is refused with 78, and the old way is not taken instead',
    async (_what, override, why) => {
      mkdirSync(join(rig.folder, 'o'));
      await expectEnd(
        rig,
        start({
          files: { 'o/over.yaml': override },
          env: { ISTIO_BOOTSTRAP_OVERRIDE: '@/o/over.yaml' },
          code: 78,
          why,
        }),
        78,
        why,
      );
    },
  );

  it.each<[what: string, bad: Bad]>([
    ['a flag', { flags: ['--concurrency', '-1'], code: 64, why: /--concurrency/ }],
    ['a problem', { env: { ISTIO_METAJSON_LABELS: 'x' }, code: 78, why: /ISTIO_METAJSON_LABELS/ }],
    [
      'an override that Envoy refuses',
      {
        files: { o: 'nodes: {}' },
        env: { ISTIO_BOOTSTRAP_OVERRIDE: '@/o' },
        flags: ['--validate'],
        code: 78,
        why: /^Envoy refuses it: ISTIO_BOOTSTRAP_OVERRIDE \S+\/o:1:1: no such field: 'nodes'/,
      },
    ],
  ])('bootstrap says of %s what proxy would', async (_what, bad) => {
    const printed = start(bad, 'bootstrap');
    await expectEnd(rig, printed, bad.code, bad.why);
    expect(printed.output()).toBe('');
  });
});
