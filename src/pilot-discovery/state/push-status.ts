import { listenerClashes } from '../generate/listeners/listener-clashes.ts';
import { authorizerOf } from '../generate/scope/authorizer-of.ts';
import { ownMember } from '../../shared/text/own-member.ts';
import { type AnyResource, type Flaw, keyOf, type ResourceKey } from '../istio/documents/model.ts';
import type { Labels } from '../istio/fields/values.ts';
import { type Environment, serviceKey } from '../environment/environment.ts';
import { resourceAt } from '../environment/resources.ts';
import { registryConflicts } from './registry-conflicts.ts';

/**
 * Returns the ports of services, as `host:port`, that have no endpoints, if all endpoints are known
 * here. Pure.
 */
export function withoutEndpoints({ services, endpoints }: Environment): readonly string[] {
  return [...services.values()].flat().flatMap((service) => {
    if (service.resolution !== 'static') return [];
    const endpointsByPort = endpoints.get(serviceKey(service));
    return service.ports
      .filter(({ number }) => (endpointsByPort?.get(number) ?? []).length === 0)
      .map(({ number }) => `${service.host}:${number}`);
  });
}

/** Returns the settings of good resources that proxies do not get because of other resources. */
export function leftOut(environment: Environment): readonly Flaw[] {
  const warningAt =
    (field: string) =>
    ({ key, reason }: { readonly key: ResourceKey; readonly reason: string }): Flaw => {
      const origin = resourceAt(environment.resources, key)?.origin ?? {
        source: '',
        path: '',
        line: 0,
      };
      return { key, origin, field, reason, severity: 'warning' };
    };
  return [
    ...environment.warnings,
    ...listenerClashes(environment).map(warningAt('spec.ports')),
    ...registryConflicts(environment).map(warningAt('')),
    ...unasked(environment),
  ];
}

/** Returns a warning for each policy with CUSTOM whose authorizer cannot be asked. */
function unasked(environment: Environment): readonly Flaw[] {
  const { accessPolicies, mesh } = environment;
  const asking = (namespace: string): readonly AskingPolicy[] =>
    (accessPolicies.get(namespace) ?? []).flatMap(({ spec: { effect, selector }, ...policy }) =>
      effect.type === 'asks'
        ? [{ policy, selector: selector ?? {}, provider: effect.provider }]
        : [],
    );
  const rootPolicies = asking(mesh.rootNamespace);
  return [...accessPolicies.keys()].flatMap((namespace) => {
    const namespacePolicies = asking(namespace);
    const policies =
      namespace === mesh.rootNamespace
        ? namespacePolicies
        : [...namespacePolicies, ...rootPolicies];
    const providers = new Set(policies.map(({ provider }) => provider));
    return namespacePolicies.flatMap(({ policy, selector, provider }): readonly Flaw[] => {
      const authorizer = authorizerOf(environment, [provider]);
      const conflict =
        providers.size < 2
          ? undefined
          : policies.find(
              (candidate) =>
                candidate.provider !== provider && mayBothSelect(candidate.selector, selector),
            );
      const reason =
        authorizer.type === 'bad'
          ? authorizer.reason
          : conflict &&
            `${keyOf(conflict.policy)} asks ${conflict.provider} for the same workloads`;
      if (reason === undefined) return [];
      return [
        {
          key: keyOf(policy),
          origin: policy.origin,
          field: 'spec.provider.name',
          reason: `${reason}, so the calls that it matches are refused`,
          severity: 'warning',
        },
      ];
    });
  });
}

interface AskingPolicy {
  readonly policy: Pick<AnyResource, 'kind' | 'namespace' | 'name' | 'origin'>;
  readonly selector: Labels;
  readonly provider: string;
}

/** Returns whether a workload may have the labels of both. */
const mayBothSelect = (first: Labels, second: Labels): boolean =>
  Object.entries(first).every(([name, value]) => (ownMember(second, name) ?? value) === value);
