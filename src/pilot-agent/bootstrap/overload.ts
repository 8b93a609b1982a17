// Why: docs/decisions/018-near-its-share-envoy-sheds.md
import type { NodeMetadata } from './bootstrap-inputs.ts';
import { type Findings, type Json, typedConfig } from './proto-json.ts';

const monitors = 'envoy.resource_monitors';
const actions = 'envoy.overload_actions';
const mebibyte = 1 << 20;
/** The memory that the agent needs in addition to Envoy's, after an hour of full load. */
const agent = 110 * mebibyte;
/**
 * The memory that an Envoy usually needs. If less than twice this is left, an Envoy may use all of
 * it: half would be too little. `noRoomFor` (src/proxy/memory.ts) decides whether a second one may
 * start.
 */
const least = 64 * mebibyte;
/** The largest number that Envoy accepts, which it treats as no limit. */
const mostConnections = 2 ** 31 - 1;

/**
 * Returns how large the heap of an Envoy may grow, in bytes. It is half of the memory that the
 * agent leaves, because a hot restart runs two Envoys at once. If half is too little for one, it is
 * all of that memory. Undefined if there is no limit, or if nothing is left. Pure.
 */
export function heapLimit(memory: number | undefined): number | undefined {
  if (memory === undefined || memory <= agent) return undefined;
  const left = memory - agent;
  return Math.floor(left >= 2 * least ? left / 2 : left);
}

/**
 * Makes Envoy's overload manager. It refuses no request: near the memory limit it first gives
 * memory back, then ends each HTTP connection with its next response (`Connection: close`, GOAWAY).
 * Connections are limited only if the metadata set a limit. Pure.
 */
export function overloadManager(
  memory: number | undefined,
  metadata: NodeMetadata,
  { warnings }: Pick<Findings, 'warnings'>,
): Json {
  const { GLOBAL_DOWNSTREAM_MAX_CONNECTIONS: given } = metadata;
  const limit = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given;
  const isLimit =
    typeof limit === 'number' && Number.isInteger(limit) && limit > 0 && limit <= mostConnections;
  if (!isLimit && limit !== undefined && limit !== '')
    warnings.push(
      'ISTIO_META_GLOBAL_DOWNSTREAM_MAX_CONNECTIONS is not a whole number from 1 to 2147483647: there is no limit',
    );
  const connections = {
    name: `${monitors}.global_downstream_max_connections`,
    typed_config: typedConfig(
      'extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig',
      {
        max_active_downstream_connections: isLimit ? limit : mostConnections,
      },
    ),
  };
  const heap = heapLimit(memory);
  if (heap === undefined) return { resource_monitors: [connections] };
  const fixedHeap = {
    name: `${monitors}.fixed_heap`,
    typed_config: typedConfig('extensions.resource_monitors.fixed_heap.v3.FixedHeapConfig', {
      max_heap_size_bytes: heap,
    }),
  };
  const above = (name: string, value: number) => ({
    name: `${actions}.${name}`,
    triggers: [{ name: fixedHeap.name, threshold: { value } }],
  });
  return {
    resource_monitors: [connections, fixedHeap],
    actions: [above('shrink_heap', 0.8), above('disable_http_keepalive', 0.9)],
  };
}
