import type { Resource } from '../../istio/documents/model.ts';
import { isVisible } from './visible-services.ts';

type Rule = Resource<'VirtualService'>;

/**
 * Returns the rules that are exported to a namespace. First come rules of this namespace that name
 * namespaces, then those of other namespaces that do, then rules exported to all. Otherwise their
 * order stays.
 */
export const exportedRules = (rules: readonly Rule[], namespace: string): Rule[] =>
  rules
    .filter((rule) => isVisible(rule.spec.exportTo, rule.namespace, namespace))
    .sort((a, b) => rankOf(a, namespace) - rankOf(b, namespace));

const rankOf = (rule: Rule, namespace: string): number =>
  rule.spec.exportTo.length === 0 ? 2 : rule.namespace === namespace ? 0 : 1;
