import { describe, expect, it } from 'vitest';
import { controlPlaneVariables } from '../../../../scripts/docs/control-plane-variables.ts';
import { flagRows, refusals, type Row, variableRows } from '../../../../scripts/docs/go-agents.ts';
import { flags, type FlagName } from '../../../../src/pilot-agent/config/flags.ts';
import { logFlags, type LogFlagName } from '../../../../src/shared/log/log-flags.ts';
import { goVariables } from '../../../../scripts/docs/go-agent-names.ts';
import { idleVariables } from '../../../../src/pilot-agent/config/idle-variables.ts';
import { logOptions } from '../../../../src/shared/log/log-options.ts';
import { accepted, resolved, type TestConfig } from '../../../support/resolved.ts';

const named = (rows: readonly Row[], fate: Row['fate']) =>
  rows.filter((row) => row.fate === fate).map(({ name }) => name);
const isLogFlag = (name: string) => Object.hasOwn(logFlags, name);

/** Two values of each kind that a flag may have. */
const ofKind: Readonly<Record<string, readonly [string, string]>> = {
  bool: ['true', 'false'],
  dir: ['/a', '/b'],
  duration: ['2s', '3s'],
  file: ['/a', '/b'],
  'host:port': ['a.example:99', 'b.example:99'],
  ip: ['192.0.2.1', '192.0.2.2'],
  json: ['{"address":"a:1"}', '{"address":"b:1"}'],
  level: ['info', 'debug'],
  levels: ['misc:info', 'misc:debug'],
  n: ['3', '4'],
  path: ['/a', '/b'],
  policy: ['MUTUAL_TLS', 'NONE'],
  port: ['9998', '9999'],
};
/** Returns the flags that a flag needs beside it. */
const besideFlag = (name: string) =>
  name.startsWith('lightstep')
    ? { lightstepAddress: 'satellite:99', lightstepAccessToken: 'token' }
    : name === 'parentShutdownDuration'
      ? { drainDuration: '1s' }
      : {};

describe('a flag of a Go agent', () => {
  const rows = flagRows();
  const ofProxy = named(rows, 'works').filter((name) => !isLogFlag(name)) as readonly FlagName[];
  const ofLog = named(rows, 'works').filter(isLogFlag) as readonly LogFlagName[];

  it.each(ofProxy)('that works changes the configuration by its value: --%s', (name) => {
    const texts = ofKind[flags[name].value] ?? ['one', 'other'];
    const [first, second] = texts.map((text) =>
      accepted({ given: { ...besideFlag(name), [name]: text } }),
    );
    expect(first?.config).not.toEqual(second?.config);
    expect([first?.warnings, second?.warnings]).toEqual([[], []]);
  });

  it.each(ofLog)('that works changes the log by its value: --%s', (name) => {
    const values =
      name === 'log_output_level'
        ? ['info', 'debug']
        : (ofKind[logFlags[name].value] ?? ['one', 'other']);
    const [first, second] = values.map((text) => logOptions({ [name]: text }));
    expect(first).not.toEqual(second);
    expect([first, second]).toEqual(
      Array(2).fill(expect.objectContaining({ ok: true, warnings: [] })),
    );
  });

  it.each(named(rows, 'warned'))('that has no effect is warned of, once: --%s', (name) => {
    const text = name === 'log_stacktrace_level' ? 'error' : 'true';
    const result = isLogFlag(name)
      ? logOptions({ [name]: text })
      : accepted(
          Object.hasOwn(flags, name)
            ? { given: { [name]: text } }
            : { leftover: [`--${name}=${text}`] },
        );
    expect(result).toMatchObject({
      ok: true,
      warnings: [expect.stringMatching(new RegExp(`--${name}\\b`))],
    });
  });

  it.each(named(rows, 'silent') as readonly LogFlagName[])(
    'that needs none has none, and says nothing: --%s',
    (name) => {
      expect(logOptions({ [name]: '7' })).toEqual(logOptions({}));
    },
  );
});

/** Two values of each variable that does not accept every text. */
const ofVariable: Readonly<Record<string, readonly [string, string]>> = {
  CA_ADDR: ['ca:1', 'ca:2'],
  ECC_SIGNATURE_ALGORITHM: ['ECDSA', ''],
  ENVOY_PROMETHEUS_PORT: ['9998', '9999'],
  ENVOY_READINESS_CHECK_TIMEOUT: ['2s', '3s'],
  ENVOY_STATUS_PORT: ['9998', '9999'],
  FILE_MOUNTED_CERTS: ['true', 'false'],
  INITIAL_BACKOFF_MSEC: ['2', '3'],
  INSTANCE_IP: ['192.0.2.1', '192.0.2.2'],
  ISTIO_CPU_LIMIT: ['2', '3'],
  ISTIO_DELTA_XDS: ['true', 'false'],
  ISTIO_KUBE_APP_PROBERS: ['{}', '{"/app-health/a/readyz":{"tcpSocket":{"port":1}}}'],
  ISTIO_META_GLOBAL_DOWNSTREAM_MAX_CONNECTIONS: ['2', '3'],
  ISTIO_PROMETHEUS_ANNOTATIONS: ['{"port":"1"}', '{"port":"2"}'],
  JWT_POLICY: ['third-party-jwt', 'first-party-jwt'],
  MINIMUM_DRAIN_DURATION: ['2s', '3s'],
  PILOT_ENABLE_CA_CRL: ['true', 'false'],
  PKCS8_KEY: ['true', 'false'],
  REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION: ['true', 'false'],
  SECRET_GRACE_PERIOD_RATIO: ['0.2', '0.3'],
  SECRET_TTL: ['2h', '3h'],
  STACKDRIVER_TRACING_DEBUG: ['true', 'false'],
  STACKDRIVER_TRACING_ENABLED: ['true', 'false'],
  STACKDRIVER_TRACING_MAX_NUMBER_OF_ANNOTATIONS: ['2', '3'],
  STACKDRIVER_TRACING_MAX_NUMBER_OF_ATTRIBUTES: ['2', '3'],
  STACKDRIVER_TRACING_MAX_NUMBER_OF_MESSAGE_EVENTS: ['2', '3'],
  TERMINATION_DRAIN_DURATION_SECONDS: ['2', '3'],
};

describe('a variable of a Go agent', () => {
  const rows = variableRows();
  /**
   * The variables that are left out: one has texts of other fields, one serves to find the
   * Kubernetes API.
   */
  const elsewhere = ['PROXY_CONFIG', 'KUBERNETES_SERVICE_HOST'];
  const works = named(rows, 'works').filter((name) => !elsewhere.includes(name));

  it.each(works)('that works changes the configuration by its value: %s', (name) => {
    const beside = name.startsWith('STACKDRIVER') ? { STACKDRIVER_TRACING_ENABLED: 'true' } : {};
    const [first, second] = (ofVariable[name] ?? ['one', 'other']).map((text) =>
      accepted({ env: { ...beside, [name]: text } }),
    );
    expect(first?.config).not.toEqual(second?.config);
    expect([first?.warnings, second?.warnings]).toEqual([[], []]);
  });

  it.each(named(rows, 'warned'))('that has no effect is warned of, once: %s', (name) => {
    const { warnings } = accepted({ env: { [name]: 'another' } });
    expect(warnings).toEqual([expect.stringMatching(new RegExp(`^${name} has no effect: .`))]);
  });

  it.each(Object.entries(idleVariables))(
    'that has no effect is not warned of if it says what is usual: %s',
    (name, { usual }) => {
      expect(accepted({ env: { [name]: usual } }).warnings).toEqual([]);
      expect(accepted({ env: { [name]: '' } }).warnings).toEqual([]);
    },
  );

  it.each([
    ['SECRET_ROTATION_CHECK_INTERVAL', '5m0s'],
    ['STALED_CONNECTION_RECYCLE_RUN_INTERVAL', '300s'],
    ['SDS_ENABLED', 'False'],
    ['ISTIO_ENABLE_HTTP2_PROBING', '1'],
  ])('says what is usual in any spelling of Go: %s="%s"', (name, text) => {
    expect(accepted({ env: { [name]: text } }).warnings).toEqual([]);
  });

  it.each([...named(rows, 'silent'), ...controlPlaneVariables])(
    'that needs none has none, and says nothing: %s',
    (name) => {
      expect(accepted({ env: { [name]: 'true' } })).toEqual(accepted());
    },
  );

  it('has one row', () => {
    expect(rows.map(({ name }) => name).sort()).toEqual(Object.keys(goVariables).sort());
    expect(Object.keys(idleVariables).filter((name) => !Object.hasOwn(goVariables, name))).toEqual(
      [],
    );
    expect(controlPlaneVariables.filter((name) => Object.hasOwn(goVariables, name))).toEqual([]);
  });
});

it.each(refusals)('what a Go agent takes is refused: $given', ({ given }) => {
  const [word = '', text = ''] = given.split(/[ =]/);
  const testConfig: TestConfig =
    word === 'proxy' ? { leftover: [text] } : { given: { [word.slice(2)]: text } };
  expect(resolved(testConfig)).toMatchObject({ ok: false, usage: true });
});
