import { createHash } from 'node:crypto';
import * as yaml from 'yaml';
import { parseYamlInSteps } from '../../shared/text/parse-yaml.ts';
import { quickYaml } from '../../shared/text/quick-yaml.ts';
import { atOnce, type Steps } from '../../shared/text/steps.ts';
import { members, type Place, type ReadMember, text, texts } from './members.ts';
import { closedSpec, type IfRefused } from './closed-spec.ts';
import { foreignDocument, isOfIstio } from './foreign-document.ts';
import type { AnyResource, Flaw, Kind, Origin, Specs } from './model.ts';
import { readAuthorizationPolicy } from './read-authorization-policy.ts';
import { readDestinationRule } from './read-destination-rule.ts';
import { closedPeerAuthentication, readPeerAuthentication } from './read-peer-authentication.ts';
import { closedAccessPolicy, readRequestAuthentication } from './read-request-authentication.ts';
import { readGateway } from './read-gateway.ts';
import { readServiceEntry, readWorkloadEntry } from './read-service-entry.ts';
import { readSidecar } from './read-sidecar.ts';
import { readVirtualService } from './read-virtual-service.ts';
import type { Workload } from './service-entry.ts';
import { type Item, itemsOf } from './text-items.ts';
import { ownMember } from '../../shared/text/own-member.ts';

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
  /** Of those that are refused: what closes what they would restrict, if there was no good one. */
  readonly closing: readonly AnyResource[];
}

interface ReadKind<K extends Kind> {
  readonly group: 'networking' | 'security';
  readonly read: (head: Head) => ReadMember<Specs[K]>;
  readonly ifRefused?: IfRefused<Specs[K]>;
}

const ports = 'where it is wrong, connections to the ports that it covers are refused';

const kinds: { readonly [K in Kind]: ReadKind<K> } = {
  ServiceEntry: { group: 'networking', read: ({ namespace }) => readServiceEntry(namespace) },
  WorkloadEntry: { group: 'networking', read: () => readWorkloadEntry },
  VirtualService: { group: 'networking', read: ({ namespace }) => readVirtualService(namespace) },
  DestinationRule: {
    group: 'networking',
    read: ({ namespace }) => readDestinationRule(namespace),
    ifRefused: { consequence: 'nothing is sent where its TLS is wrong' },
  },
  Gateway: {
    group: 'networking',
    read: ({ namespace }) => readGateway(namespace),
    ifRefused: { consequence: 'nothing is served by a server whose TLS is wrong' },
  },
  Sidecar: { group: 'networking', read: () => readSidecar },
  PeerAuthentication: {
    group: 'security',
    read: () => readPeerAuthentication,
    ifRefused: { consequence: ports, otherwise: closedPeerAuthentication },
  },
  AuthorizationPolicy: {
    group: 'security',
    read: ({ namespace, dryRun }) => readAuthorizationPolicy(namespace, dryRun),
    ifRefused: { consequence: ports, otherwise: closedAccessPolicy },
  },
  RequestAuthentication: {
    group: 'security',
    read: () => readRequestAuthentication,
    ifRefused: { consequence: ports, otherwise: closedAccessPolicy },
  },
};

/** Words and marks of a document that is not read quickly, since all of it is composed at once. */
const tokens = 100_000;

/** So many things that are wrong with one resource are told. */
const mostFlaws = 20;

/** Kinds that Istio has, and that are not served yet. */
const later = ['EnvoyFilter', 'WorkloadGroup', 'ProxyConfig', 'Telemetry', 'WasmPlugin'];

/**
 * Reads a text of YAML or JSON, which may have several documents. What is wrong in a resource costs
 * that resource alone. Never throws. Pure.
 */
export function readResources(content: string, place: TextPlace): ReadText {
  return atOnce(readResourcesInSteps(content, place));
}

/** The same in steps. */
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

/** A text of the user's in a sentence. */
const oneLine = (text: string): string => text.replaceAll('\n', '\\n');

const isList = (value: unknown): boolean => headOf(value).kind === 'List';

/** About a whole text or document. */
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
    const namespace = head.namespace === '' ? defaultNamespace : head.namespace;
    const isKnown = Object.hasOwn(kinds, head.kind);
    const key = head.name !== '' && isKnown ? `${head.kind}/${namespace}/${head.name}` : undefined;
    const bad: string[] = [];
    let count = 0;
    const tell: Place['tell'] = (field, reason, severity) => {
      if (severity === 'error') bad.push(field);
      if ((count += 1) > mostFlaws) return;
      flaws.push({
        key,
        origin: { ...origin, line: lineOf(field) },
        field: oneLine(field),
        reason: oneLine(reason),
        severity,
      });
    };
    // The Gateway API has a kind Gateway too.
    const isForeign = !isKnown || head.apiVersion.startsWith('gateway.networking.');
    const foreign = isForeign ? foreignDocument(head, value) : undefined;
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
    const kind = head.kind as Kind;
    const { group, read, ifRefused } = kinds[kind] as ReadKind<Kind>;
    const isSecurity = group === 'security';
    const named = { ...head, namespace };
    if (!new RegExp(`^${group}\\.istio\\.io/v1(?:alpha3|beta1)?$`).test(head.apiVersion))
      tell(
        'apiVersion',
        `'${head.apiVersion}' is not ${group}.istio.io/v1, v1beta1 or v1alpha3`,
        'error',
      );
    // A newer Istio has more fields. What restricts access is not taken without one of them.
    const at: Place = {
      parent: undefined,
      step: '',
      unknown: isSecurity ? 'error' : 'warning',
      ifWrong: 'refuse',
      tell,
    };
    const ignored = [
      'generateName',
      'generation',
      'resourceVersion',
      'uid',
      'selfLink',
      'managedFields',
      'ownerReferences',
      'finalizers',
      'deletionTimestamp',
      'deletionGracePeriodSeconds',
    ];
    const made = members(value, at, [], (get) => {
      get('apiVersion', text);
      get('kind', text);
      get('status', () => undefined);
      const metadata = get('metadata', (inner, place) =>
        members(inner, place, [], (of) => {
          for (const name of ignored) of(name, () => undefined);
          of('name', text);
          of('namespace', text);
          return {
            labels: of('labels', texts),
            annotations: of('annotations', texts),
            created: of('creationTimestamp', text),
          };
        }),
      );
      return { metadata, spec: get('spec', read(named)) };
    });
    if (head.name === '') tell('metadata.name', 'it is missing', 'error');
    if (count > mostFlaws) {
      const severity = bad.length > 0 ? 'error' : 'warning';
      flaws.push({
        key,
        origin,
        field: '',
        reason: `${count - mostFlaws} more things are wrong with it`,
        severity,
      });
    }
    const { labels: own, annotations, created } = made.metadata;
    const createdMs = created === '' ? 0 : Date.parse(created) || 0;
    // What selects a WorkloadEntry selects by its labels as a resource too.
    const spec =
      kind === 'WorkloadEntry'
        ? { ...(made.spec as Workload), labels: { ...(made.spec as Workload).labels, ...own } }
        : made.spec;
    const said = { kind, namespace, name: head.name, labels: own, annotations, createdMs, spec };
    if (bad.length === 0) return { ...said, version: versionOf(said), origin } as AnyResource;
    const isOutside = bad.some((field) => !/^(?:spec|metadata|apiVersion)\b/.test(field));
    const closed =
      ifRefused &&
      closedSpec(
        read(named),
        ifRefused,
        isOutside ? undefined : ownMember(value as Readonly<Record<string, unknown>>, 'spec'),
        isSecurity,
      );
    if (ifRefused === undefined || closed === undefined) return undefined;
    const name = head.name === '' ? `${path}:${origin.line}` : head.name;
    const closes = { ...said, name, spec: closed, closes: ifRefused.consequence };
    closing.push({ ...closes, version: versionOf(closes), origin } as AnyResource);
    return undefined;
  }
}

interface Head {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  /** The annotation `istio.io/dry-run`. */
  readonly dryRun: string;
}

function headOf(value: unknown): Head {
  const of = (inner: unknown, name: string): unknown =>
    typeof inner === 'object' && inner !== null
      ? ownMember(inner as Readonly<Record<string, unknown>>, name)
      : undefined;
  const words = (found: unknown) => (typeof found === 'string' ? found : '');
  const metadata = of(value, 'metadata');
  return {
    apiVersion: words(of(value, 'apiVersion')),
    kind: words(of(value, 'kind')),
    name: words(of(metadata, 'name')),
    namespace: words(of(metadata, 'namespace')),
    dryRun: words(of(of(metadata, 'annotations'), 'istio.io/dry-run')),
  };
}

/** Equal content, equal version: maps are in the order of their names. */
function versionOf(said: unknown): string {
  const canonical = JSON.stringify(said, (_, value: unknown) => {
    if (value instanceof Map) return [...(value as Map<unknown, unknown>)];
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
  return createHash('sha256').update(canonical).digest('hex').slice(0, 16);
}
