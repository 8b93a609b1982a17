import type { Resource } from '../../istio/model.ts';
import type { Labels } from '../../istio/values.ts';
import type { MutualTlsMode } from '../../istio/peer-authentication.ts';
import type { Environment } from '../../environment/environment.ts';
import type { ProxyNode } from './proxy-node.ts';
import { ownMember } from '../../../shared/text/own-member.ts';

/** What a proxy asks of those who call it. */
export interface PeerPolicy {
  /** Of the port of a workload that has none of its own. */
  readonly mode: SetMode;
  /** Of those ports that have one of their own. */
  readonly ports: ReadonlyMap<number, SetMode>;
  readonly of: readonly Resource<'PeerAuthentication'>[];
}

type Policy = Resource<'PeerAuthentication'>;

export type SetMode = Exclude<MutualTlsMode, 'unset'>;

/**
 * The mode of each port: of four levels, the port, the workload, the namespace and the mesh (the
 * root namespace), the nearest that says one; PERMISSIVE where none does. Of two at one level the
 * older wins, but one that closes is before both: what it was to say is not known.
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
    ([port, own]): [number, SetMode][] => (own === 'unset' ? [] : [[port, own]]),
  );
  return { mode, ports: new Map(ports), of: levels.filter((level) => level !== undefined) };
}

/** Whether a workload has all of these labels. */
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
