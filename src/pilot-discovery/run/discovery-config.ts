import { cpus, hostname } from 'node:os';
import type { ConsulServer } from '../../shared/consul/consul-query.ts';
import type { GatewayClusters } from '../environment/environment.ts';
import { type ConfigReaders, noReaders, readConfigReaders } from '../identity/config-access.ts';
import type { ServingPaths } from '../identity/serving-files.ts';
import { isLabel } from '../istio/fields/host-names.ts';
import {
  type BlockedRanges,
  blockedRanges,
  usuallyBlocked,
} from '../registry/keys/blocked-ranges.ts';
import { type CaConfig, caConfig } from './ca-config.ts';
import { type DiscoveryFlag, type DiscoveryFlagName, discoveryFlags } from './discovery-flags.ts';
import {
  type GivenDiscoveryFlags,
  type ListenAddress,
  settingReader,
  type SettingReader,
  type DiscoveryVariables,
} from './setting-reader.ts';
import { type TokenConfig, tokenConfig } from './token-config.ts';

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
  /**
   * `given`: flags name the files. `mounted`: the files are those of a Secret that may be mounted.
   */
  readonly filesAre: 'given' | 'mounted';
  /** A file of more roots that verify clients; empty for none. */
  readonly moreRoots: string;
  /** Whether the node may have another namespace or account than its authenticated caller. */
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
  /** The control planes that may read the resources of Istio. */
  readonly configReaders: ConfigReaders;
  /** The longest time over which proxies are sent elsewhere at the end. All durations are in ms. */
  readonly shutdownDuration: number;
  /** How long large removals are held back; 0 if they never are. */
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
  /** The time between two analyses for the status of resources, in ms; undefined if it is off. */
  readonly analysisInterval: number | undefined;
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
  given: GivenDiscoveryFlags,
  env: DiscoveryVariables,
): ResolvedDiscovery {
  const problems: string[] = [];
  const settings = settingReader(given, env, (problem) => problems.push(problem));
  const { flag, variable, address, ofFlag, yesUnless } = settings;
  const podNamespace = variable('POD_NAMESPACE') ?? 'istio-system';
  const ca = caConfig(env, podNamespace);
  const tokens = tokenConfig(env);
  problems.push(...ca.problems, ...tokens.problems);
  const config: DiscoveryConfig = {
    configDir: flag('configDir'),
    registries: given.registries === undefined ? undefined : registriesOf(settings),
    kubeconfig: given.kubeconfig ?? variable('KUBECONFIG') ?? '',
    consul: consulOf(settings),
    meshConfig: flag('meshConfig'),
    networksConfig: flag('networksConfig'),
    domain: flag('domain'),
    gatewayClusters: yesUnless('PILOT_FILTER_GATEWAY_CLUSTER_CONFIG') ? 'reached' : 'all',
    namespace: flag('namespace'),
    grpc: address('grpcAddr'),
    secure: secureOf(settings, tokens.config),
    http: address('httpAddr'),
    monitoring: address('monitoringAddr'),
    configReaders: configReadersOf(settings),
    keepalive: {
      interval: ofFlag('keepaliveInterval'),
      timeout: ofFlag('keepaliveTimeout'),
      age: ofFlag('keepaliveMaxServerConnectionAge'),
    },
    shutdownDuration: ofFlag('shutdownDuration'),
    massRemovalHold: ofFlag('massRemovalHold'),
    debounce: debounceOf(settings),
    largestRequest: largestRequestOf(settings),
    pushThrottle: pushThrottleOf(settings),
    blockedRanges: blockedRangesOf(settings),
    analysisInterval: analysisIntervalOf(settings),
    podName: variable('POD_NAME') ?? hostname(),
    podNamespace,
    ca: ca.config,
  };
  if (config.grpc === undefined && config.secure === undefined && problems.length === 0)
    problems.push('--grpcAddr and --secureGRPCAddr are empty: no proxy could ask for anything');
  const warnings = (Object.keys(given) as DiscoveryFlagName[]).flatMap((name) => {
    const { text, ignored }: DiscoveryFlag = discoveryFlags[name];
    return ignored === true ? [`--${name} is ${text}`] : [];
  });
  return { config, problems, warnings };
}

function registriesOf({ flag, addProblem }: SettingReader): readonly ServiceRegistry[] {
  const names = namesIn(flag('registries'));
  const unknown = names.find((name) => !isRegistry(name));
  if (unknown !== undefined)
    addProblem(`--registries: '${unknown}' is not one of ${registryNames.join(', ')}`);
  return [...new Set(names.filter(isRegistry))];
}

/** Nobody may read if a name is wrong. */
function configReadersOf({ flag, addProblem }: SettingReader): ConfigReaders {
  const readers = readConfigReaders(namesIn(flag('configReaders')));
  if (!('wrong' in readers)) return readers;
  addProblem(
    `--configReaders: '${readers.wrong}' is neither NAMESPACE/ACCOUNT (such as istio-system/istiod) nor plaintext`,
  );
  return noReaders;
}

function consulOf({ flag, addProblem }: SettingReader): ConsulConfig {
  const address = flag('consulserverURL');
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
    addProblem(`--consulserverURL: '${address}' is not a URL (such as http://127.0.0.1:8500)`);
  const datacenters = namesIn(flag('consulDatacenters'));
  const wrong = datacenters.find((name) => !isLabel(name));
  if (wrong !== undefined)
    addProblem(`--consulDatacenters: '${wrong}' is not a name of a datacenter (such as dc1)`);
  return {
    address,
    caFile: flag('consulCAFile'),
    tokenFile: flag('consulTokenFile'),
    datacenters: [...new Set(datacenters)],
  };
}

function secureOf(
  { flag, address, yesUnless }: SettingReader,
  tokens: TokenConfig,
): SecureConfig | undefined {
  const files = {
    chain: flag('tlsCertFile'),
    key: flag('tlsKeyFile'),
    roots: [flag('caCertFile')],
  };
  const areGiven = files.chain !== '' || files.key !== '';
  const nodes = yesUnless('PILOT_ENABLE_XDS_IDENTITY_CHECK') ? 'own' : 'any';
  const secureAddress = address('secureGRPCAddr');
  return (
    secureAddress && {
      address: secureAddress,
      files: areGiven ? files : mountedFiles,
      filesAre: areGiven ? 'given' : 'mounted',
      moreRoots: areGiven ? '' : flag('caCertFile'),
      nodes,
      tokens,
    }
  );
}

function debounceOf({
  variable,
  ofVariable,
  yesUnless,
  addProblem,
}: SettingReader): DiscoveryConfig['debounce'] {
  const how = variable('PILOT_DEBOUNCE');
  if (how !== undefined && how !== 'adaptive')
    addProblem(`PILOT_DEBOUNCE: '${how}' is neither adaptive nor empty`);
  return {
    after: ofVariable('PILOT_DEBOUNCE_AFTER', 100),
    max: ofVariable('PILOT_DEBOUNCE_MAX', 10_000),
    endpoints: yesUnless('PILOT_ENABLE_EDS_DEBOUNCE'),
    adaptive: how === 'adaptive',
  };
}

function largestRequestOf({ given, flag, variable, addProblem }: SettingReader): number {
  const ofIstiod = variable('ISTIO_GPRC_MAXRECVMSGSIZE');
  const [place, size] =
    given.largestRequest === undefined && ofIstiod !== undefined
      ? ['ISTIO_GPRC_MAXRECVMSGSIZE', ofIstiod]
      : ['--largestRequest', flag('largestRequest')];
  if (!/^[1-9]\d{0,8}$/.test(size)) addProblem(`${place}: '${size}' is not a number of bytes`);
  return Number(size);
}

function pushThrottleOf({ variable, addProblem }: SettingReader): number {
  const throttle = variable('PILOT_PUSH_THROTTLE') ?? '0';
  if (!/^\d+$/.test(throttle))
    addProblem(`PILOT_PUSH_THROTTLE: '${throttle}' is not a whole number`);
  return Number(throttle) > 0 ? Number(throttle) : 8 * cpus().length;
}

/** As in istiod, an analysis runs once a second at most. */
function analysisIntervalOf({
  noUnless,
  ofVariable,
  addProblem,
}: SettingReader): number | undefined {
  const ms = ofVariable('PILOT_ANALYSIS_INTERVAL', 10_000);
  if (ms < 1_000) addProblem('PILOT_ANALYSIS_INTERVAL: it must be 1s or more');
  return noUnless('PILOT_ENABLE_ANALYSIS') ? ms : undefined;
}

/** Blocks everything if a range is wrong. */
function blockedRangesOf({ variable, addProblem }: SettingReader): BlockedRanges {
  const ranges = blockedRanges(variable('BLOCKED_CIDRS_IN_JWKS_URIS') ?? usuallyBlocked);
  if (!('wrong' in ranges)) return ranges;
  addProblem(
    `BLOCKED_CIDRS_IN_JWKS_URIS: '${ranges.wrong}' is neither a range (such as 10.0.0.0/8) nor none`,
  );
  return { blocks: () => true };
}

function namesIn(text: string): readonly string[] {
  return text.split(',').filter((name) => name !== '');
}
