/**
 * A flag of `pilot-discovery discovery`: the kind of its value on the help page, its meaning,
 * its default as a user would write it, and an example of a value for the reference.
 */
export interface DiscoveryFlag {
  readonly value: string;
  readonly text: string;
  readonly default: string;
  readonly example: string;
  /** Accepted because command lines of istiod have it. It does nothing. */
  readonly ignored?: true;
}

/** The flags of `pilot-discovery discovery`, with the names of istiod. */
export const discoveryFlags = {
  configDir: {
    value: 'path',
    text: 'folder of YAML with Istio resources; the MeshConfig may name more folders',
    default: '',
    example: '/etc/mesh',
  },
  registries: {
    value: 'names',
    text: 'Kubernetes, Consul; Kubernetes is the default without a folder',
    default: '',
    example: 'Kubernetes',
  },
  kubeconfig: {
    value: 'path',
    text: 'kubeconfig file; if not given: the service account of the pod',
    default: '',
    example: '/etc/kubeconfig',
  },
  consulserverURL: {
    value: 'url',
    text: 'address of Consul, http or https',
    default: 'http://127.0.0.1:8500',
    example: 'https://consul.example:8501',
  },
  consulDatacenters: {
    value: 'names',
    text: 'datacenters of Consul; if not given: that of the address',
    default: '',
    example: 'dc1,dc2',
  },
  consulCAFile: {
    value: 'path',
    text: 'roots for the server of Consul, PEM',
    default: '',
    example: '/etc/consul-ca.pem',
  },
  consulTokenFile: {
    value: 'path',
    text: 'ACL token for Consul; it is read before each request',
    default: '',
    example: '/run/consul-token',
  },
  meshConfig: {
    value: 'path',
    text: 'MeshConfig file; the default may be missing',
    default: './etc/istio/config/mesh',
    example: '/etc/mesh.yaml',
  },
  networksConfig: {
    value: 'path',
    text: 'MeshNetworks file; may be missing',
    default: './etc/istio/config/meshNetworks',
    example: 'networks.yaml',
  },
  domain: {
    value: 'name',
    text: 'DNS domain of the mesh; it completes host names without a dot',
    default: 'cluster.local',
    example: 'mesh.example',
  },
  namespace: {
    value: 'name',
    text: 'namespace of resources that do not name one',
    default: 'default',
    example: 'shop',
  },
  grpcAddr: {
    value: 'host:port',
    text: 'address for xDS without TLS',
    default: ':15010',
    example: '127.0.0.1:15010',
  },
  secureGRPCAddr: {
    value: 'host:port',
    text: 'address for xDS over TLS; empty: none',
    default: ':15012',
    example: '10.0.0.7:15012',
  },
  tlsCertFile: {
    value: 'path',
    text: 'certificate chain for secureGRPCAddr, PEM',
    default: '',
    example: '/etc/pilot/tls.crt',
  },
  tlsKeyFile: {
    value: 'path',
    text: 'key of that certificate, PEM',
    default: '',
    example: '/etc/pilot/tls.key',
  },
  caCertFile: {
    value: 'path',
    text: 'roots for certificates of proxies, PEM; may be given alone',
    default: '',
    example: '/etc/pilot/ca.crt',
  },
  httpAddr: {
    value: 'host:port',
    text: 'address of /ready and /debug; empty: none',
    default: ':8080',
    example: '127.0.0.1:8080',
  },
  monitoringAddr: {
    value: 'host:port',
    text: 'address of /metrics; empty: none',
    default: ':15014',
    example: '127.0.0.1:15014',
  },
  configReaders: {
    value: 'names',
    text: 'who may read Istio resources: NAMESPACE/ACCOUNT, plaintext',
    default: '',
    example: 'istio-system/istiod',
  },
  keepaliveInterval: {
    value: 'duration',
    text: 'interval between HTTP/2 pings to each proxy',
    default: '30s',
    example: '1m',
  },
  keepaliveTimeout: {
    value: 'duration',
    text: 'time to wait for the answer to a ping',
    default: '10s',
    example: '20s',
  },
  keepaliveMaxServerConnectionAge: {
    value: 'duration',
    text: 'age at which a connection is closed; 0s: never',
    default: '30m',
    example: '1h',
  },
  shutdownDuration: {
    value: 'duration',
    text: 'longest time for closing all streams at the end',
    default: '10s',
    example: '30s',
  },
  massRemovalHold: {
    value: 'duration',
    text: 'longest time that a large removal is held back; 0s: not at all',
    default: '60s',
    example: '5m',
  },
  largestRequest: {
    value: 'bytes',
    text: 'largest request of a proxy',
    default: '4194304',
    example: '8388608',
  },
  httpsAddr: {
    value: 'host:port',
    text: 'ignored: there is no injection',
    default: '',
    example: ':15017',
    ignored: true,
  },
  clusterID: {
    value: 'name',
    text: 'ignored: the mesh has one cluster',
    default: '',
    example: 'Kubernetes',
    ignored: true,
  },
  profile: {
    value: 'bool',
    text: 'ignored: there are no profiles',
    default: '',
    example: 'true',
    ignored: true,
  },
  ctrlz_port: {
    value: 'port',
    text: 'ignored: there is no ControlZ server',
    default: '',
    example: '9876',
    ignored: true,
  },
  ctrlz_address: {
    value: 'host',
    text: 'ignored: there is no ControlZ server',
    default: '',
    example: 'localhost',
    ignored: true,
  },
} as const satisfies Readonly<Record<string, DiscoveryFlag>>;

export type DiscoveryFlagName = keyof typeof discoveryFlags;
