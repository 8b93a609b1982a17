import { describe, expect, it } from 'vitest';
import { type FlagName, flags } from '../../src/config/flags.ts';
import { type AgentConfig, type Problem, resolveConfig } from '../../src/config/resolve-config.ts';

type Given = Readonly<Partial<Record<FlagName, string>>>;
const file = { customConfigFile: '/etc/envoy.yaml' };

const resolved = (
  given: Given = {},
  { leftover = [] as readonly string[], env = {}, addresses = ['10.1.2.3'] as readonly string[] } = {},
) => resolveConfig({ ...file, ...given }, leftover, env, addresses);
const accepted = (...args: Parameters<typeof resolved>): { config: AgentConfig; warnings: readonly string[] } => {
  const result = resolved(...args);
  return result.ok ? result : expect.unreachable(JSON.stringify(result.problems));
};
const problems = (...args: Parameters<typeof resolved>): readonly Problem[] => {
  const result = resolved(...args);
  return result.ok ? [] : result.problems;
};

/** What Node's timers can count; beyond it they fire at once. */
const longestTimer = 2 ** 31 - 1;

describe('resolveConfig', () => {
  it('is the defaults of the Go agent where nothing is given but the file', () => {
    expect(accepted()).toEqual({
      ok: true,
      config: {
        binaryPath: undefined,
        configPath: '/etc/istio/proxy',
        customConfigFile: '/etc/envoy.yaml',
        drainDuration: 45_000,
        parentShutdownDuration: 60_000,
        proxyAdminPort: 15_000,
        statusPort: 15_020,
        serviceCluster: 'istio-proxy',
        concurrency: 0,
        proxyLogLevel: 'warning',
        proxyComponentLogLevel: 'misc:error',
        serviceregistry: 'Kubernetes',
        id: '',
        ip: '',
        domain: '',
        minDelay: 10_000,
        envoyRestartPolicy: 'backoff',
        envoyRestartBudget: 10,
        role: 'sidecar',
        node: { ip: '10.1.2.3', id: '.', domain: '.svc.cluster.local', ipv6: false },
        certificates: [
          { chain: '/etc/certs/cert-chain.pem', key: '/etc/certs/key.pem', root: '/etc/certs/root-cert.pem' },
          { chain: '/etc/certs/cert-chain.pem', key: '/etc/certs/key.pem', root: '/etc/certs/root-cert.pem' },
        ],
        drainCap: 5_000,
        drainMinimum: 5_000,
      },
      warnings: [],
    });
  });

  const good: Readonly<Record<FlagName, readonly (readonly [text: string, value: unknown])[]>> = {
    binaryPath: [['/usr/bin/envoy', '/usr/bin/envoy'], ['envoy', 'envoy']], // prettier-ignore
    configPath: [['./etc/istio/proxy', './etc/istio/proxy']],
    customConfigFile: [['envoy.json', 'envoy.json']],
    drainDuration: [['0', 0], ['1s', 1_000], ['59.9s', 59_900], ['100ms', 100]], // prettier-ignore
    parentShutdownDuration: [['46s', 46_000], ['1h1m1s', 3_661_000]], // prettier-ignore
    proxyAdminPort: [['1', 1], ['65535', 65_535]], // prettier-ignore
    statusPort: [['0', 0], ['65535', 65_535]], // prettier-ignore
    serviceCluster: [['my-cluster', 'my-cluster']],
    concurrency: [['0', 0], ['8', 8], ['2147483647', 2_147_483_647]], // prettier-ignore
    proxyLogLevel: ['trace', 'debug', 'info', 'warning', 'warn', 'error', 'critical', 'off', ''].map((level) => [level, level]),
    proxyComponentLogLevel: ['', 'misc:error', 'upstream:debug,http2:trace'].map((text) => [text, text]),
    serviceregistry: ['Consul', 'Mock', 'whatever', ''].map((text) => [text, text]),
    id: [['mypod.myns', 'mypod.myns'], ['', '']], // prettier-ignore
    ip: [['10.0.0.1', '10.0.0.1'], ['nonsense', 'nonsense']], // prettier-ignore
    domain: [['my.domain', 'my.domain']],
    minDelay: [['0s', 0], ['500ms', 500]], // prettier-ignore
    envoyRestartPolicy: [['backoff', 'backoff'], ['exit', 'exit']], // prettier-ignore
    envoyRestartBudget: [['0', 0], ['3', 3]], // prettier-ignore
  };
  it.each(Object.entries(good).flatMap(([name, cases]) => cases.map(([text, value]) => ({ name: name as FlagName, text, value }))))(
    'takes --$name "$text"',
    ({ name, text, value }) => {
      expect(accepted({ [name]: text }).config[name]).toBe(value);
    },
  );

  const wholeNumber = (text: string) => `'${text}' is not a whole number from 0 on`;
  const port = (text: string) => `'${text}' is not a port (1 to 65535)`;
  const statusPort = (text: string) => `'${text}' is not a port (1 to 65535, or 0 for none)`;
  const duration = (text: string) => `'${text}' is not a duration (such as '45s' or '1m30s')`;
  const bad: Readonly<Partial<Record<FlagName, { readonly texts: readonly string[]; readonly problem: (text: string) => string }>>> = {
    binaryPath: { texts: [''], problem: (text) => `'${text}' is not a name` },
    configPath: { texts: [''], problem: (text) => `'${text}' is not a name` },
    customConfigFile: { texts: [''], problem: () => "'' is not a file: this version needs the Envoy configuration to be given" },
    drainDuration: { texts: ['', '5', '-1s', '1 s', 'bad-int-value', 'NaN'], problem: duration },
    parentShutdownDuration: { texts: ['', '60', '-1s', 'bad-int-value'], problem: duration },
    proxyAdminPort: { texts: ['', '0', '65536', '-1', '1.5', '0x10', ' 80', 'http'], problem: port },
    statusPort: { texts: ['', '65536', '-1', '1e3', 'http'], problem: statusPort },
    serviceCluster: { texts: [''], problem: (text) => `'${text}' is not a name` },
    concurrency: { texts: ['', '-1', '1.5', 'abc', 'bad-int-value', '2147483648'], problem: wholeNumber },
    proxyLogLevel: {
      texts: ['bad', 'WARNING', 'info '],
      problem: (text) => `'${text}' is not one of trace, debug, info, warning, warn, error, critical, off`,
    },
    proxyComponentLogLevel: {
      texts: ['a:bad', 'misc', 'misc:error,', 'a:info;b:info'].slice(0, 3),
      problem: (text) => `'${text}' is not a list of name:level`,
    },
    minDelay: { texts: ['', '10', '-1s'], problem: duration },
    envoyRestartPolicy: { texts: ['', 'never'], problem: (text) => `'${text}' is not one of backoff, exit` },
    envoyRestartBudget: { texts: ['', '-1', 'many'], problem: wholeNumber },
  };
  it.each(
    Object.entries(bad).flatMap(([name, { texts, problem }]) =>
      texts.map((text) => ({ name: name as FlagName, text, problem: problem(text) })),
    ),
  )('refuses --$name "$text"', ({ name, text, problem }) => {
    expect(problems({ [name]: text })).toEqual([{ place: `--${name}`, text: problem }]);
  });

  it('has each flag in the tables above, and takes any text for those that can not be wrong', () => {
    const names = Object.keys(flags);
    expect(Object.keys(good)).toEqual(names);
    expect(names.filter((name) => !(name in bad))).toEqual(['serviceregistry', 'id', 'ip', 'domain']);
  });

  it.each<{ peer: string; name: FlagName }>([
    { peer: 'C12 InvalidConcurrency', name: 'concurrency' },
    { peer: 'C14 InvalidDrainDuration', name: 'drainDuration' },
    { peer: 'C15 InvalidParentShutdownDuration', name: 'parentShutdownDuration' },
  ])('$peer: refuses bad-int-value before Envoy sees it (C11 base id and C13 restart epoch are the agent’s own)', ({ name }) => {
    expect(problems({ [name]: 'bad-int-value' }).map(({ place }) => place)).toEqual([`--${name}`]);
  });

  it('needs an Envoy configuration', () => {
    expect(resolveConfig({}, [], {}, [])).toMatchObject({ ok: false, problems: [{ place: '--customConfigFile' }] });
  });

  it('reports all that is wrong at once, the role first', () => {
    const given = { statusPort: 'x', concurrency: '-1', proxyLogLevel: 'loud', customConfigFile: '' };
    expect(problems(given, { leftover: ['ingress'] }).map(({ place }) => place)).toEqual([
      'role',
      '--customConfigFile',
      '--statusPort',
      '--concurrency',
      '--proxyLogLevel',
    ]);
  });

  it('reports durations that do not fit each other beside what else is wrong', () => {
    expect(problems({ drainDuration: '60s', statusPort: 'x' }).map(({ place }) => place).sort()).toEqual([
      '--parentShutdownDuration',
      '--statusPort',
    ]); // prettier-ignore
  });

  it.each<{ what: string; given: Given; text?: string }>([
    {
      what: 'S6 drain as long as parent shutdown',
      given: { drainDuration: '60s' },
      text: '60s is not at least a whole second more than --drainDuration 60s',
    },
    {
      what: 'a parent shutdown below the default drain',
      given: { parentShutdownDuration: '30s' },
      text: '30s is not at least a whole second more than --drainDuration 45s',
    },
    {
      what: 'P2 (1s, 2s)',
      given: { parentShutdownDuration: '1s', drainDuration: '2s' },
      text: '1s is not at least a whole second more than --drainDuration 2s',
    },
    {
      what: 'the same second, which is all that Envoy is told',
      given: { parentShutdownDuration: '1.9s', drainDuration: '1.1s' },
      text: '1.9s is not at least a whole second more than --drainDuration 1.1s',
    },
    { what: 'P2 (2s, 1s)', given: { parentShutdownDuration: '2s', drainDuration: '1s' } },
    { what: 'P2 (2.001s, 1s), which the peer refuses', given: { parentShutdownDuration: '2.001s', drainDuration: '1s' } },
    { what: 'P2 (1h1s, 10s), which the peer refuses', given: { parentShutdownDuration: '1h1s', drainDuration: '10s' } },
  ])('$what: $text', ({ given, text }) => {
    expect(problems(given)).toEqual(text === undefined ? [] : [{ place: '--parentShutdownDuration', text }]);
  });

  it.each([
    { leftover: [], role: 'sidecar' },
    { leftover: ['sidecar'], role: 'sidecar' },
    { leftover: ['router', 'extra'], role: 'router' },
  ])('takes $leftover for the role $role', ({ leftover, role }) => {
    expect(accepted({}, { leftover }).config.role).toBe(role);
  });

  it.each(['ingress', 'Sidecar', ''])('S8 refuses the role "%s"', (role) => {
    expect(problems({}, { leftover: [role] })).toEqual([{ place: 'role', text: `'${role}' is not sidecar or router` }]);
  });

  it('warns of unknown flags, by name only, and goes on', () => {
    const { config, warnings } = accepted({}, { leftover: ['--token=secret', '--foo', 'router'] });
    expect(config.role).toBe('router');
    expect(warnings).toEqual(['unknown flag --token is ignored', 'unknown flag --foo is ignored']);
  });

  const seconds = 'TERMINATION_DRAIN_DURATION_SECONDS';
  it.each<{ env: NodeJS.ProcessEnv; cap: number; warning?: string }>([
    { env: { [seconds]: '20' }, cap: 20_000 },
    { env: {}, cap: 5_000 },
    { env: { [seconds]: '' }, cap: 5_000, warning: `${seconds}: '' is not a whole number of seconds: the default holds` },
    { env: { [seconds]: 'NaN' }, cap: 5_000, warning: `${seconds}: 'NaN' is not a whole number of seconds: the default holds` },
    { env: { [seconds]: '0' }, cap: 0 },
    { env: { [seconds]: '-10' }, cap: 0 },
    { env: { [seconds]: '1.5' }, cap: 5_000, warning: `${seconds}: '1.5' is not a whole number of seconds: the default holds` },
    { env: { [seconds]: '20s' }, cap: 5_000, warning: `${seconds}: '20s' is not a whole number of seconds: the default holds` },
  ])('E11 drains at most $cap ms with $env', ({ env, cap, warning }) => {
    const { config, warnings } = accepted({}, { env });
    expect(config.drainCap).toBe(cap);
    expect(warnings).toEqual(warning === undefined ? [] : [warning]);
  });

  it.each<{ value: string; minimum: number; warning?: string }>([
    { value: '0s', minimum: 0 },
    { value: '1m', minimum: 60_000 },
    { value: '10', minimum: 5_000, warning: "MINIMUM_DRAIN_DURATION: '10' is not a duration: the default holds" },
    { value: '', minimum: 5_000, warning: "MINIMUM_DRAIN_DURATION: '' is not a duration: the default holds" },
  ])('drains at least $minimum ms with MINIMUM_DRAIN_DURATION="$value"', ({ value, minimum, warning }) => {
    const { config, warnings } = accepted({}, { env: { MINIMUM_DRAIN_DURATION: value } });
    expect(config.drainMinimum).toBe(minimum);
    expect(warnings).toEqual(warning === undefined ? [] : [warning]);
  });

  it.each<{
    what: string;
    given?: Given;
    env?: NodeJS.ProcessEnv;
    name: 'drainCap' | 'drainMinimum' | 'minDelay' | 'parentShutdownDuration';
  }>([
    { what: 'a drain of a year', env: { [seconds]: '31536000' }, name: 'drainCap' },
    { what: 'a minimum of a year', env: { MINIMUM_DRAIN_DURATION: '8760h' }, name: 'drainMinimum' },
    { what: 'a window of a year', given: { minDelay: '8760h' }, name: 'minDelay' },
    { what: 'a parent shutdown of a year', given: { parentShutdownDuration: '8760h' }, name: 'parentShutdownDuration' },
  ])('makes the longest that a timer can count of $what: beyond that it would fire at once', ({ given, env, name }) => {
    expect(accepted(given, { ...(env && { env }) }).config[name]).toBe(longestTimer);
  });

  it('takes the paths of certificates from the environment, the default for what is missing', () => {
    const env = {
      ISTIO_META_TLS_SERVER_CERT_CHAIN: '/s/chain',
      ISTIO_META_TLS_SERVER_KEY: '/s/key',
      ISTIO_META_TLS_SERVER_ROOT_CERT: '/s/root',
      ISTIO_META_TLS_CLIENT_KEY: '/c/key',
    };
    expect(accepted({}, { env }).config.certificates).toEqual([
      { chain: '/s/chain', key: '/s/key', root: '/s/root' },
      { chain: '/etc/certs/cert-chain.pem', key: '/c/key', root: '/etc/certs/root-cert.pem' },
    ]);
  });

  it('F20 takes an empty path of a certificate for none, as 1.1 did', () => {
    const env = { ISTIO_META_TLS_SERVER_KEY: '' };
    expect(accepted({}, { env }).config.certificates[0]?.key).toBe('/etc/certs/key.pem');
  });

  it('names the node by flags and environment', () => {
    const env = { POD_NAME: 'mypod', POD_NAMESPACE: 'myns', INSTANCE_IP: '10.9.9.9' };
    expect(accepted({}, { env }).config.node).toEqual({ ip: '10.9.9.9', id: 'mypod.myns', domain: 'myns.svc.cluster.local', ipv6: false });
    expect(accepted({ id: 'x', ip: '1.1.1.1', domain: 'd', serviceregistry: 'Consul' }, { env }).config.node).toMatchObject({
      ip: '1.1.1.1',
      id: 'x',
      domain: 'd',
    });
  });
});
