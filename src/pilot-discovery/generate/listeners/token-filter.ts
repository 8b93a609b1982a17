import type { TokenRule } from '../../istio/security/token-rule.ts';
import {
  JwtAuthenticationSchema,
  type JwtProviderSchema,
  type JwtRequirementSchema,
} from '../../../shared/proto/envoy/extensions/filters/http/jwt_authn/v3/config_pb.ts';
import { type FetchedKeys, keysId } from '../../environment/fetched-keys.ts';
import { nobodysKeys } from '../../istio/security/token-keys.ts';
import { byText } from '../../environment/age.ts';
import { claimsMember, tokenFilterName } from '../encoding/claim-matcher.ts';
import { type Init, typedConfig, type TypedConfig } from '../encoding/typed-config.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';

type Provider = Init<typeof JwtProviderSchema>;
type Requirement = Init<typeof JwtRequirementSchema>;

/**
 * Returns the filter that rejects a request if its token is valid by none of the rules (401). It
 * passes the claims of a valid token to later filters. Undefined without rules. A request without a
 * token passes. The rules are sorted, so that those of one issuer follow each other. Pure.
 *
 * @param fetched the fetched keys, by {@link keysId}
 * @param role a gateway chooses the route again, since it may depend on a claim
 */
export function tokenFilter(
  rules: readonly TokenRule[],
  fetched: FetchedKeys,
  role: ProxyNode['role'],
): TypedConfig | undefined {
  if (rules.length === 0) return undefined;
  const sorted = [...rules].sort((a, b) => byText(a.issuer, b.issuer));
  const named = sorted.map((rule, index) => [`origins-${index}`, rule] as const);
  return typedConfig(tokenFilterName, JwtAuthenticationSchema, {
    providers: Object.fromEntries(
      named.map(([name, rule]) => [name, providerOf(rule, fetched, role)]),
    ),
    rules: [
      {
        match: { pathSpecifier: { case: 'prefix', value: '/' } },
        requirementType: { case: 'requires', value: requirement(named.map(([name]) => name)) },
      },
    ],
    bypassCorsPreflight: true,
  });
}

function providerOf(rule: TokenRule, fetched: FetchedKeys, role: ProxyNode['role']): Provider {
  const { issuer, audiences, fromHeaders, fromParams, fromCookies } = rule;
  return {
    issuer,
    audiences: [...audiences],
    jwksSourceSpecifier: {
      case: 'localJwks',
      value: { specifier: { case: 'inlineString', value: keysOf(rule, fetched) } },
    },
    forward: rule.original === 'forwarded',
    fromHeaders: fromHeaders.map(({ name, prefix }) => ({ name, valuePrefix: prefix })),
    fromParams: [...fromParams],
    fromCookies: [...fromCookies],
    forwardPayloadHeader: rule.payloadHeader,
    payloadInMetadata: claimsMember,
    normalizePayloadInMetadata: { spaceDelimitedClaims: ['scope', 'permission'] },
    claimToHeaders: rule.claimHeaders.map(({ header, claim }) => ({
      headerName: header,
      claimName: claim,
    })),
    clearRouteCache: role === 'router',
  };
}

/** Returns the keys of a rule. If they are unknown, no token is valid. */
const keysOf = ({ keys }: TokenRule, fetched: FetchedKeys): string =>
  keys.type === 'known' ? keys.keys : (fetched.get(keysId(keys.from)) ?? nobodysKeys);

/**
 * Requires one valid token, wherever it is, or no token at any place. So two rules may read the
 * same place.
 */
function requirement(names: readonly string[]): Requirement {
  const each = names.map(valid);
  const [only] = names;
  if (names.length === 1 && only !== undefined) return validOrMissing(only);
  const all: Requirement = {
    requiresType: { case: 'requiresAll', value: { requirements: names.map(validOrMissing) } },
  };
  return anyOf([...each, all]);
}

const valid = (name: string): Requirement => ({
  requiresType: { case: 'providerName', value: name },
});

const validOrMissing = (name: string): Requirement =>
  anyOf([valid(name), { requiresType: { case: 'allowMissing', value: {} } }]);

const anyOf = (requirements: Requirement[]): Requirement => ({
  requiresType: { case: 'requiresAny', value: { requirements } },
});
