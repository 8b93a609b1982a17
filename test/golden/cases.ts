import { environment } from '../../src/pilot-agent/config/environment.ts';
import type {
  ProxyConfig,
  RemoteService,
  TlsSettings,
} from '../../src/pilot-agent/config/proxy-config.ts';
import type {
  BootstrapInputs,
  SdsInputs,
} from '../../src/pilot-agent/bootstrap/bootstrap-inputs.ts';
import {
  bootstrap,
  type BootstrapResult,
} from '../../src/pilot-agent/bootstrap/envoy-bootstrap.ts';
import {
  nodeMetadata,
  type NodeMetadataInputs,
} from '../../src/pilot-agent/bootstrap/node-metadata.ts';
import type { TemplateInputs } from '../../src/pilot-agent/bootstrap/template-variables.ts';

/** The path that stands in the golden files for the folder with the certificates. */
export const certificates = '/CERTIFICATES';

export const tls: TlsSettings = {
  mode: 'SIMPLE',
  caCertificates: `${certificates}/root-cert.pem`,
  clientCertificate: '',
  privateKey: '',
  sni: '',
  subjectAltNames: [],
};
const mutual: TlsSettings = {
  ...tls,
  mode: 'MUTUAL',
  clientCertificate: `${certificates}/cert-chain.pem`,
  privateKey: `${certificates}/key.pem`,
  sni: 'reports.example.com',
  subjectAltNames: ['reports.example.com', 'spiffe://cluster.local/ns/reports/sa/default'],
};
const none = {
  zipkin: undefined,
  lightstep: undefined,
  datadog: undefined,
  stackdriver: undefined,
  openTelemetry: undefined,
  tlsSettings: undefined,
};
const service: RemoteService = {
  address: 'reports.example.com:15000',
  tlsSettings: undefined,
  tcpKeepalive: undefined,
};

/** The configuration of the case `default`, and the defaults of what other cases leave out. */
export const proxyConfig: ProxyConfig = {
  configPath: '/etc/istio/proxy',
  binaryPath: '/usr/local/bin/envoy',
  serviceCluster: 'istio-proxy',
  drainDuration: 2_000,
  parentShutdownDuration: 3_000,
  terminationDrainDuration: 5_000,
  discoveryAddress: 'istio-pilot:15010',
  proxyAdminPort: 15_000,
  statusPort: 15_020,
  controlPlaneAuthPolicy: 'NONE',
  concurrency: 0,
  connectTimeout: 1_000,
  dnsRefreshRate: 300_000,
  customConfigFile: '',
  proxyBootstrapTemplatePath: '',
  statsdUdpAddress: '',
  envoyMetricsService: undefined,
  envoyAccessLogService: undefined,
  tracing: undefined,
  extraStatTags: [],
  proxyMetadata: {},
  further: {},
};

/** The differences of a case from the case `default`. */
export interface GoldenCase {
  readonly config?: Partial<ProxyConfig>;
  readonly metadata?: Partial<Omit<NodeMetadataInputs, 'variables'>> & {
    readonly env?: NodeJS.ProcessEnv;
  };
  readonly inputs?: Partial<BootstrapInputs>;
}

const running: GoldenCase = {
  config: {
    discoveryAddress: 'mypilot:1001',
    controlPlaneAuthPolicy: 'MUTUAL_TLS',
    statsdUdpAddress: '10.1.1.1:9125',
    proxyAdminPort: 15_005,
    tracing: { ...none, zipkin: { address: 'localhost:6000' } },
    drainDuration: 5_000,
    parentShutdownDuration: 6_000,
  },
  metadata: {
    env: {
      ISTIO_META_ISTIO_PROXY_SHA: 'istio-proxy:sha',
      ISTIO_META_INTERCEPTION_MODE: 'REDIRECT',
      ISTIO_META_ISTIO_VERSION: 'release-3.1',
      ISTIO_META_POD_NAME: 'svc-0-0-0-6944fb884d-4pgx8',
      POD_NAME: 'svc-0-0-0-6944fb884d-4pgx8',
      POD_NAMESPACE: 'test',
      INSTANCE_IP: '10.10.10.1',
      ISTIO_METAJSON_LABELS:
        '{"version": "v1alpha1", "app": "test", "istio-locality":"regionA.zoneB.sub_zoneC"}',
      ISTIO_METAJSON_ANNOTATIONS: JSON.stringify({
        'istio.io/insecurepath': '{"paths":["/metrics","/live"]}',
      }),
    },
  },
  inputs: { locality: { region: 'regionA', zone: 'zoneB', subZone: 'sub_zoneC' } },
};

const sds: SdsInputs = {
  socket: '/etc/istio/proxy/SDS',
  delivery: 'pushed',
  token: '/var/run/secrets/tokens/istio-token',
  root: `${certificates}/root-cert.pem`,
  gateway: 'not-served',
};
const istioMutual: TlsSettings = { ...tls, mode: 'ISTIO_MUTUAL', caCertificates: '' };
const ownCertificates = {
  ISTIO_META_TLS_CLIENT_CERT_CHAIN: `${certificates}/cert-chain.pem`,
  ISTIO_META_TLS_CLIENT_KEY: `${certificates}/key.pem`,
  ISTIO_META_TLS_CLIENT_ROOT_CERT: `${certificates}/root-cert.pem`,
};

/**
 * The cases by the name of the golden file: first the peer's cases under its names, then this
 * agent's own.
 *
 * The peer's cases are in v3, with listeners that have names, and without the swaps and slips of
 * the Go agent. They differ from the Go agent's files in what follows.
 *
 * All cases: the gauges that a drain looks at are included; PROXY_CONFIG has the effective values
 * of all fields; there is a version of Istio, and an overload manager. If the agent serves no
 * secrets, there is no `sds-grpc` cluster, and no SDS and TRUSTJWT in the metadata, as in 1.5.
 * Pilot names certificate files then.
 *
 * `auth`, `running`: certificates of the control plane are files, as in 1.5, with an SNI.
 * `authsds`, `runningsds`: they are secrets of the agent, and so is the CA, which 1.6 has in a
 * file. `tracing-lightstep`: the token is a header, not a file. `tracing-stackdriver`:
 * OpenTelemetry to Google Cloud.
 */
export const goldenCases: Readonly<Record<string, GoldenCase>> = {
  default: {},
  auth: { config: { discoveryAddress: 'istio-pilot:15011', controlPlaneAuthPolicy: 'MUTUAL_TLS' } },
  authsds: {
    config: { discoveryAddress: 'istio-pilot:15011', controlPlaneAuthPolicy: 'MUTUAL_TLS' },
    inputs: { sds },
  },
  running: running,
  runningsds: { ...running, inputs: { ...running.inputs, sds } },
  'tracing-lightstep': {
    config: {
      tracing: {
        ...none,
        lightstep: {
          address: 'lightstep-satellite:8080',
          accessToken: 'abcdefg1234567',
          secure: true,
          cacertPath: `${certificates}/root-cert.pem`,
        },
      },
    },
  },
  'tracing-zipkin': { config: { tracing: { ...none, zipkin: { address: 'localhost:6000' } } } },
  'tracing-datadog': { config: { tracing: { ...none, datadog: { address: 'localhost:8126' } } } },
  'tracing-stackdriver': {
    config: {
      tracing: {
        ...none,
        stackdriver: {
          debug: true,
          maxNumberOfAttributes: 0,
          maxNumberOfAnnotations: 201,
          maxNumberOfMessageEvents: 201,
        },
      },
    },
    metadata: { platform: { gcp_project: 'my-sd-project' } },
  },
  'stats-inclusion': {
    metadata: {
      env: {
        ISTIO_METAJSON_ANNOTATIONS: JSON.stringify({
          'sidecar.istio.io/statsInclusionPrefixes': 'http.{pod_ip}_',
        }),
      },
    },
  },
  'tracing-tls': {
    config: { tracing: { ...none, zipkin: { address: 'localhost:6000' }, tlsSettings: tls } },
  },
  'metrics-service': {
    config: {
      envoyMetricsService: {
        ...service,
        tlsSettings: mutual,
        tcpKeepalive: { probes: 3, time: 10_000, interval: 1_500 },
      },
    },
  },
  'access-log-service': {
    config: {
      envoyAccessLogService: { ...service, tlsSettings: { ...tls, sni: 'reports.example.com' } },
    },
  },
  'istio-mutual': {
    config: {
      envoyMetricsService: { ...service, tlsSettings: istioMutual },
      envoyAccessLogService: { ...service, tlsSettings: istioMutual },
    },
    metadata: { env: ownCertificates },
  },
  ipv6: {
    config: {
      discoveryAddress: '[2001:db8::100]:15010',
      statsdUdpAddress: '[2001:db8::5]:9125',
      envoyMetricsService: service,
    },
    metadata: {
      env: {
        ISTIO_METAJSON_ANNOTATIONS: JSON.stringify({
          'sidecar.istio.io/statsInclusionPrefixes': 'http.{pod_ip}_',
        }),
      },
    },
    inputs: {
      ipv6: true,
      addresses: ['2001:db8::1', '2001:db8::2'],
      serviceNode: 'sidecar~2001:db8::1~foo~bar',
    },
  },
  delta: { inputs: { deltaXds: true } },
  limited: {
    inputs: { memoryLimit: 1 << 30 },
    metadata: { env: { ISTIO_META_GLOBAL_DOWNSTREAM_MAX_CONNECTIONS: '10000' } },
  },
  router: { inputs: { serviceNode: 'router~1.2.3.4~foo~bar' }, config: { statusPort: 0 } },
  'open-telemetry': {
    config: { tracing: { ...none, openTelemetry: { address: 'collector.example.com:4317' } } },
  },
  'stackdriver-sts': {
    config: {
      tracing: {
        ...none,
        stackdriver: {
          debug: false,
          maxNumberOfAttributes: 200,
          maxNumberOfAnnotations: 200,
          maxNumberOfMessageEvents: 200,
        },
      },
    },
    metadata: { stsPort: 15_463, platform: { gcp_project: 'my-sd-project' } },
    inputs: { stsPort: 15_463 },
  },
  all: {
    config: {
      ...running.config,
      connectTimeout: 7_000,
      dnsRefreshRate: 60_000,
      extraStatTags: ['of_the_mesh'],
      envoyMetricsService: {
        ...service,
        tlsSettings: mutual,
        tcpKeepalive: { probes: 3, time: 10_000, interval: 10_000 },
      },
      envoyAccessLogService: {
        ...service,
        tlsSettings: mutual,
        tcpKeepalive: { probes: 3, time: 10_000, interval: 10_000 },
      },
      tracing: {
        ...none,
        openTelemetry: { address: '10.2.2.2:4317' },
        tlsSettings: { ...mutual, subjectAltNames: ['10.2.2.2'], sni: '' },
      },
      proxyMetadata: { ISTIO_META_OF_THE_MESH: 'yes', HOST_IP: '10.3.3.3' },
    },
    metadata: {
      ...running.metadata,
      labels: { app: 'of the file', odd: '"quoted"\n%s\t☃' },
      annotations: {
        'sidecar.istio.io/statsInclusionRegexps': String.raw`listener\.(\d+\.){3}\d+_\d+\.ssl\..*`,
        'sidecar.istio.io/statsInclusionSuffixes': 'upstream_rq_time,upstream_cx_active',
        'sidecar.istio.io/extraStatTags': 'of_the_pod,a.b*c',
        'not.told': 'x',
      },
      platform: { gcp_project: 'p', gcp_location: 'europe-west1-b' },
      stsPort: 15_463,
    },
    inputs: {
      ...running.inputs,
      stsPort: 15_463,
      sds: { ...sds, delivery: 'offered', token: undefined },
    },
  },
};

const podAddresses = ['10.3.3.3', '10.4.4.4', '10.5.5.5', '10.6.6.6', '10.4.4.4'];

/** Returns the input of a bootstrap or template for a case. Throws if its metadata is refused. */
export function inputsOf({
  config: changes = {},
  metadata: { env = {}, ...given } = {},
  inputs = {},
}: GoldenCase): TemplateInputs {
  const config = { ...proxyConfig, ...changes };
  const addresses = inputs.addresses ?? podAddresses;
  const { sds } = inputs;
  const result = nodeMetadata({
    variables: environment(env).values,
    config,
    labels: {},
    annotations: {},
    addresses,
    platform: {},
    stsPort: 0,
    sds,
    ...given,
  });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return {
    config,
    serviceNode: 'sidecar~1.2.3.4~foo~bar',
    ipv6: false,
    addresses,
    metadata: result.metadata,
    locality: { region: '', zone: '', subZone: '' },
    sans: [
      { type: 'DNS', value: 'istio-pilot' },
      {
        type: 'URI',
        value: 'spiffe://cluster.local/ns/istio-system/sa/istio-pilot-service-account',
      },
    ],
    controlPlaneTls: {
      chain: `${certificates}/cert-chain.pem`,
      key: `${certificates}/key.pem`,
      root: `${certificates}/root-cert.pem`,
    },
    sds,
    xdsSocket: undefined,
    memoryLimit: undefined,
    hasOverloadManager: false,
    deltaXds: false,
    prometheusPort: 15_090,
    healthPort: 15_021,
    outlierLogPath: '/dev/stdout',
    stsPort: 0,
    podName: '',
    podNamespace: '',
    podIp: '10.3.3.3',
    mixerSan: '',
    certProvider: 'istiod',
    provisionedCert: '',
    disableInternalTelemetry: false,
    ...inputs,
  };
}

export function bootstrapOf(golden: GoldenCase): BootstrapResult {
  return bootstrap(inputsOf(golden));
}
