import * as fc from 'fast-check';
import {
  environmentMetadata,
  podPorts,
} from '../../../src/pilot-agent/bootstrap/environment-metadata.ts';
import { renderTemplate } from '../../../src/pilot-agent/bootstrap/template.ts';
import { parseDownwardApi } from '../../../src/pilot-agent/config/downward-api.ts';
import { readConfigFile } from '../../../src/pilot-agent/config/config-file.ts';
import { environment } from '../../../src/pilot-agent/config/environment.ts';
import { looksSecret } from '../../../src/pilot-agent/config/looks-secret.ts';
import { parseText } from '../../../src/pilot-agent/config/parse-text.ts';
import { resolveConfig } from '../../../src/pilot-agent/config/resolve-config.ts';
import { noLayers } from '../../../src/pilot-agent/config/text-layers.ts';
import { printable } from '../../../src/shared/log/printable.ts';
import { fuzzed, textOf } from '../parser.ts';

const json = fc.oneof(
  fc.json(),
  textOf('{', '}', '[', ']', ':', ',', '"', '"port"', '"path"', '1', 'null', '"a"'),
);

/** Resolves a configuration in which each layer has this text. */
async function configOf(text: string) {
  const content = await parseText(text);
  return resolveConfig({
    given: {},
    leftover: [],
    surroundings: environment({ PROXY_CONFIG: text }),
    addresses: ['10.1.2.3'],
    layers: {
      mesh: { path: 'mesh', content },
      proxyConfig: content,
      annotation: content,
      annotations: {},
      warnings: [],
    },
  });
}

const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');
const fields = (field: (index: number) => readonly [string, unknown]) => (size: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: size }, (_, index) => field(index))));

export const configuration = [
  fuzzed({
    name: 'YAML',
    inputs: fc.oneof(
      fc.json(),
      textOf(
        'a',
        ': ',
        '\n',
        '  ',
        '- ',
        '[',
        ']',
        '{',
        '}',
        '"',
        "'",
        '&x ',
        '*x',
        '!t ',
        '|',
        '>',
        '#',
        '%',
        '? ',
        ',',
        '\t',
        '<<',
        '---',
      ),
    ),
    parse: (text) => parseText(text),
    size: 40,
    growing: {
      names: (size) => lines(size, (index) => `k${index}: 1`),
      'names in braces': (size) => `{${lines(size, (index) => `k${index},`)}}`,
      'the same name': (size) => lines(size, () => 'a: 1'),
      'lists in lists': (size) => '- '.repeat(size),
      brackets: (size) => '['.repeat(size),
      aliases: (size) => `a: &a 1\nb: [${'*a,'.repeat(size)}]`,
      'merged maps': (size) => `a: &a {b: 1}\n${lines(size, (index) => `c${index}: {<<: *a}`)}`,
      tags: (size) => '!t '.repeat(size),
      'a text of many lines': (size) => `a: |\n${'  b\n'.repeat(size * 50)}`,
      'a text with many escapes': (size) => `a: "${'\\n'.repeat(size * 50)}"`,
      comments: (size) => '# b\n'.repeat(size * 5),
      'more than there may be': (size) => lines(size * 500, (index) => `k${index}: 1`),
    },
  }),
  fuzzed({
    name: 'PROXY_CONFIG',
    inputs: fc.oneof(
      fc.json(),
      fc
        .record(
          {
            drainDuration: fc.oneof(fc.string(), fc.integer()),
            tracing: fc.jsonValue(),
            proxyMetadata: fc.jsonValue(),
            extraStatTags: fc.jsonValue(),
            envoyMetricsService: fc.record({ address: fc.string(), tlsSettings: fc.jsonValue() }),
            ['__proto__']: fc.jsonValue(),
            readinessProbe: fc.jsonValue(),
          },
          { requiredKeys: [] },
        )
        .map((value) => JSON.stringify(value)),
    ),
    parse: configOf,
    size: 500,
    growing: {
      'fields that nobody knows': fields((index) => [`k${index}`, 1]),
      'texts of proxyMetadata': (size) =>
        `{"proxyMetadata": ${fields((index) => [`K${index}`, 'v'])(size)}}`,
      'tags that are wrong': (size) => JSON.stringify({ extraStatTags: Array(size).fill(1) }),
      'tags that are right': (size) => JSON.stringify({ extraStatTags: Array(size).fill('a') }),
      'a long text': (size) => JSON.stringify({ discoveryAddress: 'a.'.repeat(size * 10) }),
    },
  }),
  fuzzed({
    name: 'the configuration file',
    inputs: fc
      .record(
        {
          minDelay: fc.jsonValue(),
          tracing: fc.jsonValue(),
          zipkinAddress: fc.jsonValue(),
          envoyMetricsService: fc.jsonValue(),
          watchKube: fc.array(fc.jsonValue()),
          log_target: fc.jsonValue(),
          proxyConfig: fc.jsonValue(),
          environment: fc.dictionary(
            fc.constantFrom('CA_ADDR', 'SECRET_TTL', '__proto__', 'ISTIO_META_A', 'x'),
            fc.jsonValue(),
          ),
          probers: fc.dictionary(
            fc.constantFrom('/app-health/a/readyz', '__proto__', 'x'),
            fc.jsonValue(),
          ),
          sources: fc.array(
            fc.oneof(
              fc.jsonValue(),
              fc.record({
                kind: fc.constantFrom('files', 'http', 'kube', 'consul'),
                name: fc.string(),
                url: fc.string(),
                paths: fc.jsonValue(),
              }),
            ),
          ),
          ['__proto__']: fc.jsonValue(),
        },
        { requiredKeys: [] },
      )
      .map((value) => JSON.stringify(value)),
    parse: async (text) => {
      const file = readConfigFile('a', await parseText(text));
      return resolveConfig({
        given: {},
        leftover: [],
        surroundings: environment(file.environment),
        addresses: [],
        layers: noLayers,
        file,
      });
    },
    size: 500,
    growing: {
      'members that nobody knows': fields((index) => [`k${index}`, 1]),
      sources: (size) =>
        JSON.stringify({
          sources: Array.from({ length: size }, (_, index) => ({
            kind: 'files',
            name: `n${index}`,
            paths: ['a'],
          })),
        }),
      'sources that are wrong': (size) =>
        JSON.stringify({ sources: Array(size).fill({ kind: 'http', a: 1, b: 2 }) }),
      variables: (size) =>
        `{"environment": ${fields((index) => [`ISTIO_META_${index}`, 'v'])(size)}}`,
      'variables that nobody knows': (size) =>
        `{"environment": ${fields((index) => [`V${index}`, 'v'])(size)}}`,
      probers: (size) =>
        `{"probers": ${fields((index) => [`/app-health/a${index}/readyz`, { tcpSocket: { port: 1 } }])(size)}}`,
      'objects to watch': (size) =>
        JSON.stringify({
          watchKube: Array.from({ length: size }, (_, index) => `Secret/a/b${index}`),
        }),
    },
  }),
  fuzzed({
    name: 'labels and annotations',
    inputs: textOf(
      'a',
      '=',
      '"',
      '\\',
      '\\n',
      '\\x41',
      '\\303',
      '\\u00e9',
      '\\U0001F600',
      '\n',
      'proxy.istio.io/config',
    ),
    parse: parseDownwardApi,
    growing: {
      entries: (size) => lines(Math.min(size, 9_000), (index) => `k${index}="v"`),
      'a long value': (size) => `a="${'b'.repeat(size * 20)}"`,
      escapes: (size) => `a="${'\\x41'.repeat(size)}"`,
      quotes: (size) => `a=${'"'.repeat(size)}`,
      backslashes: (size) => `a="${'\\'.repeat(size)}"`,
      'lines without a value': (size) => 'a\n'.repeat(size),
    },
  }),
  fuzzed({
    name: 'templates',
    inputs: textOf(
      '{{',
      '}}',
      '-',
      ' ',
      '.name',
      '.list',
      '.',
      '|',
      'toJSON',
      '/*',
      '*/',
      '\n',
      'a',
      '"',
    ),
    parse: (text) =>
      renderTemplate(
        text,
        new Map<string, string | readonly string[]>([
          ['name', 'value'],
          ['list', ['a', 'b']],
        ]),
      ),
    growing: {
      actions: (size) => '{{ .name }}'.repeat(size),
      braces: (size) => '{'.repeat(size),
      'blanks in an action': (size) => `{{${' '.repeat(size)}x`,
      'blanks in an action that is closed': (size) => `{{ .name ${' '.repeat(size)}x }}`,
      'blanks to trim': (size) => `a${' '.repeat(size)}{{- .name -}}${' '.repeat(size)}b`,
      'a long name': (size) => `{{ ${'.a'.repeat(size)} | }}`,
      bars: (size) => `{{ ${'| '.repeat(size)} }}`,
      'a comment': (size) => `{{/*${'*'.repeat(size)}*/}}`,
      'comments that do not end': (size) => '{{/*'.repeat(size),
    },
  }),
  fuzzed({
    name: 'node metadata in variables',
    inputs: json,
    parse: (text) => [
      environmentMetadata(
        { ISTIO_METAJSON_A: text, ISTIO_META_B: text },
        { problems: [], warnings: [] },
      ),
      podPorts(text),
    ],
    growing: {
      members: fields((index) => [`k${index}`, 1]),
      levels: (size) => '{"a":'.repeat(size) + '1' + '}'.repeat(size),
    },
    size: 500,
  }),
  fuzzed({
    name: 'what may be a secret',
    inputs: textOf(
      'eyJ',
      '.',
      'Bearer ',
      '://',
      ':',
      '@',
      '/',
      'A',
      'a',
      '1',
      'PRIVATE KEY-----',
      ' ',
      'sk-',
    ),
    parse: (text) => looksSecret(text, text),
    growing: {
      'a text': (size) => 'a'.repeat(size * 10),
      URLs: (size) => '://a:'.repeat(size),
      'parts of a JWT': (size) => 'eyJaaaaaaaa.'.repeat(size),
      'starts of a JWT': (size) => 'eyJ'.repeat(size),
      prefixes: (size) => 'sk-'.repeat(size),
      blanks: (size) => `basic${' '.repeat(size)}`,
      digits: (size) => `aA${'1'.repeat(size)}!`,
    },
  }),
  fuzzed({
    name: 'what is shown on a terminal',
    inputs: fc.string({ unit: 'binary' }),
    parse: printable,
    growing: {
      controls: (size) => '\u001b'.repeat(size * 10),
      text: (size) => 'a\n'.repeat(size * 10),
    },
  }),
];
