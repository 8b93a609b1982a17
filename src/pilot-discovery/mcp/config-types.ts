import { kinds } from '../istio/documents/kinds.ts';
import type { WrittenKind } from '../istio/documents/model.ts';

/** The kinds of Istio that are served: all that a folder may have, without those of Kubernetes. */
export const configKinds = (Object.keys(kinds) as readonly WrittenKind[]).filter(
  (kind): kind is ConfigKind => 'read' in kinds[kind],
);

/** A kind of Istio. */
export type ConfigKind = Exclude<
  WrittenKind,
  'Service' | 'EndpointSlice' | 'Endpoints' | 'Pod' | 'Node' | 'Namespace'
>;

/** The version of each kind that Istio does not call `v1`. */
const versions: ReadonlyMap<ConfigKind, string> = new Map([['ProxyConfig', 'v1beta1']]);

/** Returns the `apiVersion` under which Istio itself serves a kind. Pure. */
export const apiVersionOf = (kind: ConfigKind): string =>
  `${kinds[kind].group}.istio.io/${versions.get(kind) ?? 'v1'}`;

/** Returns the type URL of a kind: `networking.istio.io/v1/VirtualService`. Pure. */
export const configTypeUrl = (kind: ConfigKind): string => `${apiVersionOf(kind)}/${kind}`;

const byTypeUrl: ReadonlyMap<string, ConfigKind> = new Map(
  configKinds.map((kind) => [configTypeUrl(kind), kind]),
);

/** Returns the kind of a type URL; undefined if it is not served. Pure. */
export const configKindOf = (typeUrl: string): ConfigKind | undefined => byTypeUrl.get(typeUrl);
