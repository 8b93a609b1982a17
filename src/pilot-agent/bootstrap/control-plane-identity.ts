import { isIpAddress } from '../../shared/text/host-port.ts';
import { splitAddress } from './address.ts';

/** The facts about the control plane that the configuration states. */
export interface ControlPlane {
  readonly controlPlaneAuthPolicy: 'NONE' | 'MUTUAL_TLS';
  /** `host:port`. */
  readonly discoveryAddress: string;
  readonly registry: string;
  readonly podNamespace: string;
  /** `ISTIO_NAMESPACE`; empty for `istio-system`. */
  readonly istioNamespace: string;
  readonly trustDomain: string;
}

/** A name that a certificate must carry. */
export interface SubjectAltName {
  readonly type: 'DNS' | 'URI';
  readonly value: string;
}

/**
 * Returns the host of a discovery address, without the dot that may end a full name. The Go agent
 * splits an IPv6 address at its first colon. Pure.
 */
function discoveryHost(discoveryAddress: string): string {
  const split = splitAddress(discoveryAddress);
  return (split.ok ? split.host : discoveryAddress).replace(/\.$/, '');
}

/**
 * Returns the namespace of the control plane. It depends on how many labels its host has: with one,
 * it is the pod's namespace; with two, the second label; with more, or for an address,
 * `ISTIO_NAMESPACE`. Empty outside Kubernetes. Pure.
 */
export function controlPlaneNamespace({
  registry,
  discoveryAddress,
  podNamespace,
  istioNamespace,
}: Pick<
  ControlPlane,
  'registry' | 'discoveryAddress' | 'podNamespace' | 'istioNamespace'
>): string {
  if (registry !== 'Kubernetes') return '';
  const host = discoveryHost(discoveryAddress);
  const [, second, ...more] = host.split('.');
  if (isIpAddress(host) || more.length > 0)
    return istioNamespace === '' ? 'istio-system' : istioNamespace;
  return second ?? podNamespace;
}

/**
 * The subject of a SPIFFE id: an account of a namespace; without a namespace, the identity as it
 * is.
 */
export interface SpiffeName {
  readonly namespace: string;
  readonly identity: string;
}

/**
 * Returns `spiffe://<trust domain>/ns/<namespace>/sa/<account>`, or
 * `spiffe://<trust domain>/<identity>` without a namespace; empty without an identity. An empty
 * trust domain stays empty, as in the Go agent: with Consul it is the rule. Pure.
 */
export function spiffeId(trustDomain: string, { namespace, identity }: SpiffeName): string {
  if (identity === '') return '';
  return `spiffe://${trustDomain}/${namespace === '' ? identity : `ns/${namespace}/sa/${identity}`}`;
}

export interface TrustDomainInputs {
  /** `--trust-domain`. */
  readonly given: string;
  readonly registry: string;
  /** The DNS domain of the node. */
  readonly domain: string;
  readonly podNamespace: string;
}

/**
 * Returns the SPIFFE trust domain of the mesh, by the rules of the Go agent 1.6. It is the DNS
 * domain, or the registry's default if the DNS domain is empty or the standard one. `@`, which
 * accounts of Google Cloud contain, becomes `.`. Pure.
 */
export function trustDomain({ given, registry, domain, podNamespace }: TrustDomainInputs): string {
  const defaults = new Map<string, readonly [domain: string, trusted: string]>([
    ['Kubernetes', [`${podNamespace}.svc.cluster.local`, 'cluster.local']],
    ['Consul', ['service.consul', '']],
  ]);
  const [standard, trusted] = defaults.get(registry) ?? ['', ''];
  const chosen = given !== '' ? given : domain === '' || domain === standard ? trusted : domain;
  return chosen.replaceAll('@', '.');
}

export interface ControlPlaneInputs extends Omit<ControlPlane, 'registry'> {
  readonly serviceregistry: string;
  /** The DNS domain of the node. */
  readonly domain: string;
}

/** Returns the facts about the control plane in a configuration. Pure. */
export function controlPlaneOf(config: ControlPlaneInputs): ControlPlane {
  const {
    serviceregistry: registry,
    domain,
    controlPlaneAuthPolicy,
    discoveryAddress,
    istioNamespace,
    podNamespace,
  } = config;
  const trusted = trustDomain({ given: config.trustDomain, registry, domain, podNamespace });
  return {
    controlPlaneAuthPolicy,
    discoveryAddress,
    registry,
    podNamespace,
    istioNamespace,
    trustDomain: trusted,
  };
}

/**
 * Returns the SPIFFE id of an account of the control plane, or of `identity` if that is not empty.
 * Pure.
 */
function accountSan(controlPlane: ControlPlane, account: string, identity: string): SubjectAltName {
  const namespace = identity === '' ? controlPlaneNamespace(controlPlane) : '';
  return {
    type: 'URI',
    value: spiffeId(controlPlane.trustDomain, {
      namespace,
      identity: identity === '' ? account : identity,
    }),
  };
}

/**
 * Returns the names that are accepted for a control plane: its certificate must carry one of them.
 * None without MUTUAL_TLS.
 *
 * istiod carries the DNS name that it is reached by, or `istiod.istio-system.svc` if it is reached
 * through localhost. The pilot of Istio 1.1–1.5 carries the SPIFFE id of its account, or that of
 * `pilotIdentity`. An address is not a name: then only the SPIFFE id is left. Pure.
 */
export function controlPlaneSans(
  controlPlane: ControlPlane,
  pilotIdentity: string,
): readonly SubjectAltName[] {
  if (controlPlane.controlPlaneAuthPolicy !== 'MUTUAL_TLS') return [];
  const host = discoveryHost(controlPlane.discoveryAddress);
  const pilot = accountSan(controlPlane, 'istio-pilot-service-account', pilotIdentity);
  if (isIpAddress(host)) return [pilot];
  return [{ type: 'DNS', value: host === 'localhost' ? 'istiod.istio-system.svc' : host }, pilot];
}

/**
 * Returns the name in the certificate of Mixer (Istio 1.1–1.5): its account's SPIFFE id, or that of
 * `mixerIdentity`; none without MUTUAL_TLS. Pure.
 */
export function mixerSan(
  controlPlane: ControlPlane,
  mixerIdentity: string,
): readonly SubjectAltName[] {
  if (controlPlane.controlPlaneAuthPolicy !== 'MUTUAL_TLS') return [];
  return [accountSan(controlPlane, 'istio-mixer-service-account', mixerIdentity)];
}
