import { isSecretName } from './passed-on.ts';

/** Names that say so, beside those that are secrets as a rule. */
const names =
  /(?:passwd|pwd|passphrase|(?:^|[_-])pass|auth|authorization|cookie|dsn|(?:private|signing|encryption)[_-]?key)$/i;
const texts: readonly RegExp[] = [
  /PRIVATE KEY-----/,
  /\beyJ[\w-]{8,}\.[\w-]+/, // a JWT
  /^(?:bearer|basic)\s+\S/i,
  /:\/\/[^/\s:@]*:[^/\s@]+@/, // a password in a URL
  /\b(?:gh[a-z]_|github_pat_|glpat-|xox[a-z]-|sk-|AKIA|ASIA|AIza|ya29\.)[\w-]{10,}/,
  /^(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=[^\d]*\d)[\w+][\w+/=-]{23,}$/, // nobody has thought of this text
  /^[\da-f]{32,}$/i,
];

/**
 * Whether a text that a person wrote under a name of their own seems to be a secret. It is for what
 * is shown alone: who is wrong here hides too much. Pure.
 */
export function looksSecret(name: string, text: string): boolean {
  return isSecretName(name) || names.test(name) || texts.some((pattern) => pattern.test(text));
}
