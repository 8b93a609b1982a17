/**
 * A flag of `pilot-discovery discovery`: the kind of its value on the help page, its meaning, and
 * its default as a user would write it.
 */
export interface DiscoveryFlag {
  readonly value: string;
  readonly text: string;
  readonly default: string;
  /** Accepted because command lines of istiod have it. It does nothing. */
  readonly ignored?: true;
}

/** The flags of `pilot-discovery discovery`, with the names of istiod. */
export const discoveryFlags = {
  configDir: {
    value: 'path',
    text: 'folder of YAML with resources of Istio; the MeshConfig may name more',
    default: '',
  },
  meshConfig: {
    value: 'path',
    text: 'file with the MeshConfig; without a file its defaults hold',
    default: './etc/istio/config/mesh',
  },
  domain: {
    value: 'name',
    text: 'DNS domain of the mesh, which completes hosts without a dot',
    default: 'cluster.local',
  },
  namespace: { value: 'name', text: 'namespace of resources that name none', default: 'default' },
  grpcAddr: { value: 'host:port', text: 'xDS without TLS; empty for none', default: ':15010' },
  httpAddr: { value: 'host:port', text: '/ready and /debug; empty for none', default: ':8080' },
  monitoringAddr: { value: 'host:port', text: '/metrics; empty for none', default: ':15014' },
  keepaliveInterval: {
    value: 'duration',
    text: 'how often a proxy that says nothing is asked whether it is there',
    default: '30s',
  },
  keepaliveTimeout: {
    value: 'duration',
    text: 'how long its answer is waited for',
    default: '10s',
  },
  keepaliveMaxServerConnectionAge: {
    value: 'duration',
    text: 'after this time a proxy has to connect again; 0s: never',
    default: '30m',
  },
  shutdownDuration: {
    value: 'duration',
    text: 'over which proxies are sent elsewhere at the end, at most',
    default: '10s',
  },
  massRemovalHold: {
    value: 'duration',
    text: 'how long removals of much at once wait to be confirmed; 0s: not at all',
    default: '60s',
  },
  largestRequest: {
    value: 'bytes',
    text: 'how large a request of a proxy may be',
    default: '4194304',
  },
  secureGRPCAddr: {
    value: 'host:port',
    text: 'ignored: there is no xDS over TLS yet',
    default: '',
    ignored: true,
  },
  httpsAddr: {
    value: 'host:port',
    text: 'ignored: there is no injection',
    default: '',
    ignored: true,
  },
  registries: {
    value: 'names',
    text: 'ignored: resources come from --configDir',
    default: '',
    ignored: true,
  },
  clusterID: {
    value: 'name',
    text: 'ignored: the mesh has one cluster',
    default: '',
    ignored: true,
  },
  networksConfig: {
    value: 'path',
    text: 'ignored: the mesh has one network',
    default: '',
    ignored: true,
  },
  profile: { value: 'bool', text: 'ignored', default: '', ignored: true },
  ctrlz_port: { value: 'port', text: 'ignored', default: '', ignored: true },
  ctrlz_address: { value: 'host', text: 'ignored', default: '', ignored: true },
} as const satisfies Readonly<Record<string, DiscoveryFlag>>;

export type DiscoveryFlagName = keyof typeof discoveryFlags;
