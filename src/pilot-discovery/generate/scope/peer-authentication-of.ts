import type { Resource } from '../../istio/documents/model.ts';
import type { Labels } from '../../istio/fields/values.ts';
import type { MutualTlsMode } from '../../istio/security/peer-authentication.ts';
import type { Environment } from '../../environment/environment.ts';
import type { ProxyNode } from './proxy-node.ts';
import { ownMember } from '../../../shared/text/own-member.ts';

/** The mutual TLS that a proxy requires of its clients. */
export interface PeerPolicy {
  /** The mode of ports that `ports` does not have. */
  readonly mode: SetMode;
  /** The modes of ports for which a policy sets one. */
  readonly ports: ReadonlyMap<number, SetMode>;
  readonly policies: readonly Resource<'PeerAuthentication'>[];
}

type Policy = Resource<'PeerAuthentication'>;

export type SetMode = Exclude<MutualTlsMode, 'unset'>;

/**
 * Returns the mode of each port. There are four levels: the port, the workload, the namespace and
 * the mesh (the root namespace). The nearest that sets a mode wins; PERMISSIVE if none does. If a
 * level has two policies, the older wins. But a refused policy that closes ports takes precedence,
 * since its intended mode is unknown.
 */
export function peerAuthenticationOf(
  { mesh, peerAuthentications }: Environment,
  node: Pick<ProxyNode, 'namespace' | 'labels'>,
): PeerPolicy {
  const inRoot = peerAuthentications.get(mesh.rootNamespace) ?? [];
  const inNamespace =
    node.namespace === mesh.rootNamespace
      ? inRoot
      : (peerAuthentications.get(node.namespace) ?? []);
  const ofMesh = first(inRoot, forAll);
  const ofNamespace = inNamespace === inRoot ? undefined : first(inNamespace, forAll);
  // In the root namespace a selector selects nothing, as in Istio.
  const ofWorkload =
    inNamespace === inRoot
      ? undefined
      : first(
          inNamespace,
          ({ spec }) =>
            spec.selector !== undefined &&
            !isEmpty(spec.selector) &&
            selects(spec.selector, node.labels),
        );
  const levels = [ofMesh, ofNamespace, ofWorkload];
  const mode = levels.reduce<SetMode>((above, level) => or(level?.spec.mode, above), 'permissive');
  const ports = [...(ofWorkload?.spec.portLevel ?? [])].flatMap(
    ([port, portMode]): [number, SetMode][] => (portMode === 'unset' ? [] : [[port, portMode]]),
  );
  return { mode, ports: new Map(ports), policies: levels.filter((level) => level !== undefined) };
}

/** Returns whether a workload has all of these labels. */
export function selects(selector: Labels, labels: Labels): boolean {
  return Object.entries(selector).every(([name, value]) => ownMember(labels, name) === value);
}

function first(
  policies: readonly Policy[],
  isMeant: (policy: Policy) => boolean,
): Policy | undefined {
  const all = policies.filter(isMeant);
  return all.find(({ closes }) => closes !== undefined) ?? all[0];
}

const forAll = ({ spec }: Resource<'PeerAuthentication'>): boolean =>
  spec.selector === undefined || isEmpty(spec.selector);

const isEmpty = (labels: Labels): boolean => Object.keys(labels).length === 0;

const or = (mode: MutualTlsMode | undefined, above: SetMode): SetMode =>
  mode === undefined || mode === 'unset' ? above : mode;
