import { hostKind, isIpAddress } from '../../shared/text/host-port.ts';

export interface NodeIdentity {
  /** The first of its addresses. */
  readonly ip: string;
  readonly id: string;
  readonly domain: string;
  /** All addresses of the node, each once; the first one names it. */
  readonly addresses: readonly string[];
  /** No address of the node is an IPv4 one. */
  readonly ipv6: boolean;
}

export interface NodeInputs {
  /** `--ip`, used unchecked. */
  readonly ip: string;
  readonly id: string;
  readonly domain: string;
  /** `Kubernetes` or `Consul`; anything else is "other". */
  readonly registry: string;
  /** The names of the pod; empty if they are not set. */
  readonly podName: string;
  readonly podNamespace: string;
  readonly instanceIp: string;
  /** The addresses of this machine's interfaces, without loopback. */
  readonly addresses: readonly string[];
}

/**
 * Returns the identity of this node for the control plane. It follows the Go agent 1.6, without
 * link-local addresses, which no other machine can reach. Pure.
 */
export function nodeIdentity({
  ip,
  id,
  domain,
  registry,
  podName,
  podNamespace,
  instanceIp,
  addresses,
}: NodeInputs): NodeIdentity {
  const given = ip !== '' ? ip : isIpAddress(instanceIp) ? instanceIp : '';
  const reachable = addresses.filter(
    (address) => !/^fe80:/i.test(address) && !address.startsWith('169.254.'),
  );
  const usable = new Set([...(given === '' ? [] : [given]), ...reachable]);
  const nodeAddresses = usable.size === 0 ? ['127.0.0.1', '::1'] : [...usable];
  const first = nodeAddresses[0] ?? '';
  const names = new Map<string, readonly [string, string]>([
    ['Kubernetes', [`${podName}.${podNamespace}`, `${podNamespace}.svc.cluster.local`]],
    ['Consul', [`${first}.service.consul`, 'service.consul']],
  ]);
  const [defaultId, defaultDomain] = names.get(registry) ?? [first, ''];
  return {
    ip: first,
    id: id === '' ? defaultId : id,
    domain: domain === '' ? defaultDomain : domain,
    addresses: nodeAddresses,
    ipv6: !nodeAddresses.some((address) => hostKind(address) === 'ipv4'),
  };
}
