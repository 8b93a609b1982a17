import type { KubeObject } from '../../../shared/kube/kube-object.ts';
import type { Group } from '../../istio/documents/group-versions.ts';
import { isOfCluster, kinds } from '../../istio/documents/kinds.ts';
import type { WrittenKind } from '../../istio/documents/model.ts';
import { isObject } from '../../../shared/text/is-object.ts';

/** Objects of one kind, as the API server has them. */
export interface FollowedKind {
  readonly kind: WrittenKind;
  /** The kind with its group, as in `VirtualService.networking.istio.io`. */
  readonly query: string;
  /** The version of objects that name none: the API leaves it out in lists of its own kinds. */
  readonly apiVersion: string;
}

/** Each group: its name in the API, and the version of objects that name none. */
const groups: Readonly<Record<Group, { readonly name: string; readonly apiVersion: string }>> = {
  core: { name: '', apiVersion: 'v1' },
  'discovery.k8s.io': { name: 'discovery.k8s.io', apiVersion: 'discovery.k8s.io/v1' },
  networking: { name: 'networking.istio.io', apiVersion: '' },
  security: { name: 'security.istio.io', apiVersion: '' },
  telemetry: { name: 'telemetry.istio.io', apiVersion: '' },
};

/** Kinds that the preferred version of their group lacks, each with the version to read it in. */
const olderVersions: ReadonlyMap<WrittenKind, string> = new Map([['ProxyConfig', 'v1beta1']]);

/**
 * All kinds that a folder may have too, except for Endpoints: Kubernetes itself makes
 * EndpointSlices of them.
 */
export const followedKinds: readonly FollowedKind[] = (Object.keys(kinds) as readonly WrittenKind[])
  .filter((kind) => kind !== 'Endpoints')
  .map((kind) => {
    const { name, apiVersion } = groups[kinds[kind].group];
    const query = [kind, olderVersions.get(kind) ?? '', name].filter((part) => part !== '');
    return { kind, query: query.join('.'), apiVersion };
  });

/** The kinds of Istio, whose objects have a status. */
export const istioKinds: readonly FollowedKind[] = followedKinds.filter(({ query }) =>
  query.endsWith('.istio.io'),
);

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});

/** Returns the members with these names, if the value has them. */
function only<Name extends string>(
  value: unknown,
  names: readonly Name[],
): Readonly<Partial<Record<Name, unknown>>> {
  const fields = fieldsOf(value);
  const kept: Partial<Record<Name, unknown>> = {};
  for (const name of names) if (Object.hasOwn(fields, name)) kept[name] = fields[name];
  return kept;
}

const metadata = [
  'name',
  'namespace',
  'resourceVersion',
  'labels',
  'annotations',
  'creationTimestamp',
  'deletionTimestamp',
  'generateName',
  'ownerReferences',
] as const;

/** `kubectl apply` writes the whole object into this annotation. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** Returns the parts of an object that its reader uses. Most of a Pod is for the kubelet. Pure. */
export function pruned({ kind, apiVersion }: FollowedKind, object: KubeObject): KubeObject {
  const { metadata: all, ...sections } = object;
  const annotations = Object.entries(all.annotations ?? {}).filter(
    ([name]) => name !== lastApplied,
  );
  return {
    apiVersion,
    ...prunedSections(kind, sections),
    kind,
    metadata: {
      ...(only(all, metadata) as typeof all),
      ...(all.annotations !== undefined && { annotations: Object.fromEntries(annotations) }),
    },
  };
}

function prunedSections(kind: WrittenKind, sections: Fields): Fields {
  if (isOfCluster(kind)) return {};
  if (kind === 'Pod') return prunedPod(sections);
  const { status } = sections;
  return kind === 'Service'
    ? { ...withoutStatus(sections), status: only(status, ['loadBalancer']) }
    : withoutStatus(sections);
}

const withoutStatus = (sections: Fields): Fields =>
  Object.fromEntries(Object.entries(sections).filter(([name]) => name !== 'status'));

function prunedPod({ spec, status }: Fields): Fields {
  const containers = (value: unknown): unknown =>
    Array.isArray(value) ? value.map((container) => only(container, ['ports'])) : value;
  const used = only(spec, [
    'serviceAccountName',
    'serviceAccount',
    'nodeName',
    'initContainers',
    'containers',
  ]);
  const withPorts = Object.entries(used).map(
    ([name, value]) => [name, name.endsWith('ontainers') ? containers(value) : value] as const,
  );
  return {
    spec: Object.fromEntries(withPorts),
    status: only(status, ['podIP', 'podIPs', 'phase', 'conditions']),
  };
}
