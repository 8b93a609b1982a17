import { readResources } from '../../src/pilot-discovery/istio/documents/read-resources.ts';
import { type Case, resourceOf } from './cases.ts';
import type { Verdict } from './verdicts.ts';

/** What pilot-discovery says of a case in a file. Pure. */
export function ownVerdict(one: Case): Verdict {
  const place = { source: 'files', path: 'case.yaml', defaultNamespace: 'default' };
  const { flaws } = readResources(JSON.stringify(resourceOf(one)), place);
  const said = (severity: 'error' | 'warning') =>
    flaws
      .filter((flaw) => flaw.severity === severity)
      .map(({ field, reason }) => `${field}: ${reason}`);
  return { refused: said('error').join('; '), warnings: said('warning') };
}
