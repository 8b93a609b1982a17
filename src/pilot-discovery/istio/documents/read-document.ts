import { ownMember } from '../../../shared/text/own-member.ts';
import { closedSpec } from './closed-spec.ts';
import { headOf } from './document-head.ts';
import { foreignDocument, isOfIstio } from './foreign-document.ts';
import { groupVersions } from './group-versions.ts';
import { type Head, isOfCluster, kinds, type ReadKind } from './kinds.ts';
import { controller, objectAnnotations, objectName } from '../hosts/kubernetes-metadata.ts';
import { matchLabels } from '../fields/match-labels.ts';
import { ignored, members, type Place, text, texts } from '../fields/members.ts';
import type { AnyResource, Flaw, Origin, WriteBody, WrittenKind } from './model.ts';
import { resourceFlaws, type ResourceFlaws } from './resource-flaws.ts';
import type { Workload } from '../hosts/service-entry.ts';
import type { Item } from './text-items.ts';

/** The origin of a text with resources. */
export interface TextPlace {
  readonly source: string;
  readonly path: string;
  /** The namespace of resources that name none. */
  readonly defaultNamespace: string;
  /** Undefined if no other control plane may read the resources. */
  readonly writeBody?: WriteBody | undefined;
}

/** A document as it was read. */
export interface ReadDocument {
  /** Undefined for a document that is refused, or that belongs to another program. */
  readonly resource?: AnyResource | undefined;
  /** Closes what a refused resource would restrict, if the resource has no good version. */
  readonly closing?: AnyResource | undefined;
  readonly flaws: readonly Flaw[];
}

/**
 * Whether a kind belongs to another tool. Some have the same name: `Service` of Knative, `Gateway`
 * of the Gateway API.
 */
function isForeignKind({ kind, apiVersion }: Pick<Head, 'kind' | 'apiVersion'>): boolean {
  if (!Object.hasOwn(kinds, kind)) return true;
  if (apiVersion.startsWith('gateway.networking.')) return true;
  const { group } = kinds[kind as WrittenKind];
  if (group === 'core') return apiVersion.includes('/');
  return group === 'discovery.k8s.io' && apiVersion !== '' && !apiVersion.startsWith(`${group}/`);
}

/** Kinds of Istio that are not served yet. */
const later = ['EnvoyFilter', 'WasmPlugin'];

/** The metadata that only an API server writes. */
const ofTheServer = [
  'generation',
  'resourceVersion',
  'uid',
  'selfLink',
  'managedFields',
  'finalizers',
  'deletionGracePeriodSeconds',
];

/** Reads one document. Never throws. Pure. */
export function readDocument(
  { content: contentOf, line, lineOf }: Item,
  { source, path, defaultNamespace, writeBody }: TextPlace,
): ReadDocument {
  const content = contentOf();
  const origin: Origin = { source, path, line };
  if (!content.ok) return flawOf(origin, '', content.reason, 'error');
  const { value } = content;
  const written = headOf(value);
  const foreign = isForeignKind(written) ? foreignDocument(written, value) : undefined;
  if (foreign !== undefined) return flawOf(origin, 'kind', foreign, 'info');
  const namespace = isOfCluster(written.kind) ? '' : written.namespace || defaultNamespace;
  const head = { ...written, namespace };
  if (!isWrittenKind(head.kind)) {
    const flaws = resourceFlaws(undefined, origin, lineOf);
    tellUnknownKind(head, flaws.tell);
    return { flaws: flaws.list() };
  }
  const key = head.name === '' ? undefined : `${head.kind}/${namespace}/${head.name}`;
  const flaws = resourceFlaws(key, origin, lineOf);
  const read = readKnown({ value, head, kind: head.kind, origin, writeBody }, flaws);
  return { ...read, flaws: flaws.list() };
}

const isWrittenKind = (kind: string): kind is WrittenKind => Object.hasOwn(kinds, kind);

function flawOf(
  origin: Origin,
  field: string,
  reason: string,
  severity: Flaw['severity'],
): ReadDocument {
  return { flaws: [{ key: undefined, origin, field, reason, severity }] };
}

function tellUnknownKind({ apiVersion, kind }: Head, tell: Place['tell']): void {
  if (isOfIstio(apiVersion) && later.includes(kind)) {
    tell('kind', `${kind} is not served yet, and has no effect`, 'warning');
    return;
  }
  const flaw = kind === '' ? 'it is missing' : `'${kind}' is not known`;
  tell('kind', `${flaw}: one of ${Object.keys(kinds).join(', ')}`, 'error');
}

/** A document of a known kind. */
interface KnownDocument {
  readonly value: unknown;
  /** With the namespace that the resource is in. */
  readonly head: Head;
  readonly kind: WrittenKind;
  readonly origin: Origin;
  readonly writeBody: WriteBody | undefined;
}

function readKnown(
  document: KnownDocument,
  flaws: ResourceFlaws,
): Pick<ReadDocument, 'resource' | 'closing'> {
  const { value, head, kind, origin } = document;
  const reader = kinds[kind] as ReadKind<WrittenKind>;
  const version = groupVersions[reader.group];
  if (!version.right.test(head.apiVersion))
    flaws.tell('apiVersion', `'${head.apiVersion}' is not ${version.text}`, 'error');
  // A newer Istio has more fields. A resource that restricts access is refused if it has such a
  // field.
  const place: Place = {
    parent: undefined,
    step: '',
    unknown: reader.group === 'security' ? 'error' : 'warning',
    ifWrong: 'refuse',
    tell: flaws.tell,
  };
  const { metadata, spec } = members(value, place, [], (get) => {
    get('apiVersion', text);
    get('kind', text);
    const metadata = get('metadata', metadataOf(kind, reader));
    if ('readWhole' in reader) {
      const spec = reader.readWhole(get, { ...head, ...metadata }, place);
      // Drops the annotations: Kubernetes records its own actions there.
      return { metadata: { ...metadata, annotations: {} }, spec };
    }
    get('status', ignored);
    return { metadata, spec: get('spec', reader.read(head)) };
  });
  if (head.name === '') flaws.tell('metadata.name', 'it is missing', 'error');
  const { labels, annotations, created } = metadata;
  const content: Content = {
    kind,
    namespace: head.namespace,
    name: head.name,
    labels,
    annotations,
    createdMs: created === '' ? 0 : Date.parse(created) || 0,
    // A selector also matches the labels in the metadata of a WorkloadEntry.
    spec: kind === 'WorkloadEntry' ? labelled(spec as Workload, labels) : spec,
  };
  return flaws.wrongFields().length === 0
    ? { resource: withBody({ ...content, origin } as AnyResource, document, 'good') }
    : { closing: closingResource(document, content, flaws.wrongFields()) };
}

const metadataOf = (kind: WrittenKind, reader: ReadKind<WrittenKind>) => {
  const isKubernetes = 'readWhole' in reader;
  const named = isKubernetes ? reader.named : undefined;
  return (value: unknown, place: Place) =>
    members(value, place, [], (get) => {
      for (const name of ofTheServer) get(name, ignored);
      get('name', named === undefined ? text : objectName(kind, named));
      get('namespace', text);
      return {
        labels: get('labels', isKubernetes ? matchLabels : texts),
        annotations: get('annotations', isKubernetes ? objectAnnotations : texts),
        created: get('creationTimestamp', text),
        deletionTimestamp: get('deletionTimestamp', text),
        generateName: get('generateName', text),
        owner: get('ownerReferences', controller),
      };
    });
};

const labelled = (workload: Workload, labels: Readonly<Record<string, string>>): Workload => ({
  ...workload,
  labels: { ...workload.labels, ...labels },
});

/** A resource without its origin. */
type Content = Pick<
  AnyResource,
  'kind' | 'namespace' | 'name' | 'labels' | 'annotations' | 'createdMs'
> & { readonly spec: unknown; readonly closes?: string };

/** Returns a resource with its body for other control planes, if any may read it. */
function withBody(
  resource: AnyResource,
  { value, kind, writeBody }: KnownDocument,
  verdict: Parameters<WriteBody>[2],
): AnyResource {
  const body = writeBody?.(kind, value as Readonly<Record<string, unknown>>, verdict);
  return body === undefined ? resource : { ...resource, body };
}

/** Undefined if the kind restricts nothing, or if no spec of it can be read. */
function closingResource(
  document: KnownDocument,
  refused: Content,
  wrongFields: readonly string[],
): AnyResource | undefined {
  const { value, head, kind, origin } = document;
  const reader = kinds[kind] as ReadKind<WrittenKind>;
  if ('readWhole' in reader || reader.ifRefused === undefined) return undefined;
  const { group, ifRefused, read } = reader;
  const isOutside = wrongFields.some((field) => !/^(?:spec|metadata|apiVersion)\b/.test(field));
  const spec = isOutside
    ? undefined
    : ownMember(value as Readonly<Record<string, unknown>>, 'spec');
  const closed = closedSpec(read(head), ifRefused, spec, group === 'security');
  if (closed === undefined) return undefined;
  const name = head.name === '' ? `${origin.path}:${origin.line}` : head.name;
  const { consequence } = ifRefused;
  const closing = { ...refused, name, spec: closed, closes: consequence, origin } as AnyResource;
  return withBody(closing, document, 'refused');
}
