const ofToken = '@request.auth.claims';

/**
 * Returns the path of the claim that a header match is for: `@request.auth.claims.a.b` or
 * `@request.auth.claims[a][b]`. Undefined if it is for a header; with an empty part if it names no
 * claim. Pure.
 */
export function claimPath(name: string): readonly string[] | undefined {
  const rest = name.slice(ofToken.length);
  if (!name.startsWith(ofToken) || !/^[.[]/.test(rest)) return undefined;
  if (rest.startsWith('.')) return rest.slice(1).split('.');
  return rest.endsWith(']') ? rest.slice(1, -1).split('][') : [''];
}

/** Whether a header match is for a claim of a token. Only gateways evaluate such a match. */
export const isClaim = (name: string): boolean => claimPath(name) !== undefined;
