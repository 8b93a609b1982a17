import { isDeepStrictEqual } from 'node:util';
import { keyOf, type Resource } from '../istio/model.ts';
import { byText } from './age.ts';
import type { Environment, Service } from './environment.ts';
import { groupedBy, regrouped } from './grouped.ts';
import type { Touched } from './touched.ts';

/**
 * Services by host after changes of ServiceEntries. One of which nothing but the endpoints has
 * changed is the same object as before.
 */
export function servicesAfter(
  before: Environment['services'],
  touched: readonly Touched<'ServiceEntry'>[],
): Environment['services'] {
  if (touched.length === 0) return before;
  const keys = new Set(touched.map(({ key }) => key));
  const known = (service: Service): Service =>
    before
      .get(service.host)
      ?.find((old) => old.key === service.key && isDeepStrictEqual(old, service)) ?? service;
  const added = touched.flatMap(({ after }) =>
    after === undefined ? [] : servicesOf(after).map(known),
  );
  const hosts = touched.flatMap((one) => one.before?.spec.hosts ?? []);
  return regrouped(
    before,
    hosts,
    ({ key }) => keys.has(key),
    groupedBy(added, ({ host }) => host),
    (a, b) => a.createdMs - b.createdMs || byText(a.namespace, b.namespace) || byText(a.key, b.key),
  );
}

function servicesOf(entry: Resource<'ServiceEntry'>): readonly Service[] {
  const { namespace, labels, createdMs, spec } = entry;
  const { addresses, ports, location, resolution, subjectAltNames, exportTo } = spec;
  const key = keyOf(entry);
  return [...new Set(spec.hosts)].map((host) => ({
    host,
    namespace,
    addresses,
    ports,
    location,
    resolution,
    subjectAltNames,
    exportTo,
    labels,
    createdMs,
    key,
  }));
}
