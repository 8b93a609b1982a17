import { createHash } from 'node:crypto';
import { type Document, isMap, isScalar, isSeq, LineCounter, parseAllDocuments, type ParsedNode } from 'yaml';
import { labels, members, type Place, type Read, text } from './members.ts';
import type { AnyResource, Flaw, Kind, Origin } from './model.ts';
import { readDestinationRule } from './read-destination-rule.ts';
import { readPeerAuthentication } from './read-peer-authentication.ts';
import { readServiceEntry, readWorkloadEntry } from './read-service-entry.ts';
import { readSidecar } from './read-sidecar.ts';
import { readVirtualService } from './read-virtual-service.ts';
import type { Workload } from './service-entry.ts';

/** Where a text of resources is from. */
export interface TextPlace {
  readonly source: string;
  readonly path: string;
  /** Of resources that name none. */
  readonly defaultNamespace: string;
}

/** What a text has: its good resources, and what is wrong with the others. */
export interface ReadText {
  readonly resources: readonly AnyResource[];
  readonly flaws: readonly Flaw[];
}

interface ReadKind<K extends Kind> {
  readonly group: 'networking' | 'security';
  readonly read: (namespace: string) => Read<Extract<AnyResource, { readonly kind: K }>['spec']>;
}

const kinds: { readonly [K in Kind]: ReadKind<K> } = {
  ServiceEntry: { group: 'networking', read: readServiceEntry },
  WorkloadEntry: { group: 'networking', read: () => readWorkloadEntry },
  VirtualService: { group: 'networking', read: readVirtualService },
  DestinationRule: { group: 'networking', read: readDestinationRule },
  Sidecar: { group: 'networking', read: () => readSidecar },
  PeerAuthentication: { group: 'security', read: () => readPeerAuthentication },
};

/** Kinds that Istio has, and that are not served yet. */
const later = [
  'Gateway',
  'EnvoyFilter',
  'WorkloadGroup',
  'ProxyConfig',
  'AuthorizationPolicy',
  'RequestAuthentication',
  'Telemetry',
  'WasmPlugin',
];

/**
 * Reads a text of YAML or JSON, which may have several documents. What is wrong in a resource costs
 * that resource alone. Never throws. Pure.
 */
export function readResources(content: string, { source, path, defaultNamespace }: TextPlace): ReadText {
  const lines = new LineCounter();
  const resources: AnyResource[] = [];
  const flaws: Flaw[] = [];
  const originAt = (offset: number): Origin => ({ source, path, line: Math.max(lines.linePos(offset).line, 1) });
  const documents = parseAllDocuments(content, { lineCounter: lines, prettyErrors: false, logLevel: 'error', uniqueKeys: true });
  for (const document of 'empty' in documents ? [] : documents) {
    const [error] = document.errors;
    if (error !== undefined) {
      const reason = `it is no YAML: ${error.message.split('\n')[0] ?? ''}`;
      flaws.push({ key: undefined, origin: originAt(error.pos[0]), field: '', reason, severity: 'error' });
      continue;
    }
    for (const node of itemsOf(document)) {
      const read = readOne(node, document);
      if (read !== undefined) resources.push(read);
    }
  }
  return { resources, flaws };

  function readOne(node: ParsedNode, document: Document.Parsed): AnyResource | undefined {
    const value: unknown = valueOf(node, document);
    const origin = originAt(node.range[0]);
    const head = headOf(value);
    const namespace = head.namespace === '' ? defaultNamespace : head.namespace;
    const isKnown = Object.hasOwn(kinds, head.kind);
    const key = head.name !== '' && isKnown ? `${head.kind}/${namespace}/${head.name}` : undefined;
    const bad: string[] = [];
    const tell: Place['tell'] = (field, reason, severity) => {
      if (severity === 'error') bad.push(field);
      const offset = offsetOf(node, field) ?? node.range[0];
      flaws.push({ key, origin: originAt(offset), field, reason, severity });
    };
    if (!isKnown) {
      const group = /^(?:networking|security|telemetry|extensions)\.istio\.io\//.test(head.apiVersion);
      if (group && later.includes(head.kind)) tell('kind', `${head.kind} is not served yet, and has no effect`, 'warning');
      else
        tell(
          'kind',
          `${head.kind === '' ? 'it is missing' : `'${head.kind}' is not known`}: one of ${Object.keys(kinds).join(', ')}`,
          'error',
        );
      return undefined;
    }
    const kind = head.kind as Kind;
    const { group, read } = kinds[kind];
    if (!new RegExp(`^${group}\\.istio\\.io/v1(?:alpha3|beta1)?$`).test(head.apiVersion))
      tell('apiVersion', `'${head.apiVersion}' is not ${group}.istio.io/v1, v1beta1 or v1alpha3`, 'error');
    const at: Place = { parent: undefined, step: '', tell };
    const ignored = ['generateName', 'generation', 'resourceVersion', 'uid', 'selfLink', 'managedFields', 'ownerReferences', 'finalizers', 'deletionTimestamp', 'deletionGracePeriodSeconds']; // prettier-ignore
    const made = members(value, at, [], (get) => {
      get('apiVersion', text);
      get('kind', text);
      get('status', () => undefined);
      const metadata = get('metadata', (inner, place) =>
        members(inner, place, [], (of) => {
          for (const name of ignored) of(name, () => undefined);
          of('name', text);
          of('namespace', text);
          return { labels: of('labels', labels), annotations: of('annotations', labels), created: of('creationTimestamp', text) };
        }),
      );
      return { metadata, spec: get('spec', read(namespace) as Read<AnyResource['spec']>) };
    });
    if (head.name === '') tell('metadata.name', 'it is missing', 'error');
    if (bad.length > 0) return undefined;
    const { labels: named, annotations, created } = made.metadata;
    const createdMs = created === '' ? 0 : Date.parse(created) || 0;
    // What selects a WorkloadEntry selects by its labels as a resource too.
    const spec =
      kind === 'WorkloadEntry' ? { ...(made.spec as Workload), labels: { ...(made.spec as Workload).labels, ...named } } : made.spec;
    const said = { kind, namespace, name: head.name, labels: named, annotations, createdMs, spec };
    return { ...said, version: versionOf(said), origin } as AnyResource;
  }
}

/** The resources of a document: of a `List` its items. */
function itemsOf(document: Document.Parsed): readonly ParsedNode[] {
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) return [];
  if (isMap(contents) && (contents.get('kind') as unknown) === 'List') {
    const items = contents.get('items', true);
    return isSeq(items) ? (items.items as ParsedNode[]) : [];
  }
  return [contents];
}

function valueOf(node: ParsedNode, document: Document.Parsed): unknown {
  try {
    return node.toJS(document);
  } catch {
    return undefined; // too many aliases
  }
}

function headOf(value: unknown) {
  const of = (inner: unknown, name: string): unknown =>
    typeof inner === 'object' && inner !== null ? (inner as Readonly<Record<string, unknown>>)[name] : undefined;
  const words = (found: unknown) => (typeof found === 'string' ? found : '');
  const metadata = of(value, 'metadata');
  return {
    apiVersion: words(of(value, 'apiVersion')),
    kind: words(of(value, 'kind')),
    name: words(of(metadata, 'name')),
    namespace: words(of(metadata, 'namespace')),
  };
}

/** Where a field is, or the nearest that is there around it. */
function offsetOf(node: ParsedNode, field: string): number | undefined {
  let found: number | undefined;
  let inner: unknown = node;
  for (const step of field.split(/\.|(?=\[)/)) {
    const index = /^\[(\d+)\]$/.exec(step)?.[1];
    if (index !== undefined && isSeq(inner)) inner = inner.items[Number(index)];
    else if (isMap(inner)) {
      const pair = inner.items.find(({ key }) => String(key) === step);
      const key = pair?.key as ParsedNode | undefined;
      if (key?.range !== undefined) found = key.range[0];
      inner = pair?.value;
      continue;
    } else return found;
    const { range } = (inner ?? {}) as Partial<ParsedNode>;
    if (range !== undefined) found = range[0];
  }
  return found;
}

/** Equal content, equal version: maps are in the order of their names. */
function versionOf(said: unknown): string {
  const canonical = JSON.stringify(said, (_, value: unknown) => {
    if (value instanceof Map) return [...(value as Map<unknown, unknown>)];
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))); // prettier-ignore
  });
  return createHash('sha256').update(canonical).digest('hex').slice(0, 16);
}
