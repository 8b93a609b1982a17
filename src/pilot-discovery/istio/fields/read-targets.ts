import { isDnsName } from './host-names.ts';
import {
  below,
  type Get,
  list,
  maybe,
  members,
  needed,
  type ReadMember,
  text,
  wrong,
} from './members.ts';

/** The limit in the schema of Istio 1.26. */
const most = 16;
const kinds = [
  'Service',
  'networking.istio.io/ServiceEntry',
  'gateway.networking.k8s.io/Gateway',
  'gateway.networking.k8s.io/GatewayClass',
];

const targetRef: ReadMember<undefined> = (value, place) =>
  members(value, place, [], (get) => {
    const [group, kind] = [get('group', text), get('kind', needed)];
    const name = get('name', needed);
    if (name !== '' && !isDnsName(name))
      wrong(below(place, 'name'), `'${name}' is not a valid name`);
    if (get('namespace', text) !== '')
      wrong(
        below(place, 'namespace'),
        'it may only name resources of its own namespace: leave it out',
      );
    const named = ['', 'core'].includes(group) ? kind : `${group}/${kind}`;
    if (kind !== '' && !kinds.includes(named))
      wrong(place, `'${named}' is not one of ${kinds.join(', ')}`);
    return undefined;
  });

/** Reads whether a resource is for the workloads that it selects, or for gateways or services. */
export function readTargets(get: Get, has: (name: string) => boolean): 'workloads' | 'targets' {
  get('targetRef', maybe(targetRef));
  const targetRefs = get('targetRefs', list(targetRef, most));
  return has('targetRef') || targetRefs.length > 0 ? 'targets' : 'workloads';
}

/** Whether a resource that is refused names gateways or services. */
export function namesTargets(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { targetRef, targetRefs } = value as Readonly<Record<string, unknown>>;
  return (
    (targetRef ?? undefined) !== undefined || (Array.isArray(targetRefs) && targetRefs.length > 0)
  );
}
