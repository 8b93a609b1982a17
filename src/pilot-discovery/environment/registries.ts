import type { AnyResource } from '../istio/documents/model.ts';
import type { RegistryName, Service } from './environment.ts';
import { consulRegistry } from './consul-registry.ts';
import { entryRegistry } from './entry-registry.ts';
import { kubernetesRegistry } from './kubernetes-registry.ts';
import type { Registry } from './registry.ts';
import { type AnyTouched, touchedAmong, type TouchedByKind } from './touched.ts';

/**
 * Registries by the kind that declares their services. If two have a service of one host, that of
 * the first one wins.
 */
export const registries: Readonly<Record<RegistryName, Registry>> = {
  Service: kubernetesRegistry,
  ConsulService: consulRegistry,
  ServiceEntry: entryRegistry,
};

const names = Object.keys(registries) as readonly RegistryName[];

/** Returns the changes of resources that declare services. */
export const touchedDeclarations = (touched: TouchedByKind): readonly AnyTouched[] =>
  touchedAmong(touched, names);

/** Compares two services of a host by the kind that declares them. For sorting. */
export const byRegistry = (a: Service, b: Service): number =>
  names.indexOf(a.registry) - names.indexOf(b.registry);

/** Returns the services that a resource declares; none for other kinds. */
export const servicesOf = (resource: AnyResource, domain: string): readonly Service[] =>
  Object.values(registries).flatMap((registry) => registry.servicesOf(resource, domain));
