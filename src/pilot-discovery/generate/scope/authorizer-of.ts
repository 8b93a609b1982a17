import type { Authorizer } from '../../istio/mesh/authorizer.ts';
import type { Resource } from '../../istio/documents/model.ts';
import type { AccessPolicyKind, Environment } from '../../environment/environment.ts';
import { outboundName } from './cluster-name.ts';
import { placeOfProvider } from './provider-place.ts';

/** An authorizer that can be asked, or the reason why none can. */
export type AuthorizerLookup =
  | { readonly type: 'found'; readonly authorizer: Authorizer; readonly cluster: string }
  | { readonly type: 'bad'; readonly reason: string };

const bad = (reason: string): AuthorizerLookup => ({ type: 'bad', reason });

/**
 * Returns the authorizer of policies that name these providers. As in Istio, they may name only
 * one.
 */
export function authorizerOf(
  environment: Pick<Environment, 'mesh' | 'services'>,
  providers: readonly string[],
): AuthorizerLookup {
  const [first = '', second] = [...new Set(providers)];
  return second === undefined
    ? authorizerNamed(environment, first)
    : bad(`the providers ${first} and ${second} cannot both be asked`);
}

function authorizerNamed(
  environment: Pick<Environment, 'mesh' | 'services'>,
  name: string,
): AuthorizerLookup {
  const authorizer = environment.mesh.authorizers.find(
    (provider) => provider.name === name,
  )?.authorizer;
  if (authorizer === undefined)
    return bad(`the MeshConfig has no extensionProvider ${name} that can be asked`);
  if (authorizer === 'closed') return bad(`the extensionProvider ${name} is wrong`);
  const { host, namespace, port } = authorizer;
  const place = placeOfProvider(environment, host, namespace);
  if (place.type === 'missing')
    return bad(
      `the extensionProvider ${name} is at a service that is not there: ${namespace === '' ? '' : `${namespace}/`}${host}`,
    );
  if (place.type === 'several')
    return bad(
      `services of the namespaces ${place.namespaces.join(', ')} have the host ${host}: give NAMESPACE/HOST in the extensionProvider ${name}`,
    );
  return { type: 'found', authorizer, cluster: outboundName({ port, subset: '', host }) };
}

/** Returns the services that {@link authorizerOf} reads: the same objects until they change. */
export const servicesOfAuthorizers = ({ mesh, services }: Environment): readonly unknown[] =>
  mesh.authorizers.map(({ authorizer }) =>
    authorizer === 'closed' ? authorizer : services.get(authorizer.host),
  );

/** Returns the cluster of the authorizer that policies ask; [] if none can be asked. */
export function authorizerClusters(
  environment: Pick<Environment, 'mesh' | 'services'>,
  policies: readonly Resource<AccessPolicyKind>[],
): readonly string[] {
  const providers = policies.flatMap(({ spec: { effect } }) =>
    effect.type === 'asks' ? [effect.provider] : [],
  );
  if (providers.length === 0) return [];
  const authorizer = authorizerOf(environment, providers);
  return authorizer.type === 'found' ? [authorizer.cluster] : [];
}
