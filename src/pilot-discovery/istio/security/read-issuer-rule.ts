import { isObject } from '../../../shared/text/is-object.ts';
import { jsonOf } from '../../../shared/text/json-of.ts';
import type { Place } from '../fields/members.ts';
import { tokenRule } from './read-token-rule.ts';
import type { RuleKeys, TokenRule } from './token-rule.ts';

/** An issuer whose tokens authenticate callers of the control plane. */
export type IssuerRule = Pick<TokenRule, 'issuer' | 'audiences'> & { readonly keys: RuleKeys };

export type ReadIssuerRule =
  | { readonly ok: true; readonly rule: IssuerRule }
  /** Each flaw begins with the member that it is about. */
  | { readonly ok: false; readonly flaws: readonly string[] };

/** The largest rule, in characters. */
const largest = 64 << 10;

/** Reads an issuer from JSON, which is a member of `jwtRules` of a RequestAuthentication. Pure. */
export function readIssuerRule(text: string): ReadIssuerRule {
  if (text.length > largest)
    return { ok: false, flaws: [`it has more than ${largest} characters`] };
  const value = jsonOf(text);
  if (!isObject(value)) return { ok: false, flaws: ['it is not an object in JSON'] };
  const flaws: string[] = [];
  const tell: Place['tell'] = (path, reason) =>
    flaws.push(path === '' ? reason : `${path}: ${reason}`);
  const place: Place = { parent: undefined, step: '', unknown: 'error', ifWrong: 'refuse', tell };
  const { issuer, audiences, keys } = tokenRule(value, place);
  // istiod then refuses each token.
  if (audiences.length === 0) flaws.push('audiences: it is missing');
  return flaws.length > 0 ? { ok: false, flaws } : { ok: true, rule: { issuer, audiences, keys } };
}
