import { createHash } from 'node:crypto';
import { fromBinary } from '@bufbuild/protobuf';
import { type Any, timestampMs } from '@bufbuild/protobuf/wkt';
import type { KubeObject } from '../../../shared/kube/kube-object.ts';
import type { DiscoveryResponse } from '../../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { Metadata } from '../../../shared/proto/istio/mcp/v1alpha1/metadata_pb.ts';
import {
  type Resource as McpResource,
  ResourceSchema,
} from '../../../shared/proto/istio/mcp/v1alpha1/resource_pb.ts';
import { isObject } from '../../../shared/text/is-object.ts';
import { parseJson } from '../../../shared/text/parse-json.ts';
import type { Steps } from '../../../shared/text/steps.ts';
import { keyOf, type ResourceBody } from '../../istio/documents/model.ts';
import { readObject, type ReadText } from '../../istio/documents/read-resources.ts';
import { apiVersionOf, type ConfigKind } from '../../mcp/config-types.ts';
import { forbiddenName } from '../../mcp/forbidden-name.ts';
import { readBody } from '../../mcp/read-body.ts';
import { documentType } from '../../mcp/write-body.ts';

/** A resource that a server has sent, and the result of reading it. */
export interface SentObject extends KubeObject {
  readonly content: ReadText;
}

/** The objects of one kind, by `NAMESPACE/NAME`. */
export type SentObjects = ReadonlyMap<string, SentObject>;

export interface AnswerPlace {
  /** The name of the source. */
  readonly source: string;
  /** The path of each resource, in messages. */
  readonly path: string;
  /** The namespaces whose resources are used; empty for all. */
  readonly namespaces: ReadonlySet<string>;
  /** Whether the resources keep their bodies, which other control planes may read. */
  readonly bodies: 'kept' | 'dropped';
}

/** The largest number of resources of a kind; and the largest resource, in bytes. */
export const most = { resources: 100_000, bytes: 1 << 20, name: 512 };
/** How many resources are read in a step. */
const perStep = 16;

/**
 * Reads all resources of a kind, in steps. A resource that has not changed is not read again.
 * Throws if the answer does not show which resources there are. Pure.
 */
export function* readAnswer(
  kind: ConfigKind,
  { resources }: Pick<DiscoveryResponse, 'resources'>,
  before: SentObjects,
  place: AnswerPlace,
): Steps<SentObjects> {
  if (resources.length > most.resources)
    throw new Error(`it has ${resources.length} resources, and ${most.resources} are read at most`);
  const objects = new Map<string, SentObject>();
  for (const [index, any] of resources.entries()) {
    if (index % perStep === 0) yield;
    const resource = resourceIn(any);
    const name = (resource.metadata?.name ?? '').slice(0, most.name);
    const [namespace = ''] = name.split('/');
    if (place.namespaces.size > 0 && !place.namespaces.has(namespace)) continue;
    const hash = createHash('sha1').update(any.value).digest('base64url');
    const earlier = before.get(name);
    const isSame = earlier?.metadata.resourceVersion === hash;
    objects.set(name, isSame ? earlier : sentObject(kind, resource, { any, name, hash }, place));
  }
  return objects;
}

function resourceIn({ typeUrl, value }: Any): McpResource {
  if (!typeUrl.endsWith('/istio.mcp.v1alpha1.Resource'))
    throw new Error(`'${typeUrl.slice(0, 200)}' is not a resource of Istio (istio.mcp.v1alpha1)`);
  try {
    return fromBinary(ResourceSchema, value);
  } catch (error) {
    throw new Error(`a resource cannot be decoded: ${(error as Error).message}`);
  }
}

interface Sent {
  readonly any: Any;
  /** `NAMESPACE/NAME` */
  readonly name: string;
  readonly hash: string;
}

function sentObject(
  kind: ConfigKind,
  resource: McpResource,
  { any, name: whole, hash }: Sent,
  place: AnswerPlace,
): SentObject {
  const [namespace = '', name = '', ...rest] = whole.split('/');
  const metadata = { namespace, name, resourceVersion: hash };
  const isName = namespace !== '' && name !== '' && rest.length === 0 && whole.length < most.name;
  const flaw = isName
    ? contentFlaw(any.value)
    : `its name is '${whole.slice(0, 200)}', and not NAMESPACE/NAME`;
  return { metadata, content: contentOf(kind, resource, metadata, { place, flaw }) };
}

const contentFlaw = (value: Uint8Array): string | undefined =>
  value.length > most.bytes
    ? `it has ${value.length} bytes, and the limit is ${most.bytes}`
    : forbiddenName(value);

type ObjectName = Pick<SentObject['metadata'], 'name'> & { readonly namespace: string };

function contentOf(
  kind: ConfigKind,
  { metadata, body }: McpResource,
  { namespace, name }: ObjectName,
  { place, flaw }: { readonly place: AnswerPlace; readonly flaw: string | undefined },
): ReadText {
  const { source, path, bodies } = place;
  const head = { apiVersion: apiVersionOf(kind), kind, metadata: { namespace, name } };
  const writeBody = bodies === 'kept' ? () => copyOf(body) : undefined;
  const textPlace = { source, path, defaultNamespace: '', writeBody };
  try {
    if (flaw !== undefined) throw new Error(flaw);
    if (body === undefined) throw new Error('it has no body');
    if (body.typeUrl === documentType)
      return readObject(documentIn(body.value, kind, head.metadata), textPlace);
    const spec = readBody(kind, body);
    if (isWithoutEndpoints(kind, name, spec)) {
      const origin = { source, path, line: 0 };
      const key = keyOf({ kind, namespace, name });
      const unused = {
        key,
        origin,
        field: '',
        reason: withoutEndpoints,
        severity: 'warning',
      } as const;
      return { resources: [], flaws: [unused], closing: [] };
    }
    return readObject(
      { ...head, metadata: { ...head.metadata, ...more(metadata) }, spec },
      textPlace,
    );
  } catch (error) {
    // The reader refuses this spec too, and returns the stricter resource that takes its place.
    const { closing, flaws } = readObject({ ...head, spec: unreadable }, textPlace);
    const reason = (error as Error).message;
    const firstError = flaws.filter(({ severity }) => severity === 'error').slice(0, 1);
    return {
      resources: [],
      closing,
      flaws: firstError.map((flawed) => ({ ...flawed, field: '', reason })),
    };
  }
}

const unreadable = '(unreadable)';

/** Returns a body that does not keep the memory of the whole answer. */
const copyOf = (body: Any | undefined): ResourceBody => ({
  typeUrl: body?.typeUrl ?? '',
  value: Uint8Array.from(body?.value ?? []),
});

/** Returns the document in a body. Throws, with the reason in a sentence, if there is none. */
function documentIn(value: Uint8Array, kind: ConfigKind, name: ObjectName): unknown {
  const document = parsed(value);
  if (!isObject(document) || document['kind'] !== kind)
    throw new Error(`its body is a document, but not of ${kind}`);
  const { metadata } = document;
  return { ...document, metadata: { ...(isObject(metadata) && metadata), ...name } };
}

function parsed(value: Uint8Array): unknown {
  try {
    return parseJson(Buffer.from(value).toString());
  } catch {
    throw new Error('its body is a document, but not JSON');
  }
}

function more(metadata: Metadata | undefined) {
  const { labels = {}, annotations = {}, createTime } = metadata ?? {};
  const created = createTime === undefined ? 0 : timestampMs(createTime);
  const isTime = created > 0 && created <= latest;
  return {
    labels,
    annotations,
    ...(isTime && { creationTimestamp: new Date(created).toISOString() }),
  };
}

/** The year 9999, in ms since 1970. */
const latest = 253_402_300_799_999;

const withoutEndpoints =
  'it stands for a Service of Kubernetes whose endpoints are not sent: read it from Kubernetes';

/** Whether it is a ServiceEntry that istiod has made of a Service. */
function isWithoutEndpoints(kind: ConfigKind, name: string, spec: unknown): boolean {
  return (
    kind === 'ServiceEntry' &&
    name.startsWith('synthetic-') &&
    isObject(spec) &&
    spec['resolution'] === 'STATIC' &&
    spec['endpoints'] === undefined &&
    spec['workloadSelector'] === undefined
  );
}
