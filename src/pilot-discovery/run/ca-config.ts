import { isIPv4 } from 'node:net';
import { parseBoolean, parseDuration } from '../../shared/text/value.ts';
import type { AuthorityPlaces } from '../ca/authority-files.ts';
import type { Lifetimes } from '../ca/issue-certificate.ts';
import type { Budget } from '../identity/budgets.ts';
import { isDnsName } from '../istio/fields/host-names.ts';

/** How the certificate authority runs. */
export interface CaConfig {
  readonly places: AuthorityPlaces;
  readonly lifetimes: Lifetimes;
  /** How often one identity may ask. */
  readonly rate: Budget;
  /** The namespace of the control plane. */
  readonly namespace: string;
  /** The names of the control plane in its own certificate. */
  readonly names: readonly string[];
}

export interface ResolvedCa {
  /** Undefined if it is off. */
  readonly config: CaConfig | undefined;
  /** Everything that is wrong, each with its variable. */
  readonly problems: readonly string[];
}

/** The names of the variables, with their defaults. */
export const caDefaults = {
  ENABLE_CA_SERVER: 'true',
  ROOT_CA_DIR: './etc/cacerts',
  SELF_SIGNED_CA_FILE: '',
  CITADEL_SELF_SIGNED_CA_CERT_TTL: '87600h',
  DEFAULT_WORKLOAD_CERT_TTL: '24h',
  MAX_WORKLOAD_CERT_TTL: '2160h',
  CERTIFICATES_PER_SECOND: '100',
  ISTIOD_CUSTOM_HOST: '',
} as const;

type CaVariable = keyof typeof caDefaults;

/** The shortest lifetime, in ms: the times in a certificate are whole seconds. */
const shortest = 1_000;
/** The names of istiod's Service. */
const services = ['istiod', 'istiod-remote', 'istio-pilot'];

/**
 * Returns how the certificate authority runs, from the environment. A value that cannot be read
 * gets its default, and a problem. Pure.
 *
 * @param namespace the namespace of the control plane
 */
export function caConfig(
  env: Readonly<Record<string, string | undefined>>,
  namespace: string,
): ResolvedCa {
  const problems: string[] = [];
  const textOf = (name: CaVariable): string => {
    const text = env[name] ?? '';
    return text === '' ? caDefaults[name] : text;
  };
  const lifetime = (name: CaVariable): number => {
    const ms = parseDuration(textOf(name));
    if (ms !== undefined && ms >= shortest) return ms;
    problems.push(`${name}: '${textOf(name)}' is not a duration of 1s or more (such as '24h')`);
    return parseDuration(caDefaults[name]) ?? shortest;
  };
  const isOn = parseBoolean(textOf('ENABLE_CA_SERVER'));
  if (isOn === undefined)
    problems.push(`ENABLE_CA_SERVER: '${textOf('ENABLE_CA_SERVER')}' is not true or false`);
  const usual = lifetime('DEFAULT_WORKLOAD_CERT_TTL');
  const longest = lifetime('MAX_WORKLOAD_CERT_TTL');
  if (usual > longest)
    problems.push('DEFAULT_WORKLOAD_CERT_TTL is longer than MAX_WORKLOAD_CERT_TTL');
  const perSecond = textOf('CERTIFICATES_PER_SECOND');
  if (!/^[1-9]\d{0,5}$/.test(perSecond))
    problems.push(`CERTIFICATES_PER_SECOND: '${perSecond}' is not a number from 1 to 999999`);
  const hosts = textOf('ISTIOD_CUSTOM_HOST')
    .split(',')
    .filter((host) => host !== '');
  const wrong = hosts.find((host) => !isIPv4(host) && !isDnsName(host));
  if (wrong !== undefined)
    problems.push(`ISTIOD_CUSTOM_HOST: '${wrong}' is neither a DNS name nor an IPv4 address`);
  const config = {
    places: {
      folder: textOf('ROOT_CA_DIR'),
      rootFile: textOf('SELF_SIGNED_CA_FILE'),
      rootLifetime: lifetime('CITADEL_SELF_SIGNED_CA_CERT_TTL'),
    },
    lifetimes: { usual, longest },
    namespace,
    rate: { perSecond: Number(perSecond), burst: 2 * Number(perSecond) },
    names: [...services.map((service) => `${service}.${namespace}.svc`), ...hosts],
  };
  return { config: isOn === false ? undefined : config, problems };
}
