import type { Findings } from './findings.ts';

const address = String.raw`(?:[_.[:digit:]]*|[_\[\]aAbBcCdDeEfF[:digit:]]*)`;
/** What Envoy itself names its statistics after. */
const ofEnvoy: readonly (readonly [string, string])[] = [
  ['cluster_name', String.raw`^cluster\.((.+?(\..+?\.svc\.cluster\.local)?)\.)`],
  ['tcp_prefix', String.raw`^tcp\.((.*?)\.)\w+?$`],
  ['response_code', String.raw`(response_code=\.=(.+?);\.;)|_rq(_(\d{3}))$`],
  ['response_code_class', String.raw`_rq(_(\dxx))$`],
  ['http_conn_manager_listener_prefix', String.raw`^listener(?=\.).*?\.http\.((${address})\.)`],
  ['http_conn_manager_prefix', String.raw`^http\.((${address})\.)`],
  ['listener_address', String.raw`^listener\.((${address})\.)`],
  ['mongo_prefix', String.raw`^mongo\.(.+?)\.(collection|cmd|cx_|op_|delays_|decoding_)(.*?)$`],
];
/** What Istio's extensions of Envoy put into names. */
const ofExtensions: readonly (readonly [string, string])[] = [
  ['cache', String.raw`(cache\.(.+?)\.)`],
  ['component', String.raw`(component\.(.+?)\.)`],
  ['tag', String.raw`(tag\.(.+?);\.)`],
  ['wasm_filter', String.raw`(wasm_filter\.(.+?)\.)`],
];
/** In bytes: what Envoy takes. */
const longestRegex = 1024;

/**
 * How Envoy takes `labels`, and its own, out of the names of its statistics: the list of the Go agent 1.6, whose `response_code` matched no digit.
 *
 * A label stands for itself, whatever characters it has; one that is too long for Envoy is left out with a warning. Pure.
 */
export function statsTags(
  labels: readonly string[],
  { warnings }: Pick<Findings, 'warnings'>,
): readonly Readonly<Record<'tag_name' | 'regex', string>>[] {
  const ofLabels = labels.flatMap((label) => {
    const regex = String.raw`(${label.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}=\.=(.*?);\.;)`;
    if (Buffer.byteLength(regex) <= longestRegex) return [[label, regex] as const];
    warnings.push(`extraStatTags: '${label.slice(0, 40)}…' is left out: it is too long for Envoy`);
    return [];
  });
  return [...ofEnvoy, ...ofLabels, ...ofExtensions].map(([tag_name, regex]) => ({ tag_name, regex }));
}
