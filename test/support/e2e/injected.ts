/** The container of the proxy in a pod that Istio's injector or chart has made. */
export interface Injected {
  /** The injector or the chart that has made it. */
  readonly by: string;
  /** The arguments of `pilot-agent`. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The contents of other mounted files, by path. */
  readonly files: Readonly<Record<string, string>>;
  /** The host of the control plane. */
  readonly discoveryHost: string;
  /** All warnings in the log at the start. */
  readonly warnings: readonly string[];
}

const namespace = 'shop';
const labels = '{"app":"web","version":"v1"}';
const logLevels = ['--proxyLogLevel=warning', '--proxyComponentLogLevel=misc:error'];
const domain = ['--domain', `${namespace}.svc.cluster.local`];
const folders = [
  '--configPath',
  '/etc/istio/proxy',
  '--binaryPath',
  '/usr/local/bin/envoy',
  '--serviceCluster',
  `web.${namespace}`,
];
const times = ['--drainDuration', '45s', '--parentShutdownDuration', '1m0s'];
const idle = (flag: string) => `--${flag} has no effect, and is ignored`;

/** The variables that the charts of 1.1 and 1.4 set. */
const byHelm = {
  ISTIO_META_POD_NAME: 'web-0',
  ISTIO_META_CONFIG_NAMESPACE: namespace,
  ISTIO_META_INTERCEPTION_MODE: 'REDIRECT',
  ISTIO_METAJSON_LABELS: labels,
};
/** The variables that all injectors from 1.5 on set. */
const byIstiod = {
  PILOT_CERT_PROVIDER: 'istiod',
  CA_ADDR: 'istiod.istio-system.svc:15012',
  SERVICE_ACCOUNT: 'web',
  HOST_IP: '192.0.2.1',
  ISTIO_META_POD_PORTS: '[\n    {"name":"http","containerPort":80,"protocol":"TCP"}\n]',
  ISTIO_META_CLUSTER_ID: 'Kubernetes',
  ISTIO_META_INTERCEPTION_MODE: 'REDIRECT',
  ISTIO_META_WORKLOAD_NAME: 'web',
  ISTIO_META_OWNER: `kubernetes://apis/apps/v1/namespaces/${namespace}/deployments/web`,
  ISTIO_META_MESH_ID: 'cluster.local',
};
const probers = '{"/app-health/web/readyz":{"httpGet":{"path":"/ready","port":80}}}';
const podInfo = {
  'etc/istio/pod/labels': 'app="web"\nversion="v1"',
  'etc/istio/pod/annotations': 'prometheus.io/scrape="true"\nsidecar.istio.io/inject="true"',
};

/** The containers with their original flags and variables: nothing is added or left out. */
export const injectedPods: readonly Injected[] = [
  {
    by: 'the chart of Istio 1.1',
    args: [
      ...[
        'proxy',
        'sidecar',
        ...domain,
        ...folders,
        ...times,
        '--discoveryAddress',
        'istio-pilot.istio-system:15010',
      ],
      ...[
        '--zipkinAddress',
        'zipkin.istio-system:9411',
        '--connectTimeout',
        '10s',
        '--proxyAdminPort',
        '15000',
        '--concurrency',
        '2',
      ],
      ...['--controlPlaneAuthPolicy', 'NONE', '--statusPort', '15020', '--applicationPorts', '80'],
    ],
    env: byHelm,
    files: {},
    discoveryHost: 'istio-pilot.istio-system',
    warnings: [idle('applicationPorts')],
  },
  {
    by: 'the chart of Istio 1.4',
    args: [
      ...[
        'proxy',
        'sidecar',
        ...domain,
        ...folders,
        ...times,
        '--discoveryAddress',
        'istio-pilot.istio-system:15010',
      ],
      ...[
        '--zipkinAddress',
        'zipkin.istio-system:9411',
        ...logLevels,
        '--dnsRefreshRate',
        '300s',
        '--connectTimeout',
        '10s',
      ],
      ...[
        '--proxyAdminPort',
        '15000',
        '--concurrency',
        '2',
        '--controlPlaneAuthPolicy',
        'NONE',
        '--statusPort',
        '15020',
      ],
      ...['--applicationPorts', '80', '--trust-domain=cluster.local'],
    ],
    env: {
      ...byHelm,
      SDS_ENABLED: 'false',
      ISTIO_META_INCLUDE_INBOUND_PORTS: '80',
      ISTIO_METAJSON_ANNOTATIONS: '{"sidecar.istio.io/inject":"true"}\n',
      ISTIO_META_WORKLOAD_NAME: 'web',
      ISTIO_META_OWNER: byIstiod.ISTIO_META_OWNER,
      ISTIO_META_MESH_ID: 'cluster.local',
      ISTIO_KUBE_APP_PROBERS: probers,
    },
    files: {},
    discoveryHost: 'istio-pilot.istio-system',
    warnings: [idle('applicationPorts')],
  },
  {
    by: 'the injector of Istio 1.5',
    args: [
      ...[
        'proxy',
        'sidecar',
        ...domain,
        ...folders,
        ...times,
        '--discoveryAddress',
        'istiod.istio-system.svc:15012',
      ],
      ...[
        '--zipkinAddress',
        'zipkin.istio-system:9411',
        ...logLevels,
        '--connectTimeout',
        '10s',
        '--proxyAdminPort',
        '15000',
      ],
      ...[
        '--concurrency',
        '2',
        '--controlPlaneAuthPolicy',
        'NONE',
        '--dnsRefreshRate',
        '300s',
        '--statusPort',
        '15020',
      ],
      ...['--trust-domain=cluster.local', '--controlPlaneBootstrap=false'],
    ],
    env: {
      ...byIstiod,
      JWT_POLICY: 'third-party-jwt',
      ISTIO_AUTO_MTLS_ENABLED: 'true',
      SDS_ENABLED: 'false',
      ISTIO_META_POD_NAME: 'web-0',
      ISTIO_META_CONFIG_NAMESPACE: namespace,
      ISTIO_META_INCLUDE_INBOUND_PORTS: '80',
      ISTIO_METAJSON_ANNOTATIONS: '{"sidecar.istio.io/inject":"true"}\n',
      ISTIO_METAJSON_LABELS: labels,
      ISTIO_KUBE_APP_PROBERS: '{}',
    },
    files: podInfo,
    discoveryHost: 'istiod.istio-system.svc',
    warnings: [idle('controlPlaneBootstrap')],
  },
  {
    by: 'the injector of Istio 1.6',
    args: [
      ...[
        'proxy',
        'sidecar',
        ...domain,
        '--serviceCluster',
        `web.${namespace}`,
        ...logLevels,
        '--trust-domain=cluster.local',
      ],
      ...['--concurrency', '2'],
    ],
    env: {
      ...byIstiod,
      JWT_POLICY: 'third-party-jwt',
      CANONICAL_SERVICE: 'web',
      CANONICAL_REVISION: 'v1',
      PROXY_CONFIG: '{"proxyMetadata":{"DNS_AGENT":""}}\n',
      ISTIO_META_APP_CONTAINERS: '[\n    web,\n    log\n]',
      ISTIO_METAJSON_ANNOTATIONS: '{"sidecar.istio.io/inject":"true"}\n',
      DNS_AGENT: '',
      ISTIO_KUBE_APP_PROBERS: probers,
    },
    files: podInfo,
    discoveryHost: 'istiod.istio-system.svc',
    warnings: [],
  },
  {
    by: 'the chart of the gateway of Istio 1.6',
    args: [
      ...[
        'proxy',
        'router',
        ...domain,
        ...logLevels,
        '--log_output_level=default:info',
        '--serviceCluster',
        'istio-ingressgateway',
      ],
      ...['--trust-domain=cluster.local'],
    ],
    env: {
      ...byIstiod,
      JWT_POLICY: 'third-party-jwt',
      NODE_NAME: 'node-1',
      ISTIO_META_POD_NAME: 'web-0',
      ISTIO_META_CONFIG_NAMESPACE: namespace,
      ISTIO_META_USER_SDS: 'true',
      ISTIO_META_ROUTER_MODE: 'sni-dnat',
    },
    files: {
      ...podInfo,
      'etc/istio/config/mesh': [
        'accessLogFile: ""',
        'defaultConfig:',
        '  discoveryAddress: istiod.istio-system.svc:15012',
        '  proxyMetadata: {DNS_AGENT: ""}',
        '  tracing: {zipkin: {address: "zipkin.istio-system:9411"}}',
        'enableAutoMtls: true',
        'trustDomain: cluster.local',
      ].join('\n'),
    },
    discoveryHost: 'istiod.istio-system.svc',
    warnings: [],
  },
  {
    by: 'the injector of Istio 1.26',
    args: ['proxy', 'sidecar', ...domain, ...logLevels, '--log_output_level=default:info'],
    env: {
      ...byIstiod,
      ISTIO_CPU_LIMIT: '2',
      PROXY_CONFIG: '{}\n',
      ISTIO_META_APP_CONTAINERS: 'web',
      GOMEMLIMIT: '1073741824',
      GOMAXPROCS: '2',
      ISTIO_META_NODE_NAME: 'node-1',
      TRUST_DOMAIN: 'cluster.local',
      ISTIO_KUBE_APP_PROBERS: probers,
      ISTIO_PROMETHEUS_ANNOTATIONS: '{"scrape":"true","path":"","port":"80"}',
      KUBERNETES_SERVICE_HOST: '10.96.0.1',
      KUBERNETES_SERVICE_PORT: '443',
      KUBERNETES_PORT: 'tcp://10.96.0.1:443',
      WEB_SERVICE_HOST: '10.96.0.7',
    },
    files: podInfo,
    discoveryHost: 'istiod.istio-system.svc',
    warnings: [],
  },
];
