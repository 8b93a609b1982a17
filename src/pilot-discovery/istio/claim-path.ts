const ofToken = '@request.auth.claims';

/**
 * The claim that a match of a header is for, as a path: `@request.auth.claims.a.b` or
 * `@request.auth.claims[a][b]`. Undefined if it is for a header; with an empty part if it names no
 * claim. Pure.
 */
export function claimPath(name: string): readonly string[] | undefined {
  const rest = name.slice(ofToken.length);
  if (!name.startsWith(ofToken) || !/^[.[]/.test(rest)) return undefined;
  if (rest.startsWith('.')) return rest.slice(1).split('.');
  return rest.endsWith(']') ? rest.slice(1, -1).split('][') : [''];
}

/** Whether a match of a header is one of a claim of a token, which gateways alone look at. */
export const isClaim = (name: string): boolean => claimPath(name) !== undefined;
