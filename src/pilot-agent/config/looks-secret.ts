import { isSecretName } from './passed-on.ts';

/** Names that suggest a secret, beside those in `isSecretName`. */
const names =
  /(?:passwd|pwd|passphrase|(?:^|[_-])pass|auth|authorization|cookie|dsn|(?:private|signing|encryption)[_-]?key)$/i;
const texts: readonly RegExp[] = [
  /PRIVATE KEY-----/,
  /\beyJ[\w-]{8,}\.[\w-]+/, // a JWT
  /^(?:bearer|basic)\s+\S/i,
  /:\/\/[^/\s:@]*:[^/\s@]+@/, // a password in a URL
  /\b(?:gh[a-z]_|github_pat_|glpat-|xox[a-z]-|sk-|AKIA|ASIA|AIza|ya29\.)[\w-]{10,}/,
  /^(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=[^\d]*\d)[\w+][\w+/=-]{23,}$/, // random characters, not a text that a person wrote
  /^[\da-f]{32,}$/i,
];

/**
 * Says whether a text under a name that the user chose seems to be a secret. Use it only for what
 * is shown: a wrong guess hides too much. Pure.
 */
export function looksSecret(name: string, text: string): boolean {
  return isSecretName(name) || names.test(name) || texts.some((pattern) => pattern.test(text));
}
