export interface TrustDomainInputs {
  /** `--trust-domain`. */
  readonly given: string;
  readonly registry: string;
  /** The DNS domain of the node. */
  readonly domain: string;
  readonly podNamespace: string;
}

/**
 * The SPIFFE trust domain of the mesh: the rules of the Go agent 1.6. It is the DNS domain, unless that is what the registry makes of none. `@`, which an
 * account of Google Cloud has in it, becomes `.`. Pure.
 */
export function trustDomain({ given, registry, domain, podNamespace }: TrustDomainInputs): string {
  const defaults = new Map<string, readonly [domain: string, trusted: string]>([
    ['Kubernetes', [`${podNamespace}.svc.cluster.local`, 'cluster.local']],
    ['Consul', ['service.consul', '']],
  ]);
  const [standard, trusted] = defaults.get(registry) ?? ['', ''];
  const found = given !== '' ? given : domain === '' || domain === standard ? trusted : domain;
  return found.replaceAll('@', '.');
}
