// Why: docs/decisions/057-no-annotation-ends-the-agent.md
import { isOptional } from './proxy-config.ts';
import type { Layer } from './read-layer.ts';
import type { Problem } from '../../shared/text/value.ts';
import { value } from '../../shared/text/value.ts';

/** The result of parsing a text of the configuration: its value, or why there is none. */
export type LayerContent =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string };

/**
 * The layers of the configuration that are texts, read and parsed, lowest first. Undefined for a
 * text that is missing.
 */
export interface Layers {
  /** `--meshConfig`, a MeshConfig. */
  readonly mesh: { readonly path: string; readonly content: LayerContent } | undefined;
  /** `PROXY_CONFIG`, a ProxyConfig. */
  readonly proxyConfig: LayerContent | undefined;
  /** The pod's annotation `proxy.istio.io/config`, a ProxyConfig. */
  readonly annotation: LayerContent | undefined;
  /** All annotations of the pod. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Other warnings from reading the texts. */
  readonly warnings: readonly string[];
}

/** The layers without any text. */
export const noLayers: Layers = {
  mesh: undefined,
  proxyConfig: undefined,
  annotation: undefined,
  annotations: {},
  warnings: [],
};

interface Text {
  readonly name: string;
  readonly place: Layer['place'];
  readonly content: LayerContent | undefined;
  readonly isAnnotation?: true;
}

/**
 * Converts the texts of the configuration to layers, lowest first. A text that could not be read or
 * parsed is a problem, and not a layer.
 *
 * A mistake in an annotation is only a warning, and the lower layers apply: an annotation must not
 * keep a proxy from serving. In the other texts, only a mistake in an optional field is a warning.
 * (With a wrong status port the Go agent has no status server.) Pure.
 */
export function textLayers({ mesh, proxyConfig, annotation, annotations, warnings }: Layers): {
  readonly layers: readonly Layer[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
} {
  const port = annotations['status.sidecar.istio.io/port'];
  const isPort = port === undefined || port === '' || value.optionalPort.safeParse(port).success;
  const texts: readonly Text[] = [
    meshText(mesh),
    { name: 'PROXY_CONFIG', place: below('PROXY_CONFIG', '.'), content: proxyConfig },
    annotationText('proxy.istio.io/config', annotation),
    annotationText(
      'sidecar.istio.io/discoveryAddress',
      field('discoveryAddress', annotations['sidecar.istio.io/discoveryAddress']),
    ),
    annotationText('status.sidecar.istio.io/port', field('statusPort', isPort ? port : undefined)),
  ];
  const unread = texts.flatMap(({ content, ...text }) =>
    content?.ok === false ? [{ ...text, reason: content.reason }] : [],
  );
  return {
    layers: texts.flatMap(({ name, place, content, isAnnotation }) =>
      content?.ok === true
        ? [
            {
              content: content.value,
              source: () => name,
              place,
              spares: isAnnotation ? () => true : isOptional,
            },
          ]
        : [],
    ),
    problems: unread.flatMap(({ name, reason, isAnnotation }) =>
      isAnnotation ? [] : [{ place: name, text: reason }],
    ),
    warnings: [
      ...warnings,
      ...(isPort
        ? []
        : [
            `annotation status.sidecar.istio.io/port: '${port}' is not a port (1 to 65535, or 0 for none), and is ignored`,
          ]),
      ...unread.flatMap(({ name, reason, isAnnotation }) =>
        isAnnotation ? [`${name}: ${reason}: it is ignored`] : [],
      ),
    ],
  };
}

/** Uses only one field of a MeshConfig. */
function meshText(mesh: Layers['mesh']): Text {
  const name = `mesh file ${mesh?.path ?? ''}`;
  const place = below(`${name}: defaultConfig`, '.');
  if (mesh?.content.ok !== true) return { name, place, content: mesh?.content };
  const { value: meshConfig } = mesh.content;
  if (meshConfig === null) return { name, place, content: undefined };
  if (typeof meshConfig !== 'object' || Array.isArray(meshConfig))
    return { name, place, content: { ok: false, reason: 'not a map of fields' } };
  const { defaultConfig, default_config: snakeCase } = meshConfig as Readonly<
    Record<string, unknown>
  >;
  return { name, place, content: { ok: true, value: defaultConfig ?? snakeCase } };
}

function annotationText(key: string, content: LayerContent | undefined): Text {
  const name = `annotation ${key}`;
  return {
    name,
    place: key === 'proxy.istio.io/config' ? below(name, ': ') : () => name,
    content,
    isAnnotation: true,
  };
}

function field(name: string, text: string | undefined): LayerContent | undefined {
  return text === undefined || text === '' ? undefined : { ok: true, value: { [name]: text } };
}

function below(top: string, separator: string): Layer['place'] {
  return (path) => (path === '' ? top : `${top}${separator}${path}`);
}
