import type * as z from 'zod/mini';
import type { TlsFiles } from './certificate-files.ts';
import { parseDuration, value } from '../../shared/text/value.ts';

/**
 * The settings of the source of secrets, from environment variables. An empty text counts as not
 * set. Times in ms.
 */
export interface SecretsConfig {
  /** The path at which the token of the workload is mounted. */
  readonly tokenFile: string;
  /** `host:port` of the certificate authority. */
  readonly caAddress: string;
  readonly clusterId: string;
  readonly trustDomain: string;
  readonly algorithm: 'RSA' | 'ECDSA';
  readonly pkcs8: boolean;
  readonly ttl: number;
  /** The share of a certificate's lifetime that is left when the next one is requested. */
  readonly graceRatio: number;
  readonly initialBackOff: number;
  /** A folder into which the secrets of the workload are written. */
  readonly output: string;
  /** A folder with one subfolder for each secret of a gateway; or `kubernetes://NAMESPACE`. */
  readonly gateway: string;
  /** The name of the workload socket in {@link workloadSocketFolder}. */
  readonly workloadSocket: string;
  /** The path of the CRLs of the mesh; empty if they are not served. */
  readonly crlFile: string;
  /** Whether a variable names a path for the server's side. */
  readonly namesServer: boolean;
  /** Whether a variable names a path for the client's side. */
  readonly namesClient: boolean;
  /** Whether a variable names a certificate or a key, for either side. */
  readonly namesPair: boolean;
}

/** Returns the value of a variable; undefined if it is not set, or invalid (a warning). */
export type ReadVariable = <T>(name: string, kind: z.ZodMiniType<T>) => T | undefined;

export interface SecretsInputs {
  readonly read: ReadVariable;
  /** The paths in `ISTIO_META_TLS_*`. */
  readonly tls: { readonly server: Partial<TlsFiles>; readonly client: Partial<TlsFiles> };
}

/** The variable of each value; undefined for values that follow from `ISTIO_META_TLS_*`. */
export const secretVariables = {
  tokenFile: 'JWT_POLICY',
  caAddress: 'CA_ADDR',
  clusterId: 'ISTIO_META_CLUSTER_ID',
  trustDomain: 'TRUST_DOMAIN',
  algorithm: 'ECC_SIGNATURE_ALGORITHM',
  pkcs8: 'PKCS8_KEY',
  ttl: 'SECRET_TTL',
  graceRatio: 'SECRET_GRACE_PERIOD_RATIO',
  initialBackOff: 'INITIAL_BACKOFF_MSEC',
  output: 'OUTPUT_CERTS',
  gateway: 'GATEWAY_SECRETS',
  workloadSocket: 'WORKLOAD_IDENTITY_SOCKET_FILE',
  crlFile: 'PILOT_ENABLE_CA_CRL',
  namesServer: undefined,
  namesClient: undefined,
  namesPair: undefined,
} as const satisfies Record<keyof SecretsConfig, string | undefined>;

/** The path of the token for each `JWT_POLICY`; any other policy has none. */
export const tokenFiles = new Map([
  ['third-party-jwt', './var/run/secrets/tokens/istio-token'],
  ['first-party-jwt', '/var/run/secrets/kubernetes.io/serviceaccount/token'],
]);

/** The folder and the usual name of the workload socket, which another program may serve. */
export const workloadSocketFolder = './var/run/secrets/workload-spiffe-uds';
export const usualWorkloadSocket = 'socket';

/** The file of Istio's ConfigMap `istio-ca-crl`, below the working directory. */
const mountedCrl = './var/run/secrets/istio/crl/ca-crl.pem';

const kinds = {
  fileName: value.parsed('the name of a file, without a folder', (text) => {
    if (text === '') return usualWorkloadSocket;
    return /^[^/\0]+$/.test(text) && text !== '.' && text !== '..' ? text : undefined;
  }),
  algorithm: value.parsed('ECDSA', (text) =>
    text === '' ? 'RSA' : text === 'ECDSA' ? text : undefined,
  ),
  ttl: value.parsed('a duration', (text) => {
    const ms = parseDuration(text);
    return ms !== undefined && ms > 0 ? ms : undefined;
  }),
  share: value.parsed('a share from 0 to 1', (text) =>
    /^(0?\.\d+|0|1)$/.test(text) ? Number(text) : undefined,
  ),
  backOff: value.parsed('a whole number of ms', (text) =>
    /^\d{1,9}$/.test(text) ? Number(text) : undefined,
  ),
} as const;

export function secretsConfig({ read, tls: { server, client } }: SecretsInputs): SecretsConfig {
  const names = secretVariables;
  const text = (name: string) => read(name, value.text) ?? '';
  const anyOf = (...paths: readonly (string | undefined)[]) =>
    paths.some((path) => path !== undefined);
  return {
    tokenFile: tokenFiles.get(read(names.tokenFile, value.text) ?? 'third-party-jwt') ?? '',
    caAddress: text(names.caAddress),
    clusterId: text(names.clusterId),
    trustDomain: text(names.trustDomain),
    algorithm: read(names.algorithm, kinds.algorithm) ?? 'RSA',
    pkcs8: read(names.pkcs8, value.booleanText) ?? false,
    ttl: read(names.ttl, kinds.ttl) ?? 86_400_000,
    graceRatio: read(names.graceRatio, kinds.share) ?? 0.5,
    initialBackOff: read(names.initialBackOff, kinds.backOff) ?? 0,
    output: text(names.output),
    gateway: text(names.gateway),
    workloadSocket: read(names.workloadSocket, kinds.fileName) ?? usualWorkloadSocket,
    crlFile: (read(names.crlFile, value.booleanText) ?? true) ? mountedCrl : '',
    namesServer: anyOf(server.chain, server.key, server.root),
    namesClient: anyOf(client.chain, client.key, client.root),
    namesPair: anyOf(server.chain, server.key, client.chain, client.key),
  };
}
