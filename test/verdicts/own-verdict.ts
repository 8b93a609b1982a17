import { readResources } from '../../src/pilot-discovery/istio/documents/read-resources.ts';
import { type Case, resourceOf } from './cases.ts';
import type { Verdict } from './verdicts.ts';

/** Returns the verdict of pilot-discovery on a case in a file. Pure. */
export function ownVerdict(testCase: Case): Verdict {
  const place = { source: 'files', path: 'case.yaml', defaultNamespace: 'default' };
  const { flaws } = readResources(JSON.stringify(resourceOf(testCase)), place);
  const textsOf = (severity: 'error' | 'warning') =>
    flaws
      .filter((flaw) => flaw.severity === severity)
      .map(({ field, reason }) => `${field}: ${reason}`);
  return { refused: textsOf('error').join('; '), warnings: textsOf('warning') };
}
