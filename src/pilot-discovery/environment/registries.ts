import type { AnyResource } from '../istio/model.ts';
import type { RegistryName, Service } from './environment.ts';
import { entryRegistry } from './entry-registry.ts';
import { kubernetesRegistry } from './kubernetes-registry.ts';
import type { Registry } from './registry.ts';
import { type AnyTouched, touchedAmong, type TouchedByKind } from './touched.ts';

/** What makes services, by the kind that declares them. Of one host the first comes first. */
export const registries: Readonly<Record<RegistryName, Registry>> = {
  Service: kubernetesRegistry,
  ServiceEntry: entryRegistry,
};

const names = Object.keys(registries) as readonly RegistryName[];

/** Of the changes those of resources that declare services. */
export const touchedDeclarations = (touched: TouchedByKind): readonly AnyTouched[] =>
  touchedAmong(touched, names);

/** Which of two services of a host comes first, by what declares them. For sorting. */
export const byRegistry = (a: Service, b: Service): number =>
  names.indexOf(a.registry) - names.indexOf(b.registry);

/** The services that a resource declares; none of one of another kind. */
export const servicesOf = (resource: AnyResource, domain: string): readonly Service[] =>
  Object.values(registries).flatMap((registry) => registry.servicesOf(resource, domain));
