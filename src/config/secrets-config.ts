import { parseBoolean, parseDuration } from './value.ts';

/** What the environment says of where secrets come from. An empty text is one that is not given. Times in ms. */
export interface SecretsConfig {
  /** Where the token of the workload is mounted. */
  readonly token: string;
  /** `host:port` of the certificate authority. */
  readonly caAddress: string;
  readonly clusterId: string;
  readonly trustDomain: string;
  readonly algorithm: 'RSA' | 'ECDSA';
  readonly pkcs8: boolean;
  readonly ttl: number;
  /** The share of a certificate's lifetime that is left when the next one is asked for. */
  readonly graceRatio: number;
  readonly initialBackOff: number;
  /** A folder into which the secrets of the workload are written. */
  readonly output: string;
  /** A folder with the secrets of a gateway, a folder each. */
  readonly gateway: string;
  /** Whether a variable names a path of the server's side, and of the client's. */
  readonly namesServer: boolean;
  readonly namesClient: boolean;
  /** Whether one names a certificate or a key of either. */
  readonly namesPair: boolean;
}

const tokens: Readonly<Record<string, string>> = {
  'third-party-jwt': './var/run/secrets/tokens/istio-token',
  'first-party-jwt': '/var/run/secrets/kubernetes.io/serviceaccount/token',
};

/** Reads the environment. A wrong value is a warning, and the default holds. Pure. */
export function secretsConfig(env: NodeJS.ProcessEnv): { readonly config: SecretsConfig; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  function read<T>(name: string, value: string | undefined, parse: (text: string) => T | undefined, right: string, standard: T): T {
    const parsed = value === undefined ? standard : parse(value);
    if (parsed === undefined) warnings.push(`${name}: '${value ?? ''}' is not ${right}: the default holds`);
    return parsed ?? standard;
  }
  const ignored = { SDS_ENABLED: env['SDS_ENABLED'], SDS_UDS_PATH: env['SDS_UDS_PATH'] };
  for (const [name, value] of Object.entries(ignored)) {
    if (value !== undefined) warnings.push(`${name} is ignored: it is about an agent of the node, and secrets come from this one`);
  }
  const anyOf = (...values: readonly (string | undefined)[]) => values.some((value) => value !== undefined && value !== '');
  const server = [env['ISTIO_META_TLS_SERVER_CERT_CHAIN'], env['ISTIO_META_TLS_SERVER_KEY']];
  const client = [env['ISTIO_META_TLS_CLIENT_CERT_CHAIN'], env['ISTIO_META_TLS_CLIENT_KEY']];
  const positive = (text: string) => {
    const ms = parseDuration(text);
    return ms !== undefined && ms > 0 ? ms : undefined;
  };
  const config: SecretsConfig = {
    token: tokens[env['JWT_POLICY'] ?? 'third-party-jwt'] ?? '',
    caAddress: env['CA_ADDR'] ?? '',
    clusterId: env['ISTIO_META_CLUSTER_ID'] ?? '',
    trustDomain: env['TRUST_DOMAIN'] ?? '',
    algorithm: read('ECC_SIGNATURE_ALGORITHM', env['ECC_SIGNATURE_ALGORITHM'] ?? '', (text) => (text === '' ? 'RSA' : text === 'ECDSA' ? text : undefined), 'ECDSA', 'RSA'), // prettier-ignore
    pkcs8: read('PKCS8_KEY', env['PKCS8_KEY'], parseBoolean, 'true or false', false),
    ttl: read('SECRET_TTL', env['SECRET_TTL'], positive, 'a duration', 86_400_000),
    graceRatio: read('SECRET_GRACE_PERIOD_RATIO', env['SECRET_GRACE_PERIOD_RATIO'], (text) => (/^(0?\.\d+|0|1)$/.test(text) ? Number(text) : undefined), 'a share from 0 to 1', 0.5), // prettier-ignore
    initialBackOff: read('INITIAL_BACKOFF_MSEC', env['INITIAL_BACKOFF_MSEC'], (text) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined), 'a whole number of ms', 0), // prettier-ignore
    output: env['OUTPUT_CERTS'] ?? '',
    gateway: env['GATEWAY_SECRETS'] ?? '',
    namesServer: anyOf(...server, env['ISTIO_META_TLS_SERVER_ROOT_CERT']),
    namesClient: anyOf(...client, env['ISTIO_META_TLS_CLIENT_ROOT_CERT']),
    namesPair: anyOf(...server, ...client),
  };
  if ((env['CA_PROVIDER'] ?? 'Citadel') !== 'Citadel') {
    warnings.push(`CA_PROVIDER: '${env['CA_PROVIDER'] ?? ''}' is not Citadel, the one protocol that is spoken here: it is used`);
  }
  return { config, warnings };
}
