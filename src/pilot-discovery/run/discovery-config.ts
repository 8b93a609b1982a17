import { cpus, hostname } from 'node:os';
import type { ConsulServer } from '../../shared/consul/consul-query.ts';
import { parseHostPort } from '../../shared/text/host-port.ts';
import type { GatewayClusters } from '../environment/environment.ts';
import type { ServingPaths } from '../identity/serving-files.ts';
import { isLabel } from '../istio/fields/host-names.ts';
import { parseBoolean, parseDuration } from '../../shared/text/value.ts';
import {
  type BlockedRanges,
  blockedRanges,
  usuallyBlocked,
} from '../registry/keys/blocked-ranges.ts';
import { type CaConfig, caConfig } from './ca-config.ts';
import { type DiscoveryFlag, type DiscoveryFlagName, discoveryFlags } from './discovery-flags.ts';
import { type TokenConfig, tokenConfig } from './token-config.ts';

/** An address to listen on. An empty host means every address. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** The registries that `--registries` may name. */
const registryNames = ['Kubernetes', 'Consul'] as const;

/** A source of services, besides folders. */
export type ServiceRegistry = (typeof registryNames)[number];

export interface ConsulConfig extends Required<Omit<ConsulServer, 'proxy'>> {
  /** If it is empty, the datacenter is that of the Consul at the address. */
  readonly datacenters: readonly string[];
}

/** The port for authenticated proxies. */
export interface SecureConfig {
  readonly address: ListenAddress;
  readonly files: ServingPaths;
  /** Whether flags name the files, or they are those of a Secret that may be mounted. */
  readonly filesAre: 'given' | 'mounted';
  /** Whether a caller may be a node of another namespace or account. */
  readonly nodes: 'own' | 'any';
  readonly tokens: TokenConfig;
}

/** How the control plane runs. */
export interface DiscoveryConfig {
  /** A folder of YAML; '' if the MeshConfig names it. */
  readonly configDir: string;
  /** In order of precedence; undefined if the flag is not given. */
  readonly registries: readonly ServiceRegistry[] | undefined;
  /** Paths with `:` between them; '' for the service account of the pod. */
  readonly kubeconfig: string;
  readonly consul: ConsulConfig;
  readonly meshConfig: string;
  readonly networksConfig: string;
  readonly domain: string;
  readonly gatewayClusters: GatewayClusters;
  readonly namespace: string;
  /** Undefined if it is off. */
  readonly grpc: ListenAddress | undefined;
  readonly secure: SecureConfig | undefined;
  readonly http: ListenAddress | undefined;
  readonly monitoring: ListenAddress | undefined;
  /** The longest time over which proxies are sent elsewhere at the end. All durations are in ms. */
  readonly shutdownDuration: number;
  /** How long large removals are held back; 0 for not at all. */
  readonly massRemovalHold: number;
  /** `age`: the time after which a proxy must connect again; 0 for never. */
  readonly keepalive: { readonly interval: number; readonly timeout: number; readonly age: number };
  readonly debounce: {
    readonly after: number;
    readonly max: number;
    /** Whether changes of endpoints wait too, for a shorter time. */
    readonly endpoints: boolean;
    /** Whether the window is short after a silence, and then grows up to `after`. */
    readonly adaptive: boolean;
  };
  /** The largest request of a proxy, in bytes. */
  readonly largestRequest: number;
  /** Undefined if it is off. */
  readonly ca: CaConfig | undefined;
  /** The number of proxies that are written to at once. */
  readonly pushThrottle: number;
  /** The addresses from which no keys of issuers are fetched. */
  readonly blockedRanges: BlockedRanges;
  /** `istiod-0`, or the name of the machine. */
  readonly podName: string;
  /** The namespace of the control plane, which has the ConfigMap with the MeshConfig. */
  readonly podNamespace: string;
}

export interface ResolvedDiscovery {
  readonly config: DiscoveryConfig;
  /** Everything that is wrong, each with its place; empty if nothing is. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** The mounted Secret with the certificate, as in istiod. */
const mounted = './var/run/secrets/istiod';
const mountedFiles: ServingPaths = {
  chain: `${mounted}/tls/tls.crt`,
  key: `${mounted}/tls/tls.key`,
  roots: [`${mounted}/ca/root-cert.pem`, `${mounted}/tls/ca.crt`],
};

const isRegistry = (name: string): name is ServiceRegistry =>
  (registryNames as readonly string[]).includes(name);

/**
 * Returns the configuration from the given flags and the environment. A value that cannot be read
 * gets its default, and a problem. Pure, except for the number of CPUs and the name of the machine.
 */
export function discoveryConfig(
  given: Readonly<Partial<Record<DiscoveryFlagName, string>>>,
  env: Readonly<Record<string, string | undefined>>,
): ResolvedDiscovery {
  const problems: string[] = [];
  const warnings: string[] = [];
  const flag = (name: DiscoveryFlagName): string => given[name] ?? discoveryFlags[name].default;
  for (const name of Object.keys(given) as DiscoveryFlagName[]) {
    const { text, ignored }: DiscoveryFlag = discoveryFlags[name];
    if (ignored === true) warnings.push(`--${name} is ${text}`);
  }

  const address = (name: DiscoveryFlagName): ListenAddress | undefined => {
    const text = flag(name);
    if (text === '') return undefined;
    const parts = parseHostPort(text);
    const port = /^\d{1,5}$/.test(parts?.port ?? '') ? Number(parts?.port) : NaN;
    if (parts !== undefined && port <= 65_535) return { host: parts.host, port };
    problems.push(`--${name}: '${text}' is not host:port, :port, or empty`);
    return undefined;
  };
  const duration = (place: string, text: string, standard: number): number => {
    const ms = parseDuration(text);
    if (ms !== undefined && ms >= 0) return ms;
    problems.push(`${place}: '${text}' is not a duration (such as '100ms' or '10s')`);
    return standard;
  };
  const ofFlag = (name: DiscoveryFlagName) => duration(`--${name}`, flag(name), 0);
  const variable = (name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
  const ofVariable = (name: string, standard: number) => {
    const text = variable(name);
    return text === undefined ? standard : duration(name, text, standard);
  };
  /** Returns true if the variable is not set. */
  const trueOrSaid = (name: string): boolean => {
    const text = variable(name);
    const value = text === undefined ? true : parseBoolean(text);
    if (value === undefined) problems.push(`${name}: '${text ?? ''}' is not true or false`);
    return value ?? true;
  };

  const registriesIn = (text: string): readonly ServiceRegistry[] => {
    const names = text.split(',').filter((name) => name !== '');
    const unknown = names.find((name) => !isRegistry(name));
    if (unknown !== undefined)
      problems.push(`--registries: '${unknown}' is not one of ${registryNames.join(', ')}`);
    return [...new Set(names.filter(isRegistry))];
  };

  const consulAddress = (): string => {
    const url = flag('consulserverURL');
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      problems.push(`--consulserverURL: '${url}' is not a URL (such as http://127.0.0.1:8500)`);
    return url;
  };
  const datacentersIn = (text: string): readonly string[] => {
    const names = text.split(',').filter((name) => name !== '');
    const wrong = names.find((name) => !isLabel(name));
    if (wrong !== undefined)
      problems.push(`--consulDatacenters: '${wrong}' is not a name of a datacenter (such as dc1)`);
    return [...new Set(names)];
  };

  const throttle = variable('PILOT_PUSH_THROTTLE') ?? '0';
  if (!/^\d+$/.test(throttle))
    problems.push(`PILOT_PUSH_THROTTLE: '${throttle}' is not a whole number`);
  const [sizePlace, size] =
    given.largestRequest === undefined && variable('ISTIO_GPRC_MAXRECVMSGSIZE') !== undefined
      ? ['ISTIO_GPRC_MAXRECVMSGSIZE', variable('ISTIO_GPRC_MAXRECVMSGSIZE') ?? '']
      : ['--largestRequest', flag('largestRequest')];
  if (!/^[1-9]\d{0,8}$/.test(size))
    problems.push(`${sizePlace}: '${size}' is not a number of bytes`);
  const debounce = variable('PILOT_DEBOUNCE') ?? '';
  if (debounce !== '' && debounce !== 'adaptive')
    problems.push(`PILOT_DEBOUNCE: '${debounce}' is not adaptive, or empty`);

  const blocked = variable('BLOCKED_CIDRS_IN_JWKS_URIS') ?? usuallyBlocked;
  const ranges = blockedRanges(blocked);
  if ('wrong' in ranges)
    problems.push(
      `BLOCKED_CIDRS_IN_JWKS_URIS: '${ranges.wrong}' is not a range (such as 10.0.0.0/8), and not none`,
    );

  const files = {
    chain: flag('tlsCertFile'),
    key: flag('tlsKeyFile'),
    roots: [flag('caCertFile')],
  };
  const givenFiles = [files.chain, files.key, ...files.roots].filter((path) => path !== '');
  const nodes = trueOrSaid('PILOT_ENABLE_XDS_IDENTITY_CHECK') ? 'own' : 'any';
  const secureAddress = address('secureGRPCAddr');
  const podNamespace = variable('POD_NAMESPACE') ?? 'istio-system';
  const ca = caConfig(env, podNamespace);
  const tokens = tokenConfig(env);
  problems.push(...ca.problems, ...tokens.problems);

  const config: DiscoveryConfig = {
    configDir: flag('configDir'),
    registries: given.registries === undefined ? undefined : registriesIn(given.registries),
    kubeconfig: given.kubeconfig ?? variable('KUBECONFIG') ?? '',
    consul: {
      address: consulAddress(),
      caFile: flag('consulCAFile'),
      tokenFile: flag('consulTokenFile'),
      datacenters: datacentersIn(flag('consulDatacenters')),
    },
    meshConfig: flag('meshConfig'),
    networksConfig: flag('networksConfig'),
    domain: flag('domain'),
    gatewayClusters: trueOrSaid('PILOT_FILTER_GATEWAY_CLUSTER_CONFIG') ? 'reached' : 'all',
    namespace: flag('namespace'),
    grpc: address('grpcAddr'),
    secure: secureAddress && {
      address: secureAddress,
      files: givenFiles.length === 0 ? mountedFiles : files,
      filesAre: givenFiles.length === 0 ? 'mounted' : 'given',
      nodes,
      tokens: tokens.config,
    },
    http: address('httpAddr'),
    monitoring: address('monitoringAddr'),
    keepalive: {
      interval: ofFlag('keepaliveInterval'),
      timeout: ofFlag('keepaliveTimeout'),
      age: ofFlag('keepaliveMaxServerConnectionAge'),
    },
    shutdownDuration: ofFlag('shutdownDuration'),
    massRemovalHold: ofFlag('massRemovalHold'),
    debounce: {
      after: ofVariable('PILOT_DEBOUNCE_AFTER', 100),
      max: ofVariable('PILOT_DEBOUNCE_MAX', 10_000),
      endpoints: trueOrSaid('PILOT_ENABLE_EDS_DEBOUNCE'),
      adaptive: debounce === 'adaptive',
    },
    largestRequest: Number(size),
    pushThrottle: Number(throttle) > 0 ? Number(throttle) : 8 * cpus().length,
    blockedRanges: 'wrong' in ranges ? { blocks: () => true } : ranges,
    podName: variable('POD_NAME') ?? hostname(),
    podNamespace,
    ca: ca.config,
  };
  if (config.grpc === undefined && config.secure === undefined && problems.length === 0)
    problems.push('--grpcAddr and --secureGRPCAddr are empty: no proxy could ask for anything');
  return { config, problems, warnings };
}
