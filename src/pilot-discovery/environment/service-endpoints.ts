// Why: docs/decisions/077-ports-are-joined-by-number.md
import { isDeepStrictEqual } from 'node:util';
import {
  type Endpoint,
  type Environment,
  type ServiceEndpoints,
  serviceKey,
} from './environment.ts';
import { indexKey } from './grouped.ts';
import { registries, servicesOf, touchedDeclarations } from './registries.ts';
import type { RegistryInputs } from './registry.ts';
import type { TouchedByKind } from './touched.ts';

type Endpoints = Pick<Environment, 'endpoints' | 'served'>;

/**
 * Returns the endpoints of each service after changes. `isAll` computes those of all services
 * again. A list that is equal to the previous one is the same object.
 */
export function endpointsAfter(
  before: Endpoints,
  inputs: RegistryInputs,
  touched: TouchedByKind,
  isAll: boolean,
): Endpoints {
  const names = new Map([
    ...declaredServices(inputs, touched),
    ...(isAll ? allServices(inputs) : affectedServices(inputs, touched)),
  ]);
  const edits = new Map<string, ServiceEndpoints | undefined>();
  const served = new Map<string, string | undefined>();
  for (const [name, host] of names) {
    const old = before.endpoints.get(name);
    const now = endpointsOf(name, host, inputs, old);
    if (now === old) continue;
    edits.set(name, now);
    for (const address of addressesOf(old)) served.set(indexKey(address, name), undefined);
    for (const address of addressesOf(now)) served.set(indexKey(address, name), name);
  }
  return { endpoints: before.endpoints.with(edits), served: before.served.with(served) };
}

const addressesOf = (endpoints: ServiceEndpoints | undefined): readonly string[] =>
  [...(endpoints?.values() ?? [])].flatMap((list) => list.map(({ address }) => address));

/** Key of the service → host. */
type Names = ReadonlyMap<string, string>;

function allServices({ services }: RegistryInputs): Names {
  return new Map(
    [...services.values()].flat().map((service) => [serviceKey(service), service.host]),
  );
}

/** Returns the services whose declarations have changed, and those that are gone. */
function declaredServices({ domain }: RegistryInputs, touched: TouchedByKind): Names {
  const declarations = touchedDeclarations(touched).flatMap(({ before, after }) => [before, after]);
  const services = declarations.flatMap((declaration) =>
    declaration === undefined ? [] : servicesOf(declaration, domain),
  );
  return new Map(services.map((service) => [serviceKey(service), service.host]));
}

/** Returns the services whose endpoints other changes may affect. */
function affectedServices(inputs: RegistryInputs, touched: TouchedByKind): Names {
  const services = Object.values(registries).flatMap((registry) => [
    ...registry.affectedServices(inputs, touched),
  ]);
  return new Map(services.map((service) => [serviceKey(service), service.host]));
}

/**
 * Returns the endpoints of a host in a namespace. If several declarations of it have the same
 * resolution, each port has the endpoints of all declarations under its number. Ports are matched
 * by name only within a declaration.
 */
function endpointsOf(
  name: string,
  host: string,
  inputs: RegistryInputs,
  old: ServiceEndpoints | undefined,
): ServiceEndpoints | undefined {
  const same = (inputs.services.get(host) ?? []).filter((service) => serviceKey(service) === name);
  const parts = same.filter(({ resolution }) => resolution === same[0]?.resolution);
  if (parts.length === 0) return undefined;

  const byPort = new Map<number, readonly Endpoint[]>();
  for (const { number } of parts.flatMap(({ ports }) => ports)) {
    if (byPort.has(number)) continue;
    const served = parts.flatMap((part) => {
      const port = part.ports.find((servicePort) => servicePort.number === number);
      return port === undefined ? [] : registries[part.registry].endpointsOf(inputs, part, port);
    });
    const before = old?.get(number);
    byPort.set(number, before !== undefined && isDeepStrictEqual(before, served) ? before : served);
  }
  const isSame =
    old !== undefined &&
    isDeepStrictEqual([...old.keys()], [...byPort.keys()]) &&
    [...byPort].every(([number, list]) => old.get(number) === list);
  return isSame ? old : byPort;
}
