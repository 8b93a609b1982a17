import { buildEnvironment } from '../environment/build-environment.ts';
import { byText } from '../environment/age.ts';
import { noChanges } from '../environment/changes.ts';
import type { Environment } from '../environment/environment.ts';
import type { Store } from '../environment/store.ts';
import { flawsOf } from '../environment/store-flaws.ts';
import type { Flaw } from '../istio/documents/model.ts';
import { checkAddresses } from './check-addresses.ts';
import { checkClashes } from './check-clashes.ts';
import { checkGatewayConflicts } from './check-gateways.ts';
import { checkGatewayHosts, checkMeshHosts } from './check-hosts.ts';
import { checkProviders } from './check-providers.ts';
import { checkReach } from './check-reach.ts';
import { checkDestinations, checkGatewayNames, checkRuleHosts } from './check-references.ts';
import { checkSidecarHosts, checkSidecars } from './check-sidecars.ts';
import { checkTls } from './check-tls.ts';
import { checkSelectors, checkSubsetLabels } from './check-selectors.ts';
import { type AnalysisContext, type Check, factsOf } from './facts.ts';
import type { AnalysisFinding } from './finding.ts';

const checks: readonly Check[] = [
  checkDestinations,
  checkGatewayNames,
  checkRuleHosts,
  checkMeshHosts,
  checkGatewayHosts,
  checkReach,
  checkGatewayConflicts,
  checkSidecars,
  checkSidecarHosts,
  checkSelectors,
  checkSubsetLabels,
  checkProviders,
  checkTls,
  checkAddresses,
  checkClashes,
];

/**
 * Finds the mistakes in the resources of a store: those that their readers report, and those
 * between resources. The line of a finding is that of its resource; a reader reports the line of
 * the mistake. Pure.
 */
export function analysisOf(store: Store, context: AnalysisContext): readonly AnalysisFinding[] {
  const mesh = context.mesh?.mesh ?? store.mesh;
  const environment = buildEnvironment(
    undefined,
    { ...store, mesh },
    noChanges,
    context.domain,
    'all',
  );
  return findingsIn(environment, store, context);
}

/** Finds the mistakes as {@link analysisOf} does. `environment` was made of the store. Pure. */
export function findingsIn(
  environment: Environment,
  store: Store,
  context: AnalysisContext,
): readonly AnalysisFinding[] {
  const facts = factsOf(environment, context);
  return [
    ...(context.mesh?.flaws ?? []).flatMap(asFinding),
    ...flawFindings(store, environment.warnings),
    ...checks.flatMap((check) => [...check(facts)]),
  ];
}

/**
 * Returns the flaws that readers report in the resources of a store, and those of its environment.
 * Pure.
 *
 * @param warnings those of the environment
 */
export function flawFindings(store: Store, warnings: readonly Flaw[]): readonly AnalysisFinding[] {
  const read = flawsOf(store).flatMap(asFinding);
  const missing = warnings.map(({ key, origin, field, reason }): AnalysisFinding => ({
    code: 'IST0101',
    key,
    origin,
    field,
    reason,
  }));
  const lost = [...store.sources].flatMap(
    ([path, { lost: reason }]): readonly AnalysisFinding[] => {
      const origin = { source: path, path, line: 0 };
      return reason === undefined
        ? []
        : [{ code: 'IST0106', key: undefined, origin, field: '', reason }];
    },
  );
  return [...lost, ...read, ...missing];
}

/** A document of another program is not a finding. */
function asFinding({ key, origin, field, reason, severity }: Flaw): readonly AnalysisFinding[] {
  if (severity === 'info') return [];
  return [{ code: severity === 'error' ? 'IST0106' : 'IST0133', key, origin, field, reason }];
}

/** In order of files, lines and fields. */
export function inOrder(findings: readonly AnalysisFinding[]): readonly AnalysisFinding[] {
  return findings.toSorted(
    (a, b) =>
      byText(a.origin.path, b.origin.path) ||
      a.origin.line - b.origin.line ||
      byText(a.field, b.field),
  );
}
