import type { TokenRule } from './token-rule.ts';
import type { Selector } from '../fields/values.ts';

/** An AuthorizationPolicy or a RequestAuthentication, for the workloads that it selects. */
export interface AccessPolicy {
  readonly selector: Selector;
  readonly effect: AccessEffect;
}

export type AccessEffect =
  | { readonly type: 'nothing' }
  /** The policy is refused. Since it restricts access, nobody may connect. */
  | { readonly type: 'closes' }
  | AccessRules
  | AskingRules
  /** The effect of a RequestAuthentication: a token that no rule accepts is refused. */
  | { readonly type: 'tokens'; readonly rules: readonly TokenRule[] };

export interface AccessRules {
  readonly type: 'rules';
  readonly action: 'allow' | 'deny' | 'audit';
  /** `dry-run`: Envoy counts what it would do, and does nothing. */
  readonly mode: 'enforced' | 'dry-run';
  /** A request matches if it matches at least one rule. */
  readonly rules: readonly AccessRule[];
}

/** If a request matches one of the rules, an authorizer decides on it. */
interface AskingRules {
  readonly type: 'asks';
  /** The name of the authorizer in the MeshConfig. */
  readonly provider: string;
  readonly rules: readonly AccessRule[];
}

/** A request matches if it matches one list of each member. An empty list matches each request. */
export interface AccessRule {
  /** Conditions for the caller, its token and its headers. */
  readonly callers: readonly (readonly AccessCondition<CallerAttribute>[])[];
  /** Conditions for the called operation. */
  readonly operations: readonly (readonly AccessCondition<OperationAttribute>[])[];
}

/** It is met if a request has one of `values`, if there are any, and none of `notValues`. */
export interface AccessCondition<A extends AccessAttribute = AccessAttribute> {
  readonly attribute: A;
  /** The name of a header, or the path of a claim; empty for all other attributes. */
  readonly path: readonly string[];
  readonly values: readonly string[];
  readonly notValues: readonly string[];
}

export type AccessAttribute = CallerAttribute | OperationAttribute;

export type CallerAttribute =
  | 'source.principal'
  | 'source.namespace'
  /** `namespace/account` */
  | 'source.serviceAccount'
  | 'source.ip'
  | 'remote.ip'
  | 'request.auth.principal'
  | 'request.auth.audiences'
  | 'request.auth.presenter'
  | 'request.auth.claims'
  | 'request.headers';

export type OperationAttribute =
  'host' | 'method' | 'path' | 'destination.ip' | 'destination.port' | 'connection.sni';
