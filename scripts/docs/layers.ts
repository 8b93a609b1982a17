import { istioFields } from '../../src/pilot-agent/config/istio-fields.ts';
import { proxyConfigNode } from '../../src/pilot-agent/config/json-schema.ts';
import { stringify } from 'yaml';
import { flags } from '../../src/pilot-agent/config/flags.ts';
import {
  examples,
  fileExamples,
  messageExamples,
  ofFile,
  ofSources,
  sourceExamples,
} from '../../src/pilot-agent/config/schema-texts.ts';
import type { Flag } from '../../src/shared/text/flag.ts';
import {
  block,
  code,
  list,
  page,
  paragraph,
  section,
  sentence,
  shortRow,
  table,
} from './markdown.ts';

/**
 * The layers of the configuration, the lowest first. A test compares them with the layers that the
 * agent reads.
 */
export const layers: readonly (readonly [name: string, what: string])[] = [
  ['Defaults', 'Defaults of the flags'],
  ['`STACKDRIVER_TRACING_ENABLED`', '`tracing`'],
  ['`--meshConfig`', '`defaultConfig` of a MeshConfig, YAML or JSON'],
  ['`PROXY_CONFIG`', 'A ProxyConfig, YAML or JSON'],
  ['Annotation `proxy.istio.io/config`', 'A ProxyConfig, YAML or JSON'],
  ['Annotation `sidecar.istio.io/discoveryAddress`', '`discoveryAddress`'],
  ['Annotation `status.sidecar.istio.io/port`', '`statusPort`'],
  [
    '`--config`',
    'A [configuration file](../guide/configuration-file.md) of the agent, YAML or JSON',
  ],
  [
    'A variable of a flag',
    'Field of the flag: see [variables](environment.md#sources-of-configuration)',
  ],
  ['A flag that is given', 'Field of the flag'],
  ['`ISTIO_BOOTSTRAP`', '`proxyBootstrapTemplatePath`'],
];

interface Field {
  readonly description?: string;
  readonly default?: string | number | boolean;
  readonly properties?: Readonly<Record<string, Field>>;
}

/** Messages that are the type of several fields. */
const messages = ['tlsSettings', 'tcpKeepalive'] as const;

/**
 * The fields of a ProxyConfig, or of one of its messages, by their paths. A field comes before the
 * fields below it.
 */
function fields({ properties = {} }: Field, path = ''): readonly (readonly [string, Field])[] {
  return Object.entries(properties)
    .flatMap(([name, field]) => [
      [`${path}${name}`, field] as const,
      ...(messages.some((message) => message === name) ? [] : fields(field, `${path}${name}.`)),
    ])
    .filter(([, { description }]) => description !== undefined);
}

const flagExamples = new Map(
  Object.entries<Flag>(flags).map(([name, { field, example }]) => [field ?? name, example]),
);

/** The example of a field, in YAML. Throws if there is none. */
export function exampleOf(path: string): string {
  const example = examples[path] ?? flagExamples.get(path);
  if (example === undefined) throw new Error(`schema-texts.ts has no example of ${path}`);
  return example;
}

/** The paths of all fields of a ProxyConfig with an example. */
export function fieldPaths(): readonly string[] {
  return fields(proxyConfigNode() as Field).map(([path]) => path);
}

/** The example of a member of a source. Throws if there is none. */
function sourceExample(member: string): string {
  const source = sourceExamples.find((example) => Object.hasOwn(example, member));
  if (source === undefined) throw new Error(`schema-texts.ts has no example of ${member}`);
  return stringify(source[member as keyof typeof source], { collectionStyle: 'flow' }).trimEnd();
}

export function layersPage(): string {
  const schema = proxyConfigNode() as Field;
  const all = fields(schema);
  const rows = all
    .filter(([path]) => !Object.hasOwn(istioFields.shape, path))
    .map(([path, { description = '', default: standard }]) =>
      shortRow(
        [
          code(path),
          code(exampleOf(path)),
          standard === undefined || standard === '' ? '–' : code(String(standard)),
        ],
        description,
      ),
    );
  const passedOn = all.filter(([path]) => Object.hasOwn(istioFields.shape, path));
  return page(
    'Layers of the configuration',
    paragraph(
      "The fields of Istio's ProxyConfig come in layers. This table has the lowest layer first. A field of a later layer replaces the " +
        'same field of the layers before it. A map, a list or a message is replaced as a whole.',
    ),
    table(['Layer', 'Content'], layers),
    paragraph(
      'The agent reads the annotations of the pod from the file `./etc/istio/pod/annotations`, which the downward API of Kubernetes writes. A mistake in an annotation is ignored with a warning.',
    ),
    paragraph(
      'Names of fields are in camel case or in snake case. `null` sets nothing. The agent checks each value, even if a later layer ' +
        'replaces it.',
    ),
    paragraph(
      'The agent sends the whole ProxyConfig to the control plane, in `PROXY_CONFIG` of the metadata of the node. This includes fields ' +
        'that only the control plane reads and, with a warning, unknown fields. It sends no token, no password and no ' +
        'private key, and only those `proxyMetadata` that begin with `ISTIO_META`.',
    ),
    paragraph(
      '`pilot-agent config print` shows each value and the layer that it comes from. ' +
        '[`schema/pilot-agent.schema.json`](../../schema/pilot-agent.schema.json) is the JSON Schema of a configuration file, with a definition of ProxyConfig.',
    ),
    section(
      'Fields of ProxyConfig',
      paragraph('Examples are in YAML. [Flags](flags.md) describes fields with a flag in detail.'),
      table(['Field', 'Example', 'Default', 'Meaning'], rows),
      paragraph(
        'The generated bootstrap sends traces for `tracing.stackdriver` by OpenTelemetry. Only a template uses its `debug` and its limits.',
      ),
    ),
    section(
      'Fields for the control plane alone',
      paragraph(
        'The agent checks the types of these fields, because istiod serves nothing to a proxy that sends a field of a wrong type.',
      ),
      table(
        ['Field', 'Example', 'Meaning'],
        passedOn.map(([path, { description = '' }]) =>
          shortRow([code(path), code(exampleOf(path))], description),
        ),
      ),
    ),
    section(
      'Fields of a configuration file',
      paragraph(
        '[The configuration file](../guide/configuration-file.md) has flags by name, such as `statusPort: 15019`, and these fields:',
      ),
      table(
        ['Field', 'Example', 'Meaning'],
        Object.entries(ofFile).map(([name, text]) => [
          code(name),
          code(fileExamples[name as keyof typeof ofFile]),
          sentence(text),
        ]),
      ),
    ),
    section(
      'Fields of a source',
      list(
        Object.entries(ofSources).map(
          ([name, text]) => `${code(`${name}: ${sourceExample(name)}`)}: ${text}`,
        ),
      ),
    ),
    ...messages.map((message) =>
      section(
        message,
        list(
          fields(schema.properties?.['envoyMetricsService']?.properties?.[message] ?? {}).map(
            ([name, { description = '' }]) => `${code(name)}: ${description}`,
          ),
        ),
        block('yaml', stringify({ [message]: messageExamples[message] }).trimEnd()),
      ),
    ),
  );
}
