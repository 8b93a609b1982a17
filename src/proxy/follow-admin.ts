/**
 * The bootstrap `text` with the clusters that lead to its own admin endpoint on a loopback address led to `port` instead, which is how a listener for
 * metrics follows a rescue. Undefined where it has none, or is no JSON: a configuration that the agent has made is. Pure.
 */
export function followAdmin(text: string, port: number): string | undefined {
  const bootstrap = parse(text);
  const own = portOf(bootstrap?.admin?.address);
  if (bootstrap === undefined || own === undefined) return undefined;
  const clusters = bootstrap.static_resources?.clusters ?? [];
  const before = JSON.stringify(clusters);
  const after = JSON.stringify(clusters, (_, value: unknown) =>
    portOf(value) === own ? { ...(value as Address), socket_address: { ...(value as Address).socket_address, port_value: port } } : value,
  );
  if (before === after) return undefined;
  return JSON.stringify({ ...bootstrap, static_resources: { ...bootstrap.static_resources, clusters: JSON.parse(after) as unknown } });
}

interface Address {
  readonly socket_address?: { readonly address?: string; readonly port_value?: number };
}

interface Bootstrap {
  readonly admin?: { readonly address?: Address };
  readonly static_resources?: { readonly clusters?: readonly unknown[] };
}

/** The port of a loopback address. */
function portOf(value: unknown): number | undefined {
  const { address, port_value: port } = (value as Address | null | undefined)?.socket_address ?? {};
  return address !== undefined && /^(127\.|::1$|localhost$)/.test(address) ? port : undefined;
}

function parse(text: string): Bootstrap | undefined {
  try {
    return JSON.parse(text) as Bootstrap;
  } catch {
    return undefined;
  }
}
