/** A flag of `proxy`: its value's kind on the help page, what it means, and its default as a user would write it. */
export interface Flag {
  readonly value: string;
  readonly text: string;
  readonly default: string;
}

/** The flags of `proxy`, by name. Names, units and defaults are those of the Go agent; the last three are this agent's own. */
export const flags = {
  binaryPath: { value: 'path', text: 'Envoy binary; without it: /usr/local/bin/envoy, $ENVOY_BIN, PATH, the cache', default: '' },
  configPath: { value: 'dir', text: 'folder for what the agent writes', default: '/etc/istio/proxy' },
  customConfigFile: { value: 'file', text: 'the Envoy configuration to use; nothing is generated', default: '' },
  drainDuration: { value: 'duration', text: 'how long an old epoch drains', default: '45s' },
  parentShutdownDuration: { value: 'duration', text: 'when an old epoch is gone; more than --drainDuration', default: '1m0s' },
  proxyAdminPort: { value: 'port', text: "port of Envoy's admin endpoint", default: '15000' },
  statusPort: { value: 'port', text: 'port of the status server; 0 = none', default: '15020' },
  serviceCluster: { value: 'name', text: "Envoy's --service-cluster", default: 'istio-proxy' },
  concurrency: { value: 'n', text: "Envoy's worker threads; 0 = one for each core", default: '0' },
  proxyLogLevel: { value: 'level', text: "Envoy's log level", default: 'warning' },
  proxyComponentLogLevel: { value: 'levels', text: "log levels of Envoy's components, name:level,…", default: 'misc:error' },
  serviceregistry: { value: 'name', text: 'Kubernetes, Consul or another platform', default: 'Kubernetes' },
  id: { value: 'text', text: 'node id; without it $POD_NAME.$POD_NAMESPACE', default: '' },
  ip: { value: 'ip', text: 'address of the node; without it $INSTANCE_IP', default: '' },
  domain: { value: 'name', text: 'DNS domain; without it $POD_NAMESPACE.svc.cluster.local', default: '' },
  minDelay: { value: 'duration', text: 'from the first change of a file to the reading of all', default: '10s' },
  envoyRestartPolicy: { value: 'policy', text: 'after a crash: backoff (start Envoy again) or exit', default: 'backoff' },
  envoyRestartBudget: { value: 'n', text: 'restarts after crashes in a row before the agent ends; 0 = no limit', default: '10' },
} as const satisfies Readonly<Record<string, Flag>>;

export type FlagName = keyof typeof flags;
