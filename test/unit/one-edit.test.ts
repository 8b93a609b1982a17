import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { misspeltVariables } from '../../src/config/misspelt-variables.ts';
import { flags, logFlags } from '../../src/config/flags.ts';
import { knownFlags } from '../../src/config/resolve-config.ts';
import { isOneEdit, meant } from '../../src/config/one-edit.ts';
import { program } from '../../src/cli/program.ts';
import { accepted, resolved } from '../support/resolved.ts';

describe('one edit', () => {
  it.each([
    ['a character too few', 'statusPrt'],
    ['a character too many', 'statusPorrt'],
    ['another character', 'statusPart'],
    ['two neighbours that have changed places', 'statusProt'],
    ['the case of one letter', 'statusport'],
    ['the case of all letters', 'STATUSPORT'],
    ['the first character', 'tatusPort'],
    ['the last character', 'statusPor'],
    ['one behind the last', 'statusPorts'],
  ])('is %s', (_, name) => {
    expect([isOneEdit(name, 'statusPort'), isOneEdit('statusPort', name)]).toEqual([true, true]);
  });

  it.each([
    ['nothing', 'statusPort'],
    ['two characters', 'statusPrtt'],
    ['two characters too few', 'statusPo'],
    ['two that are no neighbours', 'sPatustort'],
    ['the case of a letter and another character', 'statusport1'],
  ])('is not %s', (_, name) => {
    expect([isOneEdit(name, 'statusPort'), isOneEdit('statusPort', name)]).toEqual([false, false]);
  });

  it('is what is made by one, of any text', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), fc.string({ minLength: 1, maxLength: 1 }), (text, seed, character) => {
        const at = seed % (text.length + 1);
        const edited = [text.slice(0, at) + character + text.slice(at), text.slice(0, at) + text.slice(at + 1)];
        for (const other of edited) expect(isOneEdit(text, other)).toBe(text !== other);
      }),
    );
  });

  it('from two names means neither', () => {
    expect(meant('--ix', ['--id', '--ip'])).toBeUndefined();
    expect(meant('--idd', ['--id', '--ip'])).toBe('--id');
  });
});

/** Of `proxy` of the Go agents 1.0 to 1.30, from their help pages. */
const goFlags = `applicationPorts availabilityZone binaryPath bootstrapv2 concurrency configPath connectTimeout controlPlaneAuthPolicy
  controlPlaneBootstrap customConfigFile datadogAgentAddress disableInternalTelemetry discoveryAddress discoveryRefreshDelay
  dnsRefreshRate domain drainDuration envoyAccessLogService envoyMetricsService envoyMetricsServiceAddress help id ip kubeAppProberNameVar
  lightstepAccessToken lightstepAddress lightstepCacertPath lightstepSecure log_as_json log_caller log_output_level log_rotate
  log_rotate_max_age log_rotate_max_backups log_rotate_max_size log_stacktrace_level log_target meshConfig mixerIdentity outlierLogPath
  parentShutdownDuration passthrough pilotIdentity profiling proxyAdminPort proxyComponentLogLevel proxyLogLevel sds-identity-token-path
  sdsEnabled serviceCluster serviceregistry statsdUdpAddress statusPort stsPort templateFile tokenManagerPlugin trust-domain vklog
  zipkinAddress`.split(/\s+/);

describe('a flag', () => {
  const problems = (...leftover: readonly string[]) => {
    const result = resolved({ leftover });
    return result.ok ? [] : [result.usage, ...result.problems.map(({ place, text }) => `${place}: ${text}`)];
  };

  it.each([
    ['--statusPrt', '--statusPort'],
    ['--statusport', '--statusPort'],
    ['--statsuPort=1', '--statusPort'],
    ['-statusPort', '--statusPort'],
    ['--keepenvoy', '--keepEnvoy'],
    ['--log-target=x', '--log_target'],
    ['--hepl', '--help'],
    ['--outptu', '--output'],
  ])('%s is refused with a word for %s', (typo, right) => {
    expect(problems(typo, 'router')).toEqual([true, `${typo.replace(/=.*/, '')}: there is no such flag: did you mean ${right}?`]);
  });

  it.each(['--newThing', '--statusPorttt', '--ix', '-x', '--proxy'])('%s is a warning, as before', (flag) => {
    expect(accepted({ leftover: [flag, 'router'] })).toMatchObject({
      config: { role: 'router' },
      warnings: [`unknown flag ${flag} is ignored`],
    });
  });

  it('of any Go agent up to 1.30 is never refused', () => {
    const refused = goFlags.filter(
      (name) => !(name in { ...flags, ...logFlags }) && meant(`--${name}`, knownFlags) !== undefined && name !== 'help',
    );
    expect(refused).toEqual([]);
  });

  it('that is known is each that a command with the flags of proxy has', () => {
    const all = program();
    const found = [all, ...all.commands, ...all.commands.flatMap(({ commands }) => commands)]
      .filter((one) => one === all || one.options.some(({ long }) => long === '--templateFile'))
      .flatMap(({ options }) => options.map(({ long }) => long ?? ''));
    expect(new Set([...found, '--help'])).toEqual(new Set(knownFlags));
  });
});

/** What Istio's injectors 1.1 to 1.30 and the Go agents set or read. */
const istioVariables = `CA_ADDR CA_PROVIDER CA_ROOT_CA CANONICAL_REVISION CANONICAL_SERVICE CLUSTER_ID CREDENTIAL_FETCHER_TYPE
  CREDENTIAL_IDENTITY_PROVIDER DISABLE_ENVOY DNS_AGENT DNS_FORWARD_PARALLEL DNS_PROXY_ADDR DNS_SERVER ECC_CURVE ECC_SIGNATURE_ALGORITHM
  ENABLE_INGRESS_GATEWAY_SDS ENVOY_PROMETHEUS_PORT ENVOY_READINESS_CHECK_TIMEOUT ENVOY_STATUS_PORT ENVOY_USER EXIT_ON_ZERO_ACTIVE_CONNECTIONS
  FILE_DEBOUNCE_DURATION FILE_MOUNTED_CERTS GCE_METADATA_HOST GCP_METADATA GCP_ZONE GKE_CLUSTER_URL GOMAXPROCS GOMEMLIMIT GRPC_XDS_BOOTSTRAP
  HOST_IP HOSTNAME HOME INGRESS_GATEWAY_FALLBACK_SECRET INGRESS_GATEWAY_NAMESPACE INITIAL_BACKOFF_MSEC INSTANCE_IP  INVALID_DROP
  ISTIO_ADDITIONAL_METADATA_EXCHANGE_KEYS ISTIO_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION ISTIO_AUTO_MTLS_ENABLED ISTIO_BOOTSTRAP
  ISTIO_BOOTSTRAP_OVERRIDE ISTIO_CPU_LIMIT ISTIO_DELTA_XDS ISTIO_DUAL_STACK ISTIO_ENVOY_ENABLE_CORE_DUMP ISTIO_INBOUND_INTERCEPTION_MODE
  ISTIO_KUBE_APP_PROBERS ISTIO_KUBE_CLIENT_CONTENT_TYPE ISTIO_META_CLUSTER_ID ISTIO_MULTIROOT_MESH ISTIO_NAMESPACE ISTIO_OUTBOUND_OWNER_GROUPS
  ISTIO_PROMETHEUS_ANNOTATIONS ISTIO_PROXY_USER ISTIO_VERSION ISTIOD_ADDR ISTIOD_SAN JWT_POLICY K_REVISION MINIMUM_DRAIN_DURATION
  NAMESPACE NODE_NAME OUTPUT_CERTS OUTPUT_KEY_CERT_TO_DIRECTORY PEER_METADATA_DISCOVERY PILOT_CERT_PROVIDER PILOT_ENABLE_AMBIENT PILOT_SAN
  PKCS8_KEY PLUGINS POD_IP POD_NAME POD_NAMESPACE POD_UID PROV_CERT PROXY_CONFIG PROXY_XDS_DEBUG_VIA_AGENT PROXY_XDS_VIA_AGENT REVISION
  SDS_ENABLED SDS_UDS_PATH SECRET_GRACE_PERIOD_RATIO SECRET_GRACE_PERIOD_RATIO_JITTER SECRET_ROTATION_CHECK_INTERVAL SECRET_TTL
  SECRET_WATCHER_RESYNC_PERIOD SERVICE_ACCOUNT SKIP_PARSE_TOKEN STALED_CONNECTION_RECYCLE_RUN_INTERVAL TERMINATION_DRAIN_DURATION_SECONDS
  TOKEN_AUDIENCES TRUST_DOMAIN USE_EXTERNAL_WORKLOAD_SDS VALIDATION_WEBHOOK_CONFIG_NAME WASM_INSECURE_REGISTRIES WORKLOAD_IDENTITY_SOCKET_FILE
  WORKLOAD_RSA_KEY_SIZE XDS_AUTH XDS_AUTH_PROVIDER XDS_ROOT_CA`.split(/\s+/);

describe('a variable', () => {
  it.each([
    ['CA_ADR', 'CA_ADDR'],
    ['ca_addr', 'CA_ADDR'],
    ['PROXY_CONFG', 'PROXY_CONFIG'],
    ['TERMINATION_DRAIN_DURATION_SECOND', 'TERMINATION_DRAIN_DURATION_SECONDS'],
    ['ENVOY_STATUS_PRT', 'ENVOY_STATUS_PORT'],
    ['ENVOY_STATUSPORT', 'ENVOY_STATUS_PORT'],
    ['OUTPUT_CERT', 'OUTPUT_CERTS'],
  ])('%s is a warning with a word for %s', (typo, right) => {
    expect(misspeltVariables({ [typo]: 'x' })).toEqual([`${typo} is not known: did you mean ${right}?`]);
  });

  it.each<[what: string, env: NodeJS.ProcessEnv]>([
    ['of any Istio', Object.fromEntries(istioVariables.map((name) => [name, 'x']))],
    ...istioVariables.map((name): [string, NodeJS.ProcessEnv] => [`${name} alone`, { [name]: 'x' }]),
    ['beside the one that is meant', { INSTANCE_IP: '10.0.0.1', INSTANCE_ID: 'i-1' }],
    [
      'of a service',
      {
        CA_SERVICE_HOST: '1',
        CA_SERVICE_PORT: '1',
        CA_SERVICE_PORT_GRPC: '1',
        CA_PORT: 'tcp://1:1',
        CA_PORT_80_TCP: 'tcp://1:1',
        CA_PORT_80_TCP_ADDR: '1',
        ENVOY_STATU_PORT: 'tcp://1:1',
      },
    ],
    ['of the metadata', { ISTIO_META_CLUSTERID: 'c', ISTIO_METAJSON_A: '{}', ISTIO_META_TLS_CLIENT_KE: '/k' }],
    ['of a shell', { PATHS: '/', CPATH: '/', HOME: '/', LANG: 'C', PWD: '/', SHLVL: '1' }],
    ['that is like nothing', { CA_ADDRESS: 'x', MY_APP: 'x' }],
  ])('%s is no warning', (_, env) => {
    expect(misspeltVariables(env)).toEqual([]);
  });
});
