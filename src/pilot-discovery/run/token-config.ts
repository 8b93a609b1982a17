import { type IssuerRule, readIssuerRule } from '../istio/security/read-issuer-rule.ts';

/** How the tokens of callers are reviewed. */
export interface TokenConfig {
  /** A token that the Kubernetes API reviews must have one of these audiences. */
  readonly audiences: readonly string[];
  /** The issuer whose tokens the control plane verifies; undefined if there is none. */
  readonly rule: IssuerRule | undefined;
}

export interface ResolvedTokens {
  readonly config: TokenConfig;
  /** Everything that is wrong, each with its variable. */
  readonly problems: readonly string[];
}

/** The names of the variables, with their defaults. */
export const tokenDefaults = { TOKEN_AUDIENCES: 'istio-ca', JWT_RULE: '' } as const;

type TokenVariable = keyof typeof tokenDefaults;

/** Returns how tokens are reviewed, from the environment. Pure. */
export function tokenConfig(env: Readonly<Record<string, string | undefined>>): ResolvedTokens {
  const problems: string[] = [];
  const textOf = (name: TokenVariable): string => {
    const text = env[name] ?? '';
    return text === '' ? tokenDefaults[name] : text;
  };
  const audiences = textOf('TOKEN_AUDIENCES')
    .split(',')
    .map((audience) => audience.trim())
    .filter((audience) => audience !== '');
  // Without an audience, the API would accept a token whose audience is the API itself.
  if (audiences.length === 0)
    problems.push(`TOKEN_AUDIENCES: '${textOf('TOKEN_AUDIENCES')}' names no audience`);
  const read = textOf('JWT_RULE') === '' ? undefined : readIssuerRule(textOf('JWT_RULE'));
  if (read?.ok === false) problems.push(...read.flaws.map((flaw) => `JWT_RULE: ${flaw}`));
  return { config: { audiences, rule: read?.ok === true ? read.rule : undefined }, problems };
}
