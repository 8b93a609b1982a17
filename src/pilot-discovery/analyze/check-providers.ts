import type { ProviderAddress } from '../istio/fields/provider-address.ts';
import { type ExtensionProvider, isLogProvider } from '../istio/telemetry/extension-provider.ts';
import type { Resource } from '../istio/documents/model.ts';
import { isTracer } from '../istio/telemetry/tracer.ts';
import { placeOfProvider } from '../generate/scope/provider-place.ts';
import { type AnalysisFacts, type Check, finding, isDefinedElsewhere } from './facts.ts';
import type { AnalysisFinding } from './finding.ts';

/**
 * Finds providers that a rule names and cannot use: the MeshConfig lacks them, they are for another
 * purpose, or their address is wrong.
 */
export const checkProviders: Check = function* (facts) {
  if (facts.mesh === undefined) return;
  const { mesh } = facts.mesh;
  for (const telemetry of facts.telemetries)
    for (const named of namedIn(telemetry))
      yield* providerFindings(facts, mesh.providers, telemetry, named);

  const names = mesh.authorizers.map(({ name }) => name);
  for (const policy of facts.authorizationPolicies) {
    const { effect } = policy.spec;
    if (effect.type !== 'asks') continue;
    const field = 'spec.provider.name';
    const authorizer = mesh.authorizers.find(({ name }) => name === effect.provider)?.authorizer;
    if (authorizer === undefined)
      yield finding('IST0101', policy, field, lacking('authorizer', effect.provider, names));
    else if (authorizer !== 'closed')
      yield* addressFindings(facts, policy, field, effect.provider, {
        service:
          authorizer.namespace === ''
            ? authorizer.host
            : `${authorizer.namespace}/${authorizer.host}`,
        port: authorizer.port,
      });
  }
};

interface Purpose {
  readonly what: string;
  readonly isRight: (provider: ExtensionProvider) => boolean;
}
const logs: Purpose = { what: 'access logs', isRight: isLogProvider };
const spans: Purpose = { what: 'spans', isRight: isTracer };
const metrics: Purpose = { what: 'metrics', isRight: ({ type }) => type === 'other' };

interface NamedProvider {
  readonly field: string;
  readonly name: string;
  readonly purpose: Purpose;
}

/** A MeshConfig need not define these. */
const builtIn: ReadonlySet<string> = new Set(['envoy', 'prometheus', 'stackdriver']);

function* namedIn({ spec }: Resource<'Telemetry'>): Generator<NamedProvider> {
  const fieldOf = (list: string, entry: number, provider: number) =>
    `spec.${list}[${entry}].providers[${provider}].name`;
  for (const [index, { providers }] of spec.accessLogging.entries())
    for (const [place, name] of providers.entries())
      yield { field: fieldOf('accessLogging', index, place), name, purpose: logs };
  for (const [index, { provider }] of spec.tracing.entries())
    if (provider !== undefined)
      yield { field: fieldOf('tracing', index, 0), name: provider, purpose: spans };
  for (const [index, providers] of spec.metrics.entries())
    for (const [place, name] of providers.entries())
      yield { field: fieldOf('metrics', index, place), name, purpose: metrics };
}

function* providerFindings(
  facts: AnalysisFacts,
  providers: readonly ExtensionProvider[],
  telemetry: Resource<'Telemetry'>,
  { field, name, purpose: { what, isRight } }: NamedProvider,
): Generator<AnalysisFinding> {
  // Istio ignores case here.
  const namesake = providers.find((other) => other.name.toLowerCase() === name.toLowerCase());
  const right = providers.filter(isRight).map((provider) => provider.name);
  if (namesake !== undefined && isRight(namesake)) {
    if ('at' in namesake) yield* addressFindings(facts, telemetry, field, name, namesake.at);
  } else if (namesake !== undefined || builtIn.has(name.toLowerCase())) {
    // Metrics of any provider have no effect: the reader of the Telemetry reports that.
    if (what !== 'metrics')
      yield finding(
        'IST0133',
        telemetry,
        field,
        `${name} takes no ${what}${choice(right, 'define one that does')}`,
      );
  } else yield finding('IST0101', telemetry, field, lacking('provider', name, right));
}

const lacking = (kind: string, name: string, others: readonly string[]): string =>
  `the MeshConfig has no ${kind} ${name}${choice(others)}`;

const choice = (names: readonly string[], otherwise = 'define it'): string =>
  names.length === 0 ? `: ${otherwise}` : `: name one of ${names.join(', ')}`;

/** Finds wrong addresses of providers: no service, several services, or no such port. */
function* addressFindings(
  facts: AnalysisFacts,
  resource: Resource<'Telemetry' | 'AuthorizationPolicy'>,
  field: string,
  name: string,
  { service, port }: ProviderAddress,
): Generator<AnalysisFinding> {
  const [host = '', namespace = ''] = service.split('/').reverse();
  if (isDefinedElsewhere(facts, host)) return;
  const place = placeOfProvider(facts.environment, host, namespace);
  const hostServices = facts.environment.services.get(host) ?? [];
  const ports = [
    ...new Set(
      hostServices.flatMap((hostService) => hostService.ports.map(({ number }) => number)),
    ),
  ];
  if (place.type === 'missing')
    yield finding(
      'IST0101',
      resource,
      field,
      `the provider ${name} is at ${service}, and no service has that host: define it`,
    );
  else if (place.type === 'several')
    yield finding(
      'IST0101',
      resource,
      field,
      `the provider ${name} is at ${host}, and several namespaces have that host (${place.namespaces.join(', ')}): give NAMESPACE/HOST in the MeshConfig`,
    );
  else if (!ports.includes(port))
    yield finding(
      'IST0101',
      resource,
      field,
      `the provider ${name} is at port ${port} of ${service}, which has the ports ${ports.sort((a, b) => a - b).join(', ')}`,
    );
}
