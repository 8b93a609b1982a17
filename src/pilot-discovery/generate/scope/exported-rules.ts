import type { Resource } from '../../istio/model.ts';
import { isVisible } from './visible-services.ts';

type Rule = Resource<'VirtualService'>;

/**
 * The rules that are exported to a namespace. One of the namespace for some namespaces comes before
 * one of another for some, and that before one for all; others stay in their order.
 */
export const exportedRules = (rules: readonly Rule[], namespace: string): Rule[] =>
  rules
    .filter((rule) => isVisible(rule.spec.exportTo, rule.namespace, namespace))
    .sort((a, b) => rankOf(a, namespace) - rankOf(b, namespace));

const rankOf = (rule: Rule, namespace: string): number =>
  rule.spec.exportTo.length === 0 ? 2 : rule.namespace === namespace ? 0 : 1;
