import type { AccessCondition, OperationAttribute } from '../../istio/security/access-policy.ts';
import type { PermissionSchema } from '../../../shared/proto/envoy/config/rbac/v3/rbac_pb.ts';
import { UriTemplateMatchConfigSchema } from '../../../shared/proto/envoy/extensions/path/match/uri_template/v3/uri_template_match_pb.ts';
import { type Init, packed } from '../encoding/typed-config.ts';
import {
  type AccessLayer,
  addressRange,
  headerMatcher,
  type Matches,
  matchesOf,
  wildcardMatcher,
} from './access-matches.ts';

type Permission = Init<typeof PermissionSchema>;

const either = (rules: readonly Permission[]): Permission => ({
  rule: { case: 'orRules', value: { rules: [...rules] } },
});

const ofHttp: ReadonlySet<OperationAttribute> = new Set(['host', 'method', 'path']);

/**
 * Returns the operations that meet a condition; undefined if a TCP connection does not have its
 * attribute.
 */
export function operationMatches(
  condition: AccessCondition<OperationAttribute>,
  layer: AccessLayer,
): Matches<Permission> | undefined {
  if (layer === 'tcp' && ofHttp.has(condition.attribute)) return undefined;
  return matchesOf(condition, (values) =>
    either(values.map((value) => permission(condition.attribute, value))),
  );
}

function permission(attribute: OperationAttribute, value: string): Permission {
  switch (attribute) {
    case 'host':
      return { rule: { case: 'header', value: headerMatcher(':authority', value, 'any-case') } };
    case 'method':
      return { rule: { case: 'header', value: headerMatcher(':method', value, 'as-written') } };
    case 'path':
      return pathPermission(value);
    case 'destination.ip':
      return { rule: { case: 'destinationIp', value: addressRange(value) } };
    case 'destination.port':
      return { rule: { case: 'destinationPort', value: Number(value) } };
    case 'connection.sni':
      return { rule: { case: 'requestedServerName', value: wildcardMatcher(value) } };
  }
}

const wildcardParts = /\{(\*{1,2})\}/g;

function pathPermission(value: string): Permission {
  if (value.search(wildcardParts) < 0)
    return {
      rule: { case: 'urlPath', value: { rule: { case: 'path', value: wildcardMatcher(value) } } },
    };
  const pathTemplate = value.replace(wildcardParts, '$1');
  return {
    rule: {
      case: 'uriTemplate',
      value: {
        name: 'uri-template',
        typedConfig: packed(UriTemplateMatchConfigSchema, { pathTemplate }),
      },
    },
  };
}
