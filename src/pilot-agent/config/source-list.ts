import * as z from 'zod/mini';
import { meant } from '../../shared/text/one-edit.ts';
import { pathText } from './read-layer.ts';
import type { Problem } from '../../shared/text/value.ts';
import type { SourceConfig } from './source-config.ts';
import { type Reach, sourceDefaults, sourceValues } from './source-values.ts';
import { value } from '../../shared/text/value.ts';

const uses = ['restart', 'envoy', 'merge', 'runtime', 'secret'] as const;
const { file, time } = { file: z.optional(value.text), time: z.optional(sourceValues.period) };
const common = {
  name: value.parsed(
    'a name without spaces',
    (text) => (/^[^\s,]+$/.test(text) ? text : undefined),
    /^[^\s,]+$/,
  ),
  as: z.optional(value.oneOf(...uses)),
  at: file,
};

/**
 * A source of each kind, in the format of a configuration file. Members with a default are
 * optional.
 */
const forms = {
  files: z.strictObject({
    kind: z.literal('files'),
    ...common,
    paths: sourceValues.paths.check(z.minLength(1, 'names no path')),
  }),
  http: z.strictObject({
    kind: z.literal('http'),
    ...common,
    url: sourceValues.url,
    every: time,
    timeout: time,
    largest: z.optional(sourceValues.size),
    caFile: file,
    tokenFile: file,
  }),
  kube: z.strictObject({
    kind: z.literal('kube'),
    ...common,
    resource: sourceValues.resource,
    namespace: sourceValues.namespace,
    object: sourceValues.object,
    key: file,
    kubeconfig: file,
  }),
  consul: z.strictObject({
    kind: z.literal('consul'),
    ...common,
    address: z.optional(sourceValues.url),
    prefix: z.optional(value.name),
    service: z.optional(value.name),
    caFile: file,
    tokenFile: file,
  }),
};
const kinds = Object.keys(forms).join(', ');
const members = [...new Set(Object.values(forms).flatMap((form) => Object.keys(form.shape)))];

/** `sources` of a configuration file. */
export const sourceList = z.array(
  z.discriminatedUnion(
    'kind',
    [forms.files, forms.http, forms.kube, forms.consul],
    `is not a source: its kind must be one of ${kinds}`,
  ),
  'is not a list of sources',
);
type Listed = z.output<typeof sourceList>[number];

/**
 * Returns the sources that a configuration file lists, and all mistakes by their path: `[1].every`.
 * Pure.
 */
export function readSourceList(content: unknown): {
  readonly count: number;
  readonly makeSources: (reach: Reach) => readonly SourceConfig[];
  readonly problems: readonly Problem[];
} {
  const result = z.safeParse(sourceList, content);
  const listed = result.data ?? [];
  const issues = (result.error?.issues ?? []).flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({
          place: pathText([...issue.path, key]),
          text: unknownText(key, members),
        }))
      : [{ place: pathText(issue.path), text: issue.message }],
  );
  const others = listed.flatMap((source, index) =>
    flaws(source).map(([member, text]) => ({ place: `[${index}].${member}`, text })),
  );
  return {
    count: listed.length,
    makeSources: (reach) => listed.map((source) => whole(source, reach)),
    problems: [...issues, ...others],
  };
}

/** Returns the message for an unknown name. Pure. */
export function unknownText(name: string, candidates: readonly string[]): string {
  const right = meant(name, candidates);
  return `is not known${right === undefined ? '' : `: did you mean ${right}?`}`;
}

/** Returns the contradictions between the members of a source. */
function flaws(source: Listed): readonly (readonly [member: string, text: string])[] {
  const isAside = source.at !== undefined && source.as !== 'merge';
  const named =
    source.kind === 'consul'
      ? [source.prefix, source.service].filter((text) => text !== undefined).length
      : 1;
  return [
    ...(isAside ? [['at', 'has no effect unless as is merge'] as const] : []),
    ...(named === 1
      ? []
      : [['prefix', 'a source of Consul has either prefix or service'] as const]),
  ];
}

function whole(source: Listed, { kubeconfig, consul }: Reach): SourceConfig {
  const { kind, name, at: fieldPath = '' } = source;
  switch (kind) {
    case 'files':
      return { kind, name, as: source.as ?? 'restart', at: fieldPath, paths: source.paths };
    case 'http': {
      const { as = 'envoy', url, caFile = '', tokenFile = '', every, timeout, largest } = source;
      const { http } = sourceDefaults;
      return {
        kind,
        name,
        as,
        at: fieldPath,
        url,
        every: every ?? http.every,
        timeout: timeout ?? http.timeout,
        largest: largest ?? http.largest,
        caFile,
        tokenFile,
      };
    }
    case 'kube': {
      const { as, resource, namespace, object, key = '', kubeconfig: path = kubeconfig } = source;
      return {
        kind,
        name,
        as: as ?? sourceDefaults.kube(resource),
        at: fieldPath,
        resource,
        namespace,
        object,
        key,
        kubeconfig: path,
      };
    }
    case 'consul': {
      const { as = 'restart', address, prefix = '', service } = source;
      // A token is only for the server that it was given for.
      const reach = address === undefined ? consul : { address, caFile: '', tokenFile: '' };
      const { caFile = reach.caFile, tokenFile = reach.tokenFile } = source;
      const watch = service === undefined ? { prefix } : { service };
      return { kind, name, as, at: fieldPath, address: reach.address, watch, caFile, tokenFile };
    }
  }
}
