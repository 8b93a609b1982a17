import { isDeepStrictEqual } from 'node:util';
import type { AnyResource } from '../istio/documents/model.ts';
import { byText } from './age.ts';
import { aliasedHosts, aliasesOf } from './aliases.ts';
import type { Environment, Service } from './environment.ts';
import { groupedBy, regrouped } from './grouped.ts';
import { byRegistry, servicesOf, touchedDeclarations } from './registries.ts';
import { touchedOf, type TouchedByKind } from './touched.ts';

/**
 * Returns the services by host, after changes of the resources that declare them. A service of
 * which only the endpoints have changed is the same object as before.
 */
export function servicesAfter(
  before: Pick<Environment, 'services' | 'aliases'>,
  aliases: Environment['aliases'],
  touched: TouchedByKind,
  domain: string,
): Environment['services'] {
  const declarations = touchedDeclarations(touched);
  if (declarations.length === 0) return before.services;
  const keys = new Set(declarations.map(({ key }) => key));
  const renamed = aliasedHosts(before.aliases, aliases, touchedOf(touched, 'Service'));
  const others = [...renamed]
    .flatMap((host) => before.services.get(host) ?? [])
    .filter(({ key }) => !keys.has(key));
  const withAliases = (service: Service): Service => {
    const named = { ...service, aliases: aliasesOf(aliases, service.host, domain) };
    const old = before.services.get(service.host)?.find(({ key }) => key === service.key);
    return old !== undefined && isDeepStrictEqual(old, named) ? old : named;
  };
  const declared = (resource: AnyResource | undefined): readonly Service[] =>
    resource === undefined ? [] : servicesOf(resource, domain);
  const now = [...declarations.flatMap(({ after }) => declared(after)), ...others].map(withAliases);
  return regrouped(
    before.services,
    [
      ...declarations.flatMap((change) => declared(change.before).map(({ host }) => host)),
      ...renamed,
    ],
    ({ key, host }) => keys.has(key) || renamed.has(host),
    groupedBy(now, ({ host }) => host),
    byAge,
  );
}

/**
 * Compares by registry, and then by age, the oldest first. Any host can be in a ServiceEntry, so
 * that registry is the last one.
 */
function byAge(a: Service, b: Service): number {
  return (
    byRegistry(a, b) ||
    a.createdMs - b.createdMs ||
    byText(a.namespace, b.namespace) ||
    byText(a.key, b.key)
  );
}
