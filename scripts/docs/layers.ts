import { istioFields } from '../../src/pilot-agent/config/istio-fields.ts';
import { proxyConfigNode } from '../../src/pilot-agent/config/json-schema.ts';
import { code, list, page, paragraph, section, shortRow, table } from './markdown.ts';

/**
 * The layers of the configuration, the lowest first. A test compares them with those that are read.
 */
export const layers: readonly (readonly [name: string, what: string])[] = [
  ['Defaults', 'Those of the flags'],
  ['`STACKDRIVER_TRACING_ENABLED`', '`tracing`'],
  ['`--meshConfig`', '`defaultConfig` of a MeshConfig, YAML or JSON'],
  ['`PROXY_CONFIG`', 'A ProxyConfig, YAML or JSON'],
  ['Annotation `proxy.istio.io/config`', 'A ProxyConfig, YAML or JSON'],
  ['Annotation `sidecar.istio.io/discoveryAddress`', '`discoveryAddress`'],
  [
    'Annotation `status.sidecar.istio.io/port`',
    '`statusPort`. A wrong one is ignored with a warning',
  ],
  [
    '`--config`',
    'A [configuration file](../guide/configuration-file.md) of the agent, YAML or JSON',
  ],
  [
    'A variable of a flag',
    'The same as the flag: [variables](environment.md#sources-of-configuration)',
  ],
  ['A flag that is given', 'Its field'],
  ['`ISTIO_BOOTSTRAP`', '`proxyBootstrapTemplatePath`'],
];

interface Field {
  readonly description?: string;
  readonly default?: string | number | boolean;
  readonly properties?: Readonly<Record<string, Field>>;
}

/** Messages that several fields have. */
const messages = ['tlsSettings', 'tcpKeepalive'];

/**
 * The fields of a ProxyConfig by their paths, each before the fields below it; of a message itself.
 */
function fields({ properties = {} }: Field, path = ''): readonly (readonly [string, Field])[] {
  return Object.entries(properties)
    .flatMap(([name, field]) => [
      [`${path}${name}`, field] as const,
      ...(messages.includes(name) ? [] : fields(field, `${path}${name}.`)),
    ])
    .filter(([, { description }]) => description !== undefined);
}

export function layersPage(): string {
  const schema = proxyConfigNode() as Field;
  const all = fields(schema);
  const rows = all
    .filter(([path]) => !Object.hasOwn(istioFields.shape, path))
    .map(([path, { description = '', default: standard }]) =>
      shortRow(
        [code(path), standard === undefined || standard === '' ? '–' : code(String(standard))],
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
    table(['Layer', 'What it sets'], layers),
    paragraph(
      'The annotations are those of the pod, in the file `./etc/istio/pod/annotations`, which the downward API of Kubernetes writes.',
    ),
    paragraph(
      'Names of fields are in camel case or in snake case. `null` sets nothing. A value is checked in its layer, even if another layer ' +
        'replaces it.',
    ),
    paragraph(
      'The agent sends the whole ProxyConfig to the control plane, in `PROXY_CONFIG` of the metadata of the node: the fields that it uses, the fields ' +
        'that only the control plane reads, and, with a warning, unknown fields. It sends no token, no password and no ' +
        'private key, and only those `proxyMetadata` that begin with `ISTIO_META`.',
    ),
    paragraph(
      '`pilot-agent config print` shows each value and the layer that it comes from. ' +
        '[`schema/pilot-agent.schema.json`](../../schema/pilot-agent.schema.json) is the JSON Schema of a configuration file. ProxyConfig is a definition in it.',
    ),
    section(
      'Fields of ProxyConfig',
      paragraph('The page of [flags](flags.md) says more of a field that has a flag.'),
      table(['Field', 'Default', 'Meaning'], rows),
    ),
    section(
      'Fields for the control plane alone',
      paragraph(
        'The agent checks their types, since istiod serves nothing to a proxy of which one is wrong.',
      ),
      table(
        ['Field', 'Meaning'],
        passedOn.map(([path, { description = '' }]) => shortRow([code(path)], description)),
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
      ),
    ),
  );
}
