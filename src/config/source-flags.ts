import type { Flag } from './flag.ts';

/** The flags that make sources of configuration, and those that say how to reach them. */
export const sourceFlags = {
  config: {
    group: 'sources',
    value: 'file',
    text: 'a configuration file of the agent, YAML or JSON: flags by name, sources, variables, …',
    default: '',
    field: 'configFile',
    variable: 'PILOT_AGENT_CONFIG',
  },
  watch: {
    group: 'sources',
    value: 'path',
    text: 'a file or a folder; Envoy is restarted when it changes; may be repeated',
    default: '',
    repeated: true,
    variable: 'PILOT_AGENT_WATCH',
  },
  configUrl: {
    group: 'sources',
    value: 'url',
    text: 'URL (http or https) of the Envoy configuration',
    default: '',
    variable: 'PILOT_AGENT_CONFIG_URL',
  },
  configUrlCAFile: {
    group: 'sources',
    value: 'file',
    text: 'roots for the server of --configUrl, PEM',
    default: '',
    variable: 'PILOT_AGENT_CONFIG_URL_CA_FILE',
  },
  configUrlTokenFile: {
    group: 'sources',
    value: 'file',
    text: 'bearer token for the server of --configUrl',
    default: '',
    variable: 'PILOT_AGENT_CONFIG_URL_TOKEN_FILE',
  },
  watchKube: {
    group: 'sources',
    value: 'kind/namespace/name',
    text: 'an object of Kubernetes; a Secret is pushed, others restart Envoy; may be repeated',
    default: '',
    repeated: true,
    variable: 'PILOT_AGENT_WATCH_KUBE',
  },
  kubeconfig: {
    group: 'sources',
    value: 'file',
    text: 'how to reach Kubernetes; if not given: by the service account of the pod',
    default: '',
    variable: 'KUBECONFIG',
  },
  watchConsul: {
    group: 'sources',
    value: 'kind/name',
    text: 'in Consul: kv/PREFIX or service/NAME; Envoy is restarted when it changes; may be repeated',
    default: '',
    repeated: true,
    variable: 'PILOT_AGENT_WATCH_CONSUL',
  },
  consulAddress: {
    group: 'sources',
    value: 'url',
    text: 'where Consul is',
    default: 'http://127.0.0.1:8500',
    variable: 'CONSUL_HTTP_ADDR',
  },
  consulCAFile: { group: 'sources', value: 'file', text: 'roots for the server of Consul, PEM', default: '', variable: 'CONSUL_CACERT' },
  consulTokenFile: { group: 'sources', value: 'file', text: 'ACL token for Consul', default: '', variable: 'CONSUL_HTTP_TOKEN_FILE' },
} as const satisfies Readonly<Record<string, Flag>>;
