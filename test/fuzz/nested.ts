import * as fc from 'fast-check';
import {
  environmentMetadata,
  podPorts,
} from '../../src/pilot-agent/bootstrap/environment-metadata.ts';
import { appProbes } from '../../src/pilot-agent/config/app-probes.ts';
import { flagLayer } from '../../src/pilot-agent/config/flag-layer.ts';
import { metricsTargets } from '../../src/pilot-agent/config/metrics-targets.ts';
import { findMembers } from '../../src/shared/text/text-position.ts';
import { parseText } from '../../src/pilot-agent/config/parse-text.ts';
import { readMeshConfig } from '../../src/pilot-discovery/istio/mesh/read-mesh-config.ts';
import { readMeshNetworks } from '../../src/pilot-discovery/istio/mesh/read-mesh-networks.ts';
import { readResources } from '../../src/pilot-discovery/istio/documents/read-resources.ts';
import { decodeJson, decodeSecrets } from '../../src/shared/kube/kube-object.ts';
import { parseEnvoyYaml } from '../../src/proxy/envoy-yaml.ts';
import { listenersIn } from '../../src/proxy/listener-list.ts';

/**
 * Parsers of texts of others. Each reads nested texts, one after the other in one process: V8 ends
 * a process whose stack is full while it compiles a regular expression, which no `catch` sees. The
 * program prints the number of readings.
 */
const readers: readonly ((text: string) => unknown)[] = [
  (text) => parseText(text),
  (text) =>
    parseText(text, { characters: Infinity, tokens: Infinity, values: Infinity, levels: 100 }),
  (text) => findMembers(text).then((find) => find('a.b[0].c')),
  (text) => parseEnvoyYaml(text),
  (text) => readMeshConfig(text, 'mesh'),
  (text) => readMeshNetworks(text, 'networks'),
  (text) => readResources(text, { source: 'files', path: 'a.yaml', defaultNamespace: 'default' }),
  (text) => appProbes(text),
  (text) =>
    metricsTargets(
      { ISTIO_PROMETHEUS_ANNOTATIONS: text, PILOT_AGENT_METRICS_TARGETS: text },
      new Map(),
    ),
  (text) => flagLayer({ envoyMetricsService: text, envoyAccessLogService: text }),
  (text) =>
    environmentMetadata(
      { ISTIO_METAJSON_LABELS: text, ISTIO_METAJSON_A: text },
      { problems: [], warnings: [] },
    ),
  (text) => podPorts(text),
  (text) => orThrown(() => decodeJson(Buffer.from(text))),
  (text) => orThrown(() => decodeSecrets(Buffer.from(text))),
  (text) => listenersIn(text),
];

/**
 * Runs a parser of JSON from Kubernetes, which throws if it refuses a text. Rethrows only a
 * RangeError, by which V8 reports a full stack.
 */
function orThrown(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return undefined;
  }
}

const opened = [
  '[',
  '{',
  '{a: ',
  '[[{"a":',
  '- ',
  '? ',
  '- - a: ',
  '&x [',
  '!t [',
  '"a": [',
  ': ',
  '-\t',
  '[{? ',
  '<<: ',
];
const line = (piece: string) => (count: number) =>
  Array.from({ length: count }, (_, index) => `${' '.repeat(index)}${piece}`).join('\n');
const shapes: readonly ((count: number) => string)[] = [
  ...opened.map((piece) => (count: number) => piece.repeat(count)),
  (count) => `${'['.repeat(count)}${']'.repeat(count)}`,
  (count) => `${'{"a":'.repeat(count)}1${'}'.repeat(count)}`,
  (count) => `${'['.repeat(count)}\n---\n${'[['.repeat(count / 4)}${']]'.repeat(count / 4)}`,
  (count) => `a: [\n---\n${'- '.repeat(count)}`,
  (count) => line('a:')(Math.min(count, 1_500)),
  (count) => line('-')(Math.min(count, 1_500)),
  (count) => line('? a')(Math.min(count, 1_500)),
  () => 'accessLogFile: &a [*a]\n',
  () => `a: &a [x]\nb: [${'*a, '.repeat(200)}]\n`,
  (count) =>
    Array.from(
      { length: 40 },
      (_, index) =>
        `a${index}: &a${index} [${index === 0 ? count : `*a${index - 1}, *a${index - 1}`}]`,
    ).join('\n'),
];

const pieces = fc.array(
  fc.tuple(
    fc.constantFrom(...opened, ']', '}', '\n', '\n---\n', 'a', '*x', '# c\n', "'", '|\n'),
    fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 3_000 })),
  ),
);
const random = fc.sample(pieces, {
  numRuns: Number(process.env['FUZZ_NESTED'] ?? 40),
  seed: Number(process.env['FUZZ_SEED'] ?? 1),
});
const texts = [
  ...[101, 1_500, 9_900, 20_000].flatMap((count) => shapes.map((shape) => shape(count))),
  ...random.map((parts) =>
    parts
      .map(([piece, count]) => piece.repeat(count))
      .join('')
      .slice(0, 60_000),
  ),
];
for (const read of readers) for (const text of texts) await read(text);
console.log(texts.length * readers.length);
