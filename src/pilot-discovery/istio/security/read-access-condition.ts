import { portNumber } from '../../../shared/text/host-port.ts';
import { meant } from '../../../shared/text/one-edit.ts';
import type {
  AccessAttribute,
  AccessCondition,
  CallerAttribute,
  OperationAttribute,
} from './access-policy.ts';
import { isAddressRange } from '../fields/canonical.ts';
import { isHeaderName } from '../fields/header-format.ts';
import {
  list,
  members,
  needed,
  type Place,
  type ReadMember,
  text,
  wrong,
} from '../fields/members.ts';

/** The attributes in a `when`; some have the key of a header or claim in brackets. */
const plainKeys = [
  'source.ip',
  'remote.ip',
  'source.namespace',
  'source.principal',
  'source.serviceAccount',
  'request.auth.principal',
  'request.auth.audiences',
  'request.auth.presenter',
  'destination.ip',
  'destination.port',
  'connection.sni',
] as const;
const bracketedKeys = ['request.headers', 'request.auth.claims'] as const;

const ofOperations: ReadonlySet<AccessAttribute> = new Set<OperationAttribute>([
  'host',
  'method',
  'path',
  'destination.ip',
  'destination.port',
  'connection.sni',
]);

/** Whether a condition is about the called operation. */
export const isOfOperation = (
  condition: AccessCondition,
): condition is AccessCondition<OperationAttribute> => ofOperations.has(condition.attribute);

/** Whether a condition is about the caller. */
export const isOfCaller = (
  condition: AccessCondition,
): condition is AccessCondition<CallerAttribute> => !ofOperations.has(condition.attribute);

/** Reads the values of an attribute. A value that nothing can match is an error. */
export function readValues(attribute: AccessAttribute): ReadMember<readonly string[]> {
  const flaw = flaws[attribute];
  return list((value, place) => {
    const read = text(value, place);
    if (value !== undefined && typeof value !== 'string') return read;
    if (read === '') wrong(place, 'no request matches an empty text');
    else if (flaw !== undefined) {
      const reason = flaw(read);
      if (reason !== undefined) wrong(place, `'${read}' ${reason}`);
    }
    return read;
  });
}

type Flaw = (value: string) => string | undefined;

const addressFlaw: Flaw = (value) =>
  isAddressRange(value) ? undefined : 'is not an IP address or a range (such as 10.0.0.0/8)';

const portFlaw: Flaw = (value) =>
  portNumber(value) === undefined ? 'is not a port (1 to 65535)' : undefined;

/** The longest template of a path that Envoy accepts, in characters. */
const longestTemplate = 256;
const literalPart = /^[\w\-.~%!$&'()+,;:@=]+$/;

/**
 * Explains why a path breaks Envoy's rule for templates. A part may be `{*}`; one part may be
 * `{**}`. Envoy 1.40 aborts if a template breaks the rule.
 */
const pathFlaw: Flaw = (value) => {
  if (!/[{}]/.test(value)) return undefined;
  const parts = value.replace(/^\//, '').split('/');
  const isWild = (part: string) => part === '{*}' || part === '{**}';
  if (parts.some((part) => !isWild(part) && /[{}*]/.test(part)))
    return 'has braces or a * in a part that is not {*} or {**}';
  if (!value.startsWith('/')) return 'is a template that does not begin with /';
  if (value.replace(/[{}]/g, '').length > longestTemplate)
    return `is a template of more than ${longestTemplate} characters`;
  const templateParts = parts.at(-1) === '' ? parts.slice(0, -1) : parts;
  const odd = templateParts.find((part) => !isWild(part) && !literalPart.test(part));
  if (odd !== undefined) return `is a template with the part '${odd}', which Envoy does not accept`;
  const position = parts.indexOf('{**}');
  return position >= 0 && parts.slice(position + 1).some((part) => /^\{\*{1,2}\}$/.test(part))
    ? 'has a {*} or {**} after its {**}'
    : undefined;
};

/** No name in Kubernetes has a character that is special in a regular expression. */
const namespaceFlaw: Flaw = (value) =>
  /^[\w.*-]+$/.test(value) ? undefined : 'is not a valid name of a namespace';

const accountFlaw: Flaw = (value) =>
  value.includes('*')
    ? 'has a *, which is not served for service accounts'
    : /^(?:[\w.-]+\/)?[\w.-]+$/.test(value)
      ? undefined
      : 'is not an account, or NAMESPACE/ACCOUNT';

const flaws: Partial<Record<AccessAttribute, Flaw>> = {
  'source.ip': addressFlaw,
  'remote.ip': addressFlaw,
  'destination.ip': addressFlaw,
  'destination.port': portFlaw,
  'source.namespace': namespaceFlaw,
  'source.serviceAccount': accountFlaw,
  path: pathFlaw,
};

/** Reads an entry of `when`. */
export const accessCondition: ReadMember<AccessCondition> = (value, place) =>
  members(value, place, [], (get) => {
    const { attribute, path } = get('key', readKey);
    const values = get('values', readValues(attribute));
    const notValues = get('notValues', readValues(attribute));
    if (values.length + notValues.length === 0) wrong(place, 'it needs values or notValues');
    return { attribute, path, values, notValues };
  });

interface Key {
  readonly attribute: AccessAttribute;
  readonly path: readonly string[];
}

const readKey: ReadMember<Key> = (value, place) => {
  const key = needed(value, place);
  const otherwise: Key = { attribute: 'source.principal', path: [] };
  if (key === '') return otherwise;
  const plain = plainKeys.find((name) => name === key);
  if (plain !== undefined) return { attribute: plain, path: [] };
  const bracketed = bracketedKeys.find((name) => key.startsWith(name));
  if (bracketed !== undefined) return readBrackets(bracketed, key, place) ?? otherwise;
  const near = meant(key.replace(/\[.*/s, ''), [...plainKeys, ...bracketedKeys]);
  wrong(
    place,
    `'${key}' is not an attribute that is served${near === undefined ? '' : `: did you mean ${near}?`}`,
  );
  return otherwise;
};

function readBrackets(
  attribute: (typeof bracketedKeys)[number],
  key: string,
  place: Place,
): Key | undefined {
  const brackets = key.slice(attribute.length);
  const path = /^(?:\[[^[\]]+\])+$/.test(brackets) ? brackets.slice(1, -1).split('][') : [];
  const [name = ''] = path;
  const isHeader = path.length === 1 && isHeaderName(name.replace(/^:/, ''));
  if (path.length > 0 && (attribute === 'request.auth.claims' || isHeader))
    return { attribute, path };
  const kind = attribute === 'request.headers' ? 'header' : 'claim';
  wrong(place, `'${key}' has no name of a ${kind} in brackets: ${attribute}[name]`);
  return undefined;
}
