/**
 * The meaning of a bootstrap for a reader: the addresses that Envoy reaches, how it reaches them,
 * and the addresses on which it listens.
 */
export interface Summary {
  readonly node: string;
  readonly admin: string;
  readonly listeners: Readonly<Record<string, string>>;
  /**
   * The address of each cluster; then `TLS`, the name that is requested, the trusted roots and
   * names, and the certificate that is shown.
   */
  readonly clusters: Readonly<Record<string, string>>;
  /** The source of Envoy's configuration. */
  readonly ads: string;
  /**
   * The limit of connections, then the heap and each action with the share from which it applies.
   */
  readonly overload: string;
  /** The tracer, and the target of its reports. */
  readonly tracing?: string;
  /** Each sink of statistics, and its target. */
  readonly sinks?: readonly string[];
  /** The prefixes of HTTP statistics that are kept besides those of the agent. */
  readonly included?: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

/** Reads a bootstrap by the paths of Envoy's API (v3), without the code that generated it. */
export function summary(bootstrap: unknown): Summary {
  const sinks = list(bootstrap, 'stats_sinks').map(
    (sink) => `${text(sink, 'name')} → ${sinkTarget(sink)}`,
  );
  const tracer = get(bootstrap, 'tracing', 'http');
  const ads = (...path: readonly (string | number)[]) =>
    text(bootstrap, 'dynamic_resources', 'ads_config', ...path);
  const patterns = list(bootstrap, 'stats_config', 'stats_matcher', 'inclusion_list', 'patterns');
  const included = patterns
    .map((pattern) => text(pattern, 'prefix'))
    .filter((prefix) => prefix.startsWith('http.'));
  return {
    node: text(bootstrap, 'node', 'id'),
    admin: socket(get(bootstrap, 'admin', 'address')),
    listeners: byName(list(bootstrap, 'static_resources', 'listeners'), (listener) =>
      socket(get(listener, 'address')),
    ),
    clusters: byName(list(bootstrap, 'static_resources', 'clusters'), (cluster) =>
      [target(cluster), ...tls(cluster)].join(' '),
    ),
    ads: [
      ads('grpc_services', 0, 'envoy_grpc', 'cluster_name'),
      ...(ads('api_type') === 'GRPC' ? [] : [ads('api_type')]),
    ].join(' '),
    overload: overload(get(bootstrap, 'overload_manager')),
    ...(tracer !== undefined && {
      tracing: `${text(tracer, 'name')} → ${tracerTarget(get(tracer, 'typed_config'))}`,
    }),
    ...(sinks.length > 0 && { sinks }),
    ...(included.length > 0 && { included }),
  };
}

function target(cluster: unknown): string {
  return socket(
    get(cluster, 'load_assignment', 'endpoints', 0, 'lb_endpoints', 0, 'endpoint', 'address'),
  );
}

function tls(cluster: unknown): readonly string[] {
  const context = get(cluster, 'transport_socket', 'typed_config');
  if (context === undefined) return [];
  const common = get(context, 'common_tls_context');
  const combined = get(common, 'combined_validation_context');
  const shown = [
    text(common, 'tls_certificates', 0, 'certificate_chain', 'filename'),
    text(common, 'tls_certificate_sds_secret_configs', 0, 'name'),
  ];
  const trusted = [
    text(common, 'validation_context', 'trusted_ca', 'filename'),
    text(combined, 'validation_context_sds_secret_config', 'name'),
  ];
  const validation =
    get(common, 'validation_context') ?? get(combined, 'default_validation_context');
  const names = list(validation, 'match_typed_subject_alt_names').map((name) =>
    text(name, 'matcher', 'exact'),
  );
  const [sni, root, certificate] = [text(context, 'sni'), trusted.join(''), shown.join('')];
  return [
    'TLS',
    ...(sni === '' ? [] : [`to ${sni}`]),
    ...(root === '' ? [] : [`trusts ${root}`]),
    ...(names.length === 0 ? [] : [`for ${names.join(' or ')}`]),
    ...(certificate === '' ? [] : [`shows ${certificate}`]),
  ];
}

function tracerTarget(tracer: unknown): string {
  const grpc = get(tracer, 'grpc_service');
  return [
    text(tracer, 'collector_cluster'),
    text(grpc, 'envoy_grpc', 'cluster_name'),
    text(grpc, 'google_grpc', 'target_uri'),
  ].join('');
}

function sinkTarget(sink: unknown): string {
  const config = get(sink, 'typed_config');
  return get(config, 'address') === undefined
    ? text(config, 'grpc_service', 'envoy_grpc', 'cluster_name')
    : socket(get(config, 'address'));
}

function overload(manager: unknown): string {
  const [connections, heap] = list(manager, 'resource_monitors').map((monitor) =>
    get(monitor, 'typed_config'),
  );
  const actions = list(manager, 'actions').map((action) => {
    const threshold = get(action, 'triggers', 0, 'threshold', 'value') as number;
    return `${text(action, 'name').replace('envoy.overload_actions.', '')} ${threshold}`;
  });
  const numbers = [
    get(connections, 'max_active_downstream_connections'),
    get(heap, 'max_heap_size_bytes'),
  ] as (number | undefined)[];
  return [...numbers.filter((number) => number !== undefined), ...actions].join(' ');
}

function socket(address: unknown): string {
  const { address: host, port_value: port } = (get(address, 'socket_address') ?? {}) as {
    address?: string;
    port_value?: number;
  };
  return host === undefined ? text(address, 'pipe', 'path') : `${host} ${port}`;
}

function byName(
  items: readonly unknown[],
  tell: (item: unknown) => string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(items.map((item) => [text(item, 'name'), tell(item)]));
}

function get(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Json | undefined)?.[key], value);
}

function list(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  return (get(value, ...path) ?? []) as readonly unknown[];
}

function text(value: unknown, ...path: readonly (string | number)[]): string {
  return (get(value, ...path) ?? '') as string;
}
