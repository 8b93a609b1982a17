/** What the environment says of where secrets come from. An empty path or address is one that is not given. */
export interface SecretsConfig {
  /** `PROV_CERT`: a folder with a pair and a root that somebody else provides. */
  readonly provisioned: string;
  /** `FILE_MOUNTED_CERTS`: no certificate authority is asked. */
  readonly fileMounted: boolean;
  /** Where the token of the workload is mounted. */
  readonly token: string;
  /** `CA_ADDR`, `host:port`. */
  readonly caAddress: string;
  /** Whether a variable names a path of the server's side, and of the client's. */
  readonly namesServer: boolean;
  readonly namesClient: boolean;
}

const truths = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const untruths = ['0', 'f', 'F', 'FALSE', 'false', 'False'];
const tokens: Readonly<Record<string, string>> = {
  'third-party-jwt': './var/run/secrets/tokens/istio-token',
  'first-party-jwt': '/var/run/secrets/kubernetes.io/serviceaccount/token',
};

/** Reads the environment. A wrong value is a warning, and the default holds. Pure. */
export function secretsConfig(env: NodeJS.ProcessEnv): { readonly config: SecretsConfig; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  const fileMounted = env['FILE_MOUNTED_CERTS'] ?? 'false';
  if (![...truths, ...untruths].includes(fileMounted))
    warnings.push(`FILE_MOUNTED_CERTS: '${fileMounted}' is not true or false: the default holds`);
  for (const [name, value] of [
    ['SDS_ENABLED', env['SDS_ENABLED']],
    ['SDS_UDS_PATH', env['SDS_UDS_PATH']],
  ] as const) {
    if (value !== undefined) warnings.push(`${name} is ignored: it is about an agent of the node, and secrets come from this one`);
  }
  const anyOf = (...values: readonly (string | undefined)[]) => values.some((value) => value !== undefined && value !== '');
  return {
    config: {
      provisioned: env['PROV_CERT'] ?? '',
      fileMounted: truths.includes(fileMounted),
      token: tokens[env['JWT_POLICY'] ?? 'third-party-jwt'] ?? '',
      caAddress: env['CA_ADDR'] ?? '',
      namesServer: anyOf(env['ISTIO_META_TLS_SERVER_CERT_CHAIN'], env['ISTIO_META_TLS_SERVER_KEY'], env['ISTIO_META_TLS_SERVER_ROOT_CERT']),
      namesClient: anyOf(env['ISTIO_META_TLS_CLIENT_CERT_CHAIN'], env['ISTIO_META_TLS_CLIENT_KEY'], env['ISTIO_META_TLS_CLIENT_ROOT_CERT']),
    },
    warnings,
  };
}
