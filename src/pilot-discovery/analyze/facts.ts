import { type AnyResource, keyOf, type Kind, type Resource } from '../istio/documents/model.ts';
import { byText } from '../environment/age.ts';
import type { Environment, Service } from '../environment/environment.ts';
import { withFullHost, withFullNames } from '../environment/full-names.ts';
import { eachOf } from '../environment/resources.ts';
import { isWildcard, isWithin } from '../istio/fields/wildcard-host.ts';
import type { ReadMesh } from '../istio/mesh/read-mesh-config.ts';
import type { Labels } from '../istio/fields/values.ts';
import type { AnalysisFinding, FindingCode } from './finding.ts';

/** Everything that the checks look at. */
export interface AnalysisFacts {
  readonly environment: Environment;
  /**
   * The VirtualServices in the order of their keys, with full names. As in the files, delegates are
   * separate resources.
   */
  readonly virtualServices: readonly Resource<'VirtualService'>[];
  readonly destinationRules: readonly Resource<'DestinationRule'>[];
  readonly gateways: readonly Resource<'Gateway'>[];
  readonly sidecars: readonly Resource<'Sidecar'>[];
  readonly entries: readonly Resource<'ServiceEntry'>[];
  readonly telemetries: readonly Resource<'Telemetry'>[];
  readonly authorizationPolicies: readonly Resource<'AuthorizationPolicy'>[];
  /** Undefined if no MeshConfig is given. */
  readonly mesh: Pick<ReadMesh, 'mesh' | 'flaws'> | undefined;
  /** Domains whose hosts other sources define, as `service.consul`. */
  readonly domainsElsewhere: readonly string[];
  /** Hosts of services that begin with `*`, the longest first. */
  readonly wildcards: readonly string[];
}

/** A check of resources beside each other. Pure. */
export type Check = (facts: AnalysisFacts) => Iterable<AnalysisFinding>;

/** The inputs of an analysis besides the resources. */
export interface AnalysisContext extends Pick<AnalysisFacts, 'mesh' | 'domainsElsewhere'> {
  /** The domain of the cluster, which completes host names without a dot. */
  readonly domain: string;
}

export function factsOf(
  environment: Environment,
  { domain, mesh, domainsElsewhere }: AnalysisContext,
): AnalysisFacts {
  const allOfKind = <K extends Kind>(kind: K): readonly Resource<K>[] =>
    [...eachOf(environment.resources, kind)].sort((a, b) => byText(keyOf(a), keyOf(b)));
  return {
    environment,
    virtualServices: allOfKind('VirtualService').map((rule) => withFullNames(rule, domain)),
    destinationRules: allOfKind('DestinationRule').map((rule) => withFullHost(rule, domain)),
    gateways: allOfKind('Gateway'),
    sidecars: allOfKind('Sidecar'),
    entries: allOfKind('ServiceEntry'),
    telemetries: allOfKind('Telemetry'),
    authorizationPolicies: allOfKind('AuthorizationPolicy'),
    mesh,
    domainsElsewhere,
    wildcards: [...environment.services.keys()]
      .filter(isWildcard)
      .sort((a, b) => b.length - a.length),
  };
}

/** A finding about a field of a resource; its line is that of the resource. */
export function finding(
  code: FindingCode,
  resource: Pick<AnyResource, 'kind' | 'namespace' | 'name' | 'origin'>,
  field: string,
  reason: string,
): AnalysisFinding {
  return { code, key: keyOf(resource), origin: resource.origin, field, reason };
}

/** The services of a host, or else those of the closest wildcard that it is within. */
export function servicesOf(
  { environment, wildcards }: Pick<AnalysisFacts, 'environment' | 'wildcards'>,
  host: string,
): readonly Service[] {
  const { services } = environment;
  const closest = () => wildcards.find((wildcard) => isWithin(host, wildcard)) ?? '';
  return services.get(host) ?? services.get(closest()) ?? [];
}

/** Returns whether a host belongs to a source that the analysis does not read. */
export const isDefinedElsewhere = (
  { domainsElsewhere }: Pick<AnalysisFacts, 'domainsElsewhere'>,
  host: string,
): boolean => domainsElsewhere.some((domain) => host.endsWith(`.${domain}`));

/** `a=b, c=d`, as a person writes labels. */
export const labelText = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
