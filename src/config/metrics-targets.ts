import * as z from 'zod/mini';

/** An application that has metrics, on this machine. */
export interface MetricsTarget {
  readonly port: number;
  readonly path: string;
}

export type MetricsTargets =
  | { readonly ok: true; readonly targets: readonly MetricsTarget[] }
  | { readonly ok: false; readonly place: string; readonly reason: string };

const form = z.object({
  scrape: z.optional(z.union([z.string(), z.boolean()])),
  path: z.optional(z.string()),
  port: z.optional(z.union([z.string(), z.number()])),
});
const variables = ['ISTIO_PROMETHEUS_ANNOTATIONS', 'PILOT_AGENT_METRICS_TARGETS'] as const;

/**
 * The applications to scrape: one from `ISTIO_PROMETHEUS_ANNOTATIONS`, an object with `port` (80),
 * `path` (`/metrics`) and `scrape`, any number from `PILOT_AGENT_METRICS_TARGETS`, an array of
 * such. A port of `own`, by its meaning, would scrape the agent itself. Pure.
 */
export function metricsTargets(
  values: Readonly<Partial<Record<(typeof variables)[number], string>>>,
  own: ReadonlyMap<number, string>,
): MetricsTargets {
  const targets: MetricsTarget[] = [];
  for (const place of variables) {
    const value = values[place] ?? '';
    if (value === '') continue;
    const many = place === 'PILOT_AGENT_METRICS_TARGETS';
    const decoded = z.array(form).safeParse(many ? parse(value) : [parse(value)]);
    if (!decoded.success) return { ok: false, place, reason: `it is not ${many ? 'a JSON array of objects' : 'a JSON object'} with port and path` }; // prettier-ignore
    for (const { scrape = true, path = '', port = 80 } of decoded.data) {
      if (String(scrape) === 'false') continue;
      const target: MetricsTarget = { port: Number(port), path: path === '' ? '/metrics' : path.startsWith('/') ? path : `/${path}` };
      if (!Number.isInteger(target.port) || target.port < 1 || target.port > 65_535)
        return { ok: false, place, reason: `port '${port}' is not a port (1 to 65535)` };
      const self = own.get(target.port);
      if (self !== undefined) return { ok: false, place, reason: `port ${target.port} is ${self}: the agent's metrics have it already` };
      if (targets.some((other) => other.port === target.port && other.path === target.path))
        return { ok: false, place, reason: `port ${target.port} with path ${target.path} is named twice` };
      targets.push(target);
    }
  }
  return { ok: true, targets };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
