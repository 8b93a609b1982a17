import { ownMember } from '../../../shared/text/own-member.ts';
import type { Head } from './kinds.ts';
import { distributionAnnotation } from '../hosts/traffic-distribution.ts';

/** Reads the head of a document. A member that is not a text is ''. */
export function headOf(value: unknown): Head {
  const memberOf = (inner: unknown, name: string): unknown =>
    typeof inner === 'object' && inner !== null
      ? ownMember(inner as Readonly<Record<string, unknown>>, name)
      : undefined;
  const words = (member: unknown) => (typeof member === 'string' ? member : '');
  const metadata = memberOf(value, 'metadata');
  return {
    apiVersion: words(memberOf(value, 'apiVersion')),
    kind: words(memberOf(value, 'kind')),
    name: words(memberOf(metadata, 'name')),
    namespace: words(memberOf(metadata, 'namespace')),
    dryRun: words(memberOf(memberOf(metadata, 'annotations'), 'istio.io/dry-run')),
    distribution: words(memberOf(memberOf(metadata, 'annotations'), distributionAnnotation)),
  };
}
