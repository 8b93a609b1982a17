import * as yaml from 'yaml';
import { parseYamlInSteps } from '../../shared/text/parse-yaml.ts';
import { quickYaml } from '../../shared/text/quick-yaml.ts';
import { atOnce, type Steps } from '../../shared/text/steps.ts';
import { ignored, members, type Place, text, texts } from './members.ts';
import { contentVersion } from './content-version.ts';
import { closedSpec } from './closed-spec.ts';
import { foreignDocument, isOfIstio } from './foreign-document.ts';
import { groupVersions } from './group-versions.ts';
import { type Head, isOfCluster, kinds, type ReadKind } from './kinds.ts';
import { controller } from './kubernetes-metadata.ts';
import type { AnyResource, Flaw, Origin, WrittenKind } from './model.ts';
import type { Workload } from './service-entry.ts';
import { type Item, itemsOf } from './text-items.ts';
import { ownMember } from '../../shared/text/own-member.ts';

/** The origin of a text with resources. */
export interface TextPlace {
  readonly source: string;
  readonly path: string;
  /** The namespace of resources that name none. */
  readonly defaultNamespace: string;
}

/** The good resources of a text, and the flaws of the others. */
export interface ReadText {
  readonly resources: readonly AnyResource[];
  readonly flaws: readonly Flaw[];
  /** Resources that close what a refused resource would restrict, if it has no good version. */
  readonly closing: readonly AnyResource[];
}

/**
 * The largest number of tokens in a document that the quick parser cannot read. Such a document is
 * composed in one step.
 */
const tokens = 100_000;

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

/** The largest number of reported flaws of one resource. */
const mostFlaws = 20;

/** Kinds of Istio that are not served yet. */
const later = ['EnvoyFilter', 'WorkloadGroup', 'WasmPlugin'];

/**
 * Reads a text of YAML or JSON with one or more documents. A flaw in one resource does not affect
 * the others. Never throws. Pure.
 */
export function readResources(content: string, place: TextPlace): ReadText {
  return atOnce(readResourcesInSteps(content, place));
}

/** Reads resources in steps. */
export function* readResourcesInSteps(content: string, place: TextPlace): Steps<ReadText> {
  const quick = quickYaml(content);
  if (quick !== undefined && !isList(quick.value)) {
    const { value, line, lineOf } = quick;
    const item: Item = { content: () => ({ ok: true, value }), line, lineOf };
    return yield* readItems(value === null ? [] : [item], place);
  }
  const parsed = yield* parseYamlInSteps(yaml, content, { uniqueKeys: true }, { tokens });
  if (!parsed.ok)
    return { resources: [], closing: [], flaws: [flawOf(place, parsed.line, parsed.reason)] };
  const lineAt = (offset: number) => Math.max(parsed.lines.linePos(offset).line, 1);
  return yield* readItems(itemsOf(parsed.documents, lineAt), place);
}

/**
 * Reads an object of an API, which has the members of a document and no lines. Never throws. Pure.
 */
export function readObject(value: unknown, place: TextPlace): ReadText {
  const item: Item = { content: () => ({ ok: true, value }), line: 0, lineOf: () => 0 };
  return atOnce(readItems([item], place));
}

/** Returns a text of the user in one line, for a sentence. */
const oneLine = (text: string): string => text.replaceAll('\n', '\\n');

const isList = (value: unknown): boolean => headOf(value).kind === 'List';

/** Returns a flaw of a whole text or document. */
function flawOf({ source, path }: TextPlace, line: number, reason: string): Flaw {
  return { key: undefined, origin: { source, path, line }, field: '', reason, severity: 'error' };
}

function* readItems(
  items: Iterable<Item>,
  { source, path, defaultNamespace }: TextPlace,
): Steps<ReadText> {
  const resources: AnyResource[] = [];
  const flaws: Flaw[] = [];
  const closing: AnyResource[] = [];
  for (const item of items) {
    const read = readOne(item);
    if (read !== undefined) resources.push(read);
    yield;
  }
  return { resources, flaws, closing };

  function readOne({ content: contentOf, line, lineOf }: Item): AnyResource | undefined {
    const content = contentOf();
    const value = content.ok ? content.value : undefined;
    const origin: Origin = { source, path, line };
    if (!content.ok) {
      flaws.push({ key: undefined, origin, field: '', reason: content.reason, severity: 'error' });
      return undefined;
    }
    const head = headOf(value);
    const namespace = isOfCluster(head.kind) ? '' : head.namespace || defaultNamespace;
    const isKnown = Object.hasOwn(kinds, head.kind);
    const key = head.name !== '' && isKnown ? `${head.kind}/${namespace}/${head.name}` : undefined;
    const wrongFields: string[] = [];
    let count = 0;
    const tell: Place['tell'] = (field, reason, severity) => {
      if (severity === 'error') wrongFields.push(field);
      if ((count += 1) > mostFlaws) return;
      flaws.push({
        key,
        origin: { ...origin, line: lineOf(field) },
        field: oneLine(field),
        reason: oneLine(reason),
        severity,
      });
    };
    const foreign = isForeignKind(head) ? foreignDocument(head, value) : undefined;
    if (foreign !== undefined) {
      flaws.push({ key: undefined, origin, field: 'kind', reason: foreign, severity: 'info' });
      return undefined;
    }
    if (!isKnown) {
      if (isOfIstio(head.apiVersion) && later.includes(head.kind))
        tell('kind', `${head.kind} is not served yet, and has no effect`, 'warning');
      else
        tell(
          'kind',
          `${head.kind === '' ? 'it is missing' : `'${head.kind}' is not known`}: one of ${Object.keys(kinds).join(', ')}`,
          'error',
        );
      return undefined;
    }
    const kind = head.kind as WrittenKind;
    const reader = kinds[kind] as ReadKind<WrittenKind>;
    const isSecurity = reader.group === 'security';
    const named = { ...head, namespace };
    const version = groupVersions[reader.group];
    if (!version.right.test(head.apiVersion))
      tell('apiVersion', `'${head.apiVersion}' is not ${version.text}`, 'error');
    // A newer Istio has more fields. A resource that restricts access is refused if it has such a
    // field.
    const resourcePlace: Place = {
      parent: undefined,
      step: '',
      unknown: isSecurity ? 'error' : 'warning',
      ifWrong: 'refuse',
      tell,
    };
    const ofTheServer = [
      'generation',
      'resourceVersion',
      'uid',
      'selfLink',
      'managedFields',
      'finalizers',
      'deletionTimestamp',
      'deletionGracePeriodSeconds',
    ];
    const resource = members(value, resourcePlace, [], (get) => {
      get('apiVersion', text);
      get('kind', text);
      const metadata = get('metadata', (inner, place) =>
        members(inner, place, [], (metadataMember) => {
          for (const name of ofTheServer) metadataMember(name, ignored);
          metadataMember('name', text);
          metadataMember('namespace', text);
          return {
            labels: metadataMember('labels', texts),
            annotations: metadataMember('annotations', texts),
            created: metadataMember('creationTimestamp', text),
            generateName: metadataMember('generateName', text),
            owner: metadataMember('ownerReferences', controller),
          };
        }),
      );
      if ('readWhole' in reader) {
        const spec = reader.readWhole(get, { ...named, ...metadata }, resourcePlace);
        // Kubernetes writes there what it did, and when.
        return { metadata: { ...metadata, annotations: {} }, spec };
      }
      get('status', ignored);
      return { metadata, spec: get('spec', reader.read(named)) };
    });
    if (head.name === '') tell('metadata.name', 'it is missing', 'error');
    if (count > mostFlaws) {
      const severity = wrongFields.length > 0 ? 'error' : 'warning';
      flaws.push({
        key,
        origin,
        field: '',
        reason: `${count - mostFlaws} more things are wrong with it`,
        severity,
      });
    }
    const { labels, annotations, created } = resource.metadata;
    const createdMs = created === '' ? 0 : Date.parse(created) || 0;
    // A selector also matches the labels that a WorkloadEntry has as a resource.
    const spec =
      kind === 'WorkloadEntry'
        ? {
            ...(resource.spec as Workload),
            labels: { ...(resource.spec as Workload).labels, ...labels },
          }
        : resource.spec;
    const unversioned = { kind, namespace, name: head.name, labels, annotations, createdMs, spec };
    if (wrongFields.length === 0)
      return { ...unversioned, version: contentVersion(unversioned), origin } as AnyResource;
    if ('readWhole' in reader || reader.ifRefused === undefined) return undefined;
    const { ifRefused, read } = reader;
    const isOutside = wrongFields.some((field) => !/^(?:spec|metadata|apiVersion)\b/.test(field));
    const closed = closedSpec(
      read(named),
      ifRefused,
      isOutside ? undefined : ownMember(value as Readonly<Record<string, unknown>>, 'spec'),
      isSecurity,
    );
    if (closed === undefined) return undefined;
    const name = head.name === '' ? `${path}:${origin.line}` : head.name;
    const closingResource = { ...unversioned, name, spec: closed, closes: ifRefused.consequence };
    closing.push({
      ...closingResource,
      version: contentVersion(closingResource),
      origin,
    } as AnyResource);
    return undefined;
  }
}

function headOf(value: unknown): Head {
  const memberOf = (inner: unknown, name: string): unknown =>
    typeof inner === 'object' && inner !== null
      ? ownMember(inner as Readonly<Record<string, unknown>>, name)
      : undefined;
  const words = (member: unknown) => (typeof member === 'string' ? member : '');
  const metadata = memberOf(value, 'metadata');
  return {
    apiVersion: words(memberOf(value, 'apiVersion')),
    kind: words(memberOf(value, 'kind')),
    name: words(memberOf(metadata, 'name')),
    namespace: words(memberOf(metadata, 'namespace')),
    dryRun: words(memberOf(memberOf(metadata, 'annotations'), 'istio.io/dry-run')),
  };
}
