import * as z from 'zod/mini';
import type { Problem } from '../../shared/text/value.ts';
import { parseBoolean } from '../../shared/text/value.ts';
import { parseJson } from '../../shared/text/parse-json.ts';

/** An application on this machine that has metrics. */
export interface MetricsTarget {
  /** The variable that names it. */
  readonly variable: (typeof metricsVariables)[number];
  readonly port: number;
  readonly path: string;
}

export interface MetricsTargets {
  readonly targets: readonly MetricsTarget[];
  /** Entries that are left out, and why. */
  readonly flaws: readonly Problem[];
}

const form = z.object({
  scrape: z.optional(z.union([z.string(), z.boolean()])),
  path: z.optional(z.string()),
  port: z.optional(z.union([z.string(), z.number()])),
});
export const metricsVariables = [
  'ISTIO_PROMETHEUS_ANNOTATIONS',
  'PILOT_AGENT_METRICS_TARGETS',
] as const;

export function isMetricsVariable(name: string): name is (typeof metricsVariables)[number] {
  return metricsVariables.some((variable) => variable === name);
}

/**
 * Returns the applications to scrape. `ISTIO_PROMETHEUS_ANNOTATIONS` names one, an object with
 * `port` (80), `path` (`/metrics`) and `scrape`. `PILOT_AGENT_METRICS_TARGETS` is an array of such
 * objects. An empty text is the default, as Istio's injector writes it. A target that cannot be
 * scraped is left out. The ports in `ownPorts`, each with its meaning, would scrape the agent
 * itself. Pure.
 */
export function metricsTargets(
  values: Readonly<Partial<Record<(typeof metricsVariables)[number], string>>>,
  ownPorts: ReadonlyMap<number, string>,
): MetricsTargets {
  const targets: MetricsTarget[] = [];
  const flaws: Problem[] = [];
  for (const variable of metricsVariables) {
    const value = values[variable] ?? '';
    if (value === '') continue;
    const many = variable === 'PILOT_AGENT_METRICS_TARGETS';
    const decoded = z.array(form).safeParse(many ? parse(value) : [parse(value)]);
    if (!decoded.success)
      flaws.push({
        place: variable,
        text: `it is not ${many ? 'a JSON array of objects' : 'a JSON object'} with port and path`,
      });
    for (const { scrape = '', path = '', port = '' } of decoded.data ?? []) {
      const wanted = scrape === '' ? true : parseBoolean(String(scrape));
      if (wanted === false) continue;
      const target: MetricsTarget = {
        variable,
        port: port === '' ? 80 : Number(port),
        path: path === '' ? '/metrics' : path.startsWith('/') ? path : `/${path}`,
      };
      const text =
        wanted === undefined
          ? `scrape '${scrape}' is not true or false`
          : flaw(target, port, targets, ownPorts);
      if (text === undefined) targets.push(target);
      else flaws.push({ place: variable, text });
    }
  }
  return { targets, flaws };
}

/** Returns why a target is invalid beside those before it; undefined if it is valid. */
function flaw(
  { port, path }: MetricsTarget,
  written: string | number,
  before: readonly MetricsTarget[],
  ownPorts: ReadonlyMap<number, string>,
): string | undefined {
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    return `port '${written}' is not a port (1 to 65535)`;
  const self = ownPorts.get(port);
  if (self !== undefined) return `port ${port} is ${self}, whose metrics are merged already`;
  return before.some((target) => target.port === port && target.path === path)
    ? `port ${port} with path ${path} is named twice`
    : undefined;
}

function parse(json: string): unknown {
  try {
    return parseJson(json);
  } catch {
    return undefined;
  }
}
