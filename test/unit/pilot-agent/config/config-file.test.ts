import { describe, expect, it } from 'vitest';
import { fileFlags, readConfigFile } from '../../../../src/pilot-agent/config/config-file.ts';
import { flags } from '../../../../src/pilot-agent/config/flags.ts';
import { presentConfig } from '../../../../src/pilot-agent/run/start/present-config.ts';
import { accepted, configOf, problemsOf, type TestConfig } from '../../../support/resolved.ts';

/** Returns a test configuration with a file of this content. */
function withFile(content: unknown, others: TestConfig = {}): TestConfig {
  const file = readConfigFile('a.yaml', { ok: true, value: content });
  return { ...others, file, env: { ...file.environment, ...others.env } };
}

describe('a configuration file', () => {
  it('that is empty says nothing', () => {
    expect(accepted(withFile(null))).toEqual(accepted());
    expect(accepted(withFile({ minDelay: null, sources: null, environment: null }))).toEqual(
      accepted(),
    );
  });

  it('says flags by name, a ProxyConfig, variables, probes and sources', () => {
    const content = {
      role: 'router',
      minDelay: '1s',
      statusPort: 15_021,
      xdsProxy: false,
      'trust-domain': 'mesh.com',
      zipkinAddress: 'zipkin:9411',
      envoyMetricsService: { address: 'metrics:1', tlsSettings: { mode: 'SIMPLE' } },
      watch: ['/a'],
      log_output_level: 'debug',
      log_target: ['stderr'],
      proxyConfig: { discovery_address: 'istiod:15010', drainDuration: '3s' },
      environment: {
        CA_ADDR: 'ca:15012',
        ENVOY_STATUS_PORT: 15_999,
        FILE_MOUNTED_CERTS: true,
        ISTIO_META_OWNER: 'me',
      },
      probers: { '/app-health/web/readyz': { tcpSocket: { port: 80 }, timeoutSeconds: 2 } },
      sources: [{ kind: 'files', name: 'extra', paths: ['/b'] }],
    };
    const { config } = accepted(withFile(content));
    expect(config).toMatchObject({
      role: 'router',
      minDelay: 1_000,
      statusPort: 15_021,
      xdsProxy: false,
      trustDomain: 'mesh.com',
      tracing: { zipkin: { address: 'zipkin:9411' } },
      envoyMetricsService: { address: 'metrics:1', tlsSettings: { mode: 'SIMPLE' } },
      logging: { level: 'debug', targets: ['stderr'] },
      discoveryAddress: 'istiod:15010',
      drainDuration: 3_000,
      secrets: { caAddress: 'ca:15012' },
      healthPort: 15_999,
      fileMountedCerts: true,
      metadataVariables: { ISTIO_META_OWNER: 'me' },
      probes: new Map([
        ['/app-health/web/readyz', { kind: 'tcp', timeout: 2_000, host: 'localhost', port: 80 }],
      ]),
    });
    expect(config.sources.map(({ name }) => name)).toEqual(['extra', 'watch']);
  });

  it('is above the annotations, and below variables and flags; its flags are above its ProxyConfig', () => {
    const file = {
      minDelay: '2s',
      discoveryAddress: 'file:1',
      proxyConfig: { discoveryAddress: 'below:1', drainDuration: '7s', connectTimeout: '3s' },
    };
    const testConfig = withFile(
      {
        ...file,
        watch: ['/file'],
        kubeconfig: '/file',
        environment: { CA_ADDR: 'file:1', POD_NAME: 'file' },
      },
      {
        annotation: {
          discoveryAddress: 'annotation:1',
          drainDuration: '8s',
          terminationDrainDuration: '9s',
        },
        env: { PILOT_AGENT_WATCH: '/variable', CA_ADDR: 'variable:1' },
        given: { connectTimeout: '4s' },
      },
    );
    const { config, sources } = accepted(testConfig);
    expect(config).toMatchObject({
      discoveryAddress: 'file:1',
      drainDuration: 7_000,
      terminationDrainDuration: 9_000,
      connectTimeout: 4_000,
      minDelay: 2_000,
      watch: ['/variable'],
      kubeconfig: '/file',
      podName: 'file',
      secrets: { caAddress: 'variable:1' },
    });
    expect(sources).toMatchObject({
      discoveryAddress: 'config file a.yaml',
      drainDuration: 'config file a.yaml',
      connectTimeout: '--connectTimeout',
      watch: '$PILOT_AGENT_WATCH',
      kubeconfig: 'config file a.yaml',
    });
  });

  it('gives way to the role and the logging flags of the command line', () => {
    const testConfig = withFile(
      { role: 'router', log_target: 'file', log_as_json: true },
      { leftover: ['sidecar'], logFlags: { log_target: 'flag' } },
    );
    const { config, sources } = accepted(testConfig);
    expect([config.role, sources.role]).toEqual(['sidecar', 'argument']);
    expect(config.logging).toEqual({ level: 'info', json: true, targets: ['flag'] });
    expect(presentConfig({ config, sources })).toMatchObject({
      log_target: { value: ['flag'], source: '--log_target' },
      log_as_json: { value: true, source: 'config file a.yaml: log_as_json' },
    });
  });

  it.each<[content: unknown, place: string, text: string]>([
    [[], '', 'not a map of fields'],
    [{ minDelai: '1s' }, ': minDelai', 'is not known: did you mean minDelay?'],
    [{ config: 'b.yaml' }, ': config', 'is not known'],
    [{ applicationPorts: '80' }, ': applicationPorts', 'is not known'],
    [{ minDelay: 5 }, ': minDelay', "5 is not a duration (such as '45s' or '1m30s')"],
    [{ 'trust-domain': [] }, ': trust-domain', 'a list is not a text'],
    [
      { zipkinAddress: 'zipkin' },
      ': zipkinAddress',
      "'zipkin' is not host:port, the host a name or an IP address (IPv6 in brackets)",
    ],
    [{ watch: '/a' }, ': watch', 'is not a list of paths'],
    [
      { watchKube: ['x'] },
      ': watchKube',
      "'x' is not KIND/NAMESPACE/NAME, such as 'Secret/default/front' or 'Gateway.networking.istio.io/default/front'",
    ],
    [
      { envoyMetricsService: { address: 'm:1', tlsSettings: { mode: 'FULL' } } },
      ': envoyMetricsService.tlsSettings.mode',
      "'FULL' is not one of DISABLE, SIMPLE, MUTUAL, ISTIO_MUTUAL",
    ],
    [{ role: 'waypoint' }, ': role', "'waypoint' is not one of sidecar, router"],
    [
      { proxyConfig: { drainDuration: 'soon' } },
      ': proxyConfig.drainDuration',
      "'soon' is not a duration (such as '45s' or '1m30s')",
    ],
    [{ proxyConfig: 3 }, ': proxyConfig', '3 is not a map of fields'],
    [
      { drainDuration: '2m' },
      ': drainDuration',
      '120s is not less than --parentShutdownDuration 60s',
    ],
    [
      { environment: { SECRET_TTL: 'long' } },
      ': environment.SECRET_TTL',
      "'long' is not a duration",
    ],
    [
      { environment: { SECRET_TTLL: '1h' } },
      ': environment.SECRET_TTLL',
      'is not known: did you mean SECRET_TTL?',
    ],
    [{ environment: { PROXY_CONFIG: '{}' } }, ': environment.PROXY_CONFIG', 'is not known'],
    [
      { environment: { CA_ADDR: ['a'] } },
      ': environment.CA_ADDR',
      'is not a text, a number, true or false',
    ],
    [
      { probers: { '/a': { tcpSocket: { port: 1 } } } },
      ': probers./a',
      'invalid key: a path is /app-health/<container>/ and livez, readyz, startupz, prestopz or poststartz',
    ],
    [{ log_target: 3 }, ': log_target', 'is not a path, nor a list of paths'],
    [
      { log_output_level: 'loud' },
      ': log_output_level',
      "'loud' is not level or scope:level; levels are debug, info, warn, error, fatal, none",
    ],
  ])('is refused with its place: %j', (content, place, text) => {
    expect(problemsOf(withFile(content))).toEqual([{ place: `config file a.yaml${place}`, text }]);
  });

  it('with a mistake in each member is told in a line that ends', () => {
    const problems = problemsOf(
      withFile(
        Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`member${index}`, 1])),
      ),
    );
    expect(problems).toHaveLength(21);
    expect(problems.at(-1)).toEqual({ place: 'config file a.yaml', text: '980 more mistakes' });
  });

  it('that cannot be read is told, and makes nothing certain that it could say', () => {
    const file = readConfigFile('a.yaml', { ok: false, reason: 'cannot be read: no such file' });
    expect(problemsOf({ file })).toEqual([
      { place: 'config file a.yaml', text: 'cannot be read: no such file' },
    ]);
  });

  it('has all flags but those without an effect, and itself', () => {
    const others = Object.keys(flags).filter((name) => !fileFlags.includes(name));
    expect(others).toEqual(['controlPlaneBootstrap', 'applicationPorts', 'config']);
  });
});

describe('the sources of a file', () => {
  const http = { kind: 'http', name: 'h', url: 'https://host/' };
  const kube = { kind: 'kube', name: 'k', resource: 'Secret', namespace: 'a', object: 'b' };
  const consul = { kind: 'consul', name: 'c', prefix: 'envoy/' };

  it('have what has a default, and how a kind is reached from the flags', () => {
    const sources = [
      http,
      kube,
      { ...kube, name: 'k2', resource: 'ConfigMap', kubeconfig: '/own', key: 'x' },
      consul,
      { kind: 'consul', name: 's', service: 'web', address: 'https://other:8501' },
    ];
    const testConfig = withFile({
      sources,
      kubeconfig: '/k',
      consulTokenFile: '/token',
      consulAddress: 'consul:8500',
    });
    expect(configOf(testConfig).sources).toEqual([
      {
        ...http,
        as: 'envoy',
        at: '',
        every: 30_000,
        timeout: 10_000,
        largest: 16_777_216,
        caFile: '',
        tokenFile: '',
      },
      { ...kube, as: 'secret', at: '', key: '', kubeconfig: '/k' },
      {
        ...kube,
        name: 'k2',
        resource: 'ConfigMap',
        as: 'restart',
        at: '',
        key: 'x',
        kubeconfig: '/own',
      },
      {
        kind: 'consul',
        name: 'c',
        as: 'restart',
        at: '',
        address: 'http://consul:8500',
        watch: { prefix: 'envoy/' },
        caFile: '',
        tokenFile: '/token',
      },
      // A token is sent only to the server that it was configured for.
      {
        kind: 'consul',
        name: 's',
        as: 'restart',
        at: '',
        address: 'https://other:8501',
        watch: { service: 'web' },
        caFile: '',
        tokenFile: '',
      },
    ]);
  });

  it('have times as durations, a use and a place', () => {
    const source = {
      ...http,
      as: 'merge',
      at: 'static_resources.clusters',
      every: '5s',
      timeout: '500ms',
      largest: 1_000,
      tokenFile: '/t',
    };
    expect(configOf(withFile({ sources: [source] })).sources).toEqual([
      { ...source, every: 5_000, timeout: 500, caFile: '' },
    ]);
  });

  it.each<[source: unknown, field: string, text: string]>([
    [3, '', 'is not a source: its kind must be one of files, http, kube, consul'],
    [
      { kind: 'ftp', name: 'x' },
      '.kind',
      'is not a source: its kind must be one of files, http, kube, consul',
    ],
    [{ kind: 'files', name: 'x', paths: [] }, '.paths', 'names no path'],
    [{ kind: 'files', paths: ['/a'] }, '.name', 'is missing: it has to be a name without spaces'],
    [{ kind: 'files', name: 'a b', paths: ['/a'] }, '.name', "'a b' is not a name without spaces"],
    [{ ...http, evry: '5s' }, '.evry', 'is not known: did you mean every?'],
    [{ ...http, every: '1ms' }, '.every', "'1ms' is not a duration from '100ms' to '24h'"],
    [{ ...http, url: 'ftp://user:hush@host' }, '.url', 'is not an http or https URL'],
    [{ ...http, largest: 0 }, '.largest', 'is not a number of bytes, from 1 to 256 MiB'],
    [{ ...http, at: 'x' }, '.at', 'has no effect unless as is merge'],
    [{ ...http, as: 'all' }, '.as', "'all' is not one of restart, envoy, merge, runtime, secret"],
    [{ ...kube, namespace: 'A' }, '.namespace', "'A' is not the name of a namespace"],
    [{ ...consul, service: 'web' }, '.prefix', 'a source of Consul has either prefix or service'],
  ])('are refused with their place: %j', (source, field, text) => {
    expect(problemsOf(withFile({ sources: [source] }))).toEqual([
      { place: `config file a.yaml: sources[0]${field}`, text },
    ]);
  });

  it('have names of their own, beside those of flags as well', () => {
    const testConfig = withFile(
      { sources: [http, http, { kind: 'files', name: 'watch', paths: ['/a'] }] },
      { given: { watch: ['/b'] } },
    );
    expect(problemsOf(testConfig)).toEqual([
      { place: 'config file a.yaml: sources[1].name', text: "there is a source 'h' already" },
      { place: '--watch', text: "there is a source 'watch' already" },
    ]);
  });
});
