/** Envoy multiplies `--base-id` by this, and keeps the numbers between for the epochs' sockets. */
const factor = 10;
const choices = 400_000_000;

/**
 * A `--base-id` of which neither a socket (`unixTable` is the text of `/proc/net/unix`) nor shared memory (`shared` are the names in
 * `/dev/shm`) exists, so that agents on one machine stay apart.
 *
 * Drawn at random: two agents that start in the same moment see the same table.
 */
export function freeBaseId(unixTable: string, shared: readonly string[], random: () => number): number {
  const sockets = [...unixTable.matchAll(/@envoy_domain_socket_\w+?_(\d+)/g)].map(([, id]) => Number(id));
  const memories = shared.flatMap((name) => /^envoy_shared_memory_(\d+)$/.exec(name)?.[1] ?? []).map(Number);
  const taken = new Set([...sockets, ...memories].map((id) => Math.floor(id / factor)));
  for (;;) {
    const id = 1 + Math.floor(random() * choices);
    if (!taken.has(id)) return id;
  }
}

/** What Envoy leaves in `/dev/shm` for a base id, whichever way it ends. */
export function sharedMemoryOf(baseId: number): string {
  return `/dev/shm/envoy_shared_memory_${baseId * factor}`;
}
