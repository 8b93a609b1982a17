import type { Findings } from './findings.ts';
import { regexFlaw } from './regex-flaw.ts';
import type { NodeMetadata } from './node-metadata.ts';

/** Patterns for the names of statistics, by kind. */
export interface StatsInclusion {
  readonly prefixes: readonly string[];
  readonly suffixes: readonly string[];
  readonly regexes: readonly string[];
}

/** Readiness, xDS and Istio's own filters: the list of the Go agent 1.6. */
const neededPrefixes = [
  'cluster_manager',
  'listener_manager',
  'http_mixer_filter',
  'tcp_mixer_filter',
  'server',
  'cluster.xds-grpc',
  'wasm',
];
/** What is in flight: the drain at the end leaves by these gauges. */
const neededSuffixes = ['downstream_rq_active', 'downstream_cx_active', 'downstream_cx_upgrades_active'];
/** Which listeners speak HTTP: a drain does not count their idle connections. */
const neededRegexes = [String.raw`listener\..+\.http\..+\.downstream_rq_completed`];

const annotation = 'sidecar.istio.io/statsInclusion';

/**
 * Which statistics Envoy is to have beside those of its labels: what the agent needs, and what annotations ask for. Pure.
 *
 * `{pod_ip}` stands for each address of the node, written as Envoy writes it in names. An expression that RE2 would refuse is left out with a warning.
 */
export function statsInclusion(
  metadata: NodeMetadata,
  addresses: readonly string[],
  { warnings }: Pick<Findings, 'warnings'>,
): StatsInclusion {
  const asked = (kind: string, quote: (address: string) => string = (address) => address): readonly string[] => {
    const text = metadata[`${annotation}${kind}`];
    const entries = typeof text === 'string' ? text.split(',').map((entry) => entry.trim()) : [];
    return entries
      .filter((entry) => entry !== '')
      .flatMap((entry) =>
        entry.includes('{pod_ip}')
          ? [...new Set(addresses)].map((address) => entry.replaceAll('{pod_ip}', () => quote(address.replaceAll(':', '_'))))
          : [entry],
      );
  };
  const regexes = asked('Regexps', (address) => address.replaceAll('.', '\\.')).filter((regex) => {
    const flaw = regexFlaw(regex);
    if (flaw !== undefined) warnings.push(`${annotation}Regexps: '${regex.slice(0, 80)}' is left out: ${flaw}`);
    return flaw === undefined;
  });
  return {
    prefixes: [...new Set([...asked('Prefixes'), ...neededPrefixes])],
    suffixes: [...new Set([...asked('Suffixes'), ...neededSuffixes])],
    regexes: [...new Set([...regexes, ...neededRegexes])],
  };
}
