import { isIP } from 'node:net';
import type { Environment } from '../environment/environment.ts';
import { eachOf } from '../environment/resources.ts';
import type { ProxyNode } from '../generate/scope/proxy-node.ts';
import { selects } from '../generate/scope/peer-authentication-of.ts';
import { readNode } from '../generate/scope/read-node.ts';
import type { Resource } from '../istio/documents/model.ts';
import type { Workload } from '../istio/hosts/service-entry.ts';
import type { Labels } from '../istio/fields/values.ts';
import type { MeshPair } from './mesh-pair.ts';

/** A proxy that is compared. */
export interface ComparedProxy {
  readonly node: ProxyNode;
  /**
   * Which folders describe its workload. `named`: the user names the proxy. `connected`: it is
   * connected to the control plane at `--against`.
   */
  readonly presence: 'both' | 'old' | 'new' | 'named' | 'connected';
}

/** Returns the name of a proxy as `/debug/syncz` shows it: `reviews-0.shop`. */
export const proxyName = ({ node }: ComparedProxy): string => `${node.name}.${node.namespace}`;

/** A workload that a resource describes, whose proxy is not known. */
interface DescribedWorkload {
  readonly name: string;
  readonly namespace: string;
  /** The first one is in the id of the proxy. A workload without any is left out. */
  readonly addresses: readonly string[];
  readonly labels: Labels;
  readonly serviceAccount: string;
  readonly network: string;
  readonly locality: string;
}

/** The address of the proxy of a Gateway, if no workload has the labels of its selector. */
const anyAddress = '0.0.0.0';

/**
 * Returns the proxies of the workloads that either of two meshes describes: Pods, WorkloadEntries
 * and endpoints of MESH_INTERNAL ServiceEntries, if they have an IP address. A workload that a
 * Gateway selects is a router. If a selector of Gateways selects none of them, there is one router
 * for this selector. Pure.
 *
 * @param domain the domain of the mesh
 */
export function describedProxies(
  { before, after }: MeshPair,
  domain: string,
): readonly ComparedProxy[] {
  const [old, now] = [workloadsIn(before), workloadsIn(after)];
  const all = new Map([...now, ...old]);
  const selectors = distinct([...selectorsIn(before), ...selectorsIn(after)]);
  const proxies = [...all].map(([place, workload]): ComparedProxy | undefined => {
    const isRouter = selectors.some(({ selector }) => selects(selector, workload.labels));
    const presence = !now.has(place) ? 'old' : old.has(place) ? 'both' : 'new';
    return proxyOf(workload, isRouter ? 'router' : 'sidecar', presence, domain);
  });
  const labels = [...all.values()].map((workload) => workload.labels);
  const lonely = selectors.filter(
    ({ selector }) => !labels.some((workloadLabels) => selects(selector, workloadLabels)),
  );
  const routers = lonely.map(({ gateway, selector }) => {
    const { name, namespace } = gateway;
    const nothing = { serviceAccount: '', network: '', locality: '' };
    const workload = { name, namespace, addresses: [anyAddress], labels: selector, ...nothing };
    return proxyOf(workload, 'router', presenceOf(gateway, before, after), domain);
  });
  return [...proxies, ...routers].filter((proxy) => proxy !== undefined);
}

function presenceOf(
  { kind, namespace, name }: Resource<'Gateway'>,
  before: Environment,
  after: Environment,
): ComparedProxy['presence'] {
  const isIn = ({ resources }: Environment) =>
    resources.get(kind)?.get(namespace)?.has(name) === true;
  return !isIn(after) ? 'old' : isIn(before) ? 'both' : 'new';
}

function proxyOf(
  { name, namespace, addresses, labels, serviceAccount, network, locality }: DescribedWorkload,
  role: ProxyNode['role'],
  presence: ComparedProxy['presence'],
  domain: string,
): ComparedProxy | undefined {
  // In an id, a dot ends the name.
  const workload = `${name.replaceAll('.', '-')}.${namespace}`;
  const id = `${role}~${addresses[0] ?? anyAddress}~${workload}~${namespace}.svc.${domain}`;
  const metadata = {
    LABELS: labels,
    INSTANCE_IPS: addresses.join(','),
    SERVICE_ACCOUNT: serviceAccount,
    NETWORK: network,
  };
  const node = readNode({ id, metadata }, locality);
  return typeof node === 'string' ? undefined : { node, presence };
}

/**
 * Returns the workloads by namespace and first address. A Pod is preferred, then a WorkloadEntry.
 */
function workloadsIn({ resources }: Environment): ReadonlyMap<string, DescribedWorkload> {
  const workloads = new Map<string, DescribedWorkload>();
  const add = (workload: DescribedWorkload): void => {
    const [first] = workload.addresses;
    const place = `${workload.namespace}/${first ?? ''}`;
    if (first !== undefined && !workloads.has(place)) workloads.set(place, workload);
  };
  for (const { name, namespace, labels, spec } of eachOf(resources, 'Pod'))
    add({ ...spec, name, namespace, labels });
  for (const { name, namespace, spec } of eachOf(resources, 'WorkloadEntry'))
    add(fromWorkload(spec, name, namespace));
  for (const { name, namespace, spec } of eachOf(resources, 'ServiceEntry'))
    if (spec.location === 'internal')
      for (const [index, endpoint] of spec.endpoints.entries())
        add(fromWorkload(endpoint, `${name}-${index}`, namespace));
  return workloads;
}

const fromWorkload = (workload: Workload, name: string, namespace: string): DescribedWorkload => ({
  name,
  namespace,
  addresses: [workload.address].filter((address) => isIP(address) !== 0),
  labels: workload.labels,
  serviceAccount: workload.serviceAccount,
  network: workload.network,
  locality: workload.locality,
});

interface GatewaySelector {
  readonly gateway: Resource<'Gateway'>;
  readonly selector: Labels;
}

/** The selectors of Gateways. A Gateway without one is left out: it makes no workload a router. */
const selectorsIn = ({ resources }: Environment): readonly GatewaySelector[] =>
  [...eachOf(resources, 'Gateway')].flatMap((gateway) => {
    const selector = gateway.spec.selector ?? {};
    return Object.keys(selector).length === 0 ? [] : [{ gateway, selector }];
  });

/** Each selector once, with the first Gateway that has it. */
function distinct(selectors: readonly GatewaySelector[]): readonly GatewaySelector[] {
  const byText = new Map<string, GatewaySelector>();
  for (const candidate of selectors) {
    const text = JSON.stringify(Object.entries(candidate.selector).sort());
    if (!byText.has(text)) byText.set(text, candidate);
  }
  return [...byText.values()];
}
