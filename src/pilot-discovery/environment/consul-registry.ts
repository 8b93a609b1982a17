import { keyOf } from '../istio/documents/model.ts';
import type { Service } from './environment.ts';
import { entriesBy } from './grouped.ts';
import type { NamedService, Registry } from './registry.ts';
import { partsOf } from './resources.ts';
import { touchedOf } from './touched.ts';
import { workloadEndpoint } from './workload-endpoint.ts';

/**
 * Services of Consul, whose endpoints are their instances. Each datacenter of a service declares it
 * once, and the endpoints are the instances of all datacenters.
 */
export const consulRegistry: Registry = {
  servicesOf(resource) {
    if (resource.kind !== 'ConsulService') return [];
    const { namespace, labels, createdMs, spec } = resource;
    const service: Service = {
      host: spec.host,
      name: spec.host,
      namespace,
      registry: 'ConsulService',
      addresses: [],
      aliases: [],
      ports: spec.ports,
      location: 'internal',
      resolution: 'static',
      subjectAltNames: [],
      serviceAccounts: [],
      trafficDistribution: 'any',
      exportTo: [],
      labels,
      createdMs,
      key: keyOf(resource),
    };
    return [service];
  },

  *affectedServices(_, touched): Generator<NamedService, undefined> {
    for (const { before, after } of touchedOf(touched, 'ConsulInstance'))
      for (const instance of [before, after])
        if (instance !== undefined)
          yield { namespace: instance.namespace, host: instance.spec.host };
  },

  endpointsOf({ consulInstances }, { key, namespace }, { number }) {
    return [...entriesBy(consulInstances, namespace, partsOf(key).name)]
      .filter(({ spec }) => spec.port === number)
      .map((instance) =>
        workloadEndpoint(instance.spec.workload, number, '', {
          namespace: '',
          workloadName: '',
          key: keyOf(instance),
        }),
      );
  },
};
