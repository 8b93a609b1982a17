import { type AnyResource, keyOf, type Kind, type Resource } from '../istio/model.ts';
import { byText } from '../environment/age.ts';
import type { Environment, Service } from '../environment/environment.ts';
import { withFullHost, withFullNames } from '../environment/full-names.ts';
import { ofKind } from '../environment/resources.ts';
import { isWildcard, isWithin } from '../istio/wildcard-host.ts';
import type { Labels } from '../istio/values.ts';
import type { AnalysisFinding, FindingCode } from './finding.ts';

/** Everything that the checks look at. */
export interface AnalysisFacts {
  readonly environment: Environment;
  /** In order of their keys, with full names, as they are written: delegates are apart. */
  readonly virtualServices: readonly Resource<'VirtualService'>[];
  readonly destinationRules: readonly Resource<'DestinationRule'>[];
  readonly gateways: readonly Resource<'Gateway'>[];
  readonly sidecars: readonly Resource<'Sidecar'>[];
  readonly entries: readonly Resource<'ServiceEntry'>[];
  /** Hosts of services that begin with `*`, the longest first. */
  readonly wildcards: readonly string[];
}

/** A check of resources beside each other. Pure. */
export type Check = (facts: AnalysisFacts) => Iterable<AnalysisFinding>;

/** @param domain completes names of hosts without a dot */
export function factsOf(environment: Environment, domain: string): AnalysisFacts {
  const allOfKind = <K extends Kind>(kind: K): readonly Resource<K>[] =>
    [...ofKind(environment.resources, kind).values()]
      .flatMap((names) => [...names.values()])
      .sort((a, b) => byText(keyOf(a), keyOf(b)));
  return {
    environment,
    virtualServices: allOfKind('VirtualService').map((rule) => withFullNames(rule, domain)),
    destinationRules: allOfKind('DestinationRule').map((rule) => withFullHost(rule, domain)),
    gateways: allOfKind('Gateway'),
    sidecars: allOfKind('Sidecar'),
    entries: allOfKind('ServiceEntry'),
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

/** `a=b, c=d`, as a person writes labels. */
export const labelText = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
