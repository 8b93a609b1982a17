import { isIpAddress } from '../../../shared/text/host-port.ts';
import { canonicalHost } from './canonical.ts';
import { firstIndexes } from './first-indexes.ts';
import { below, list, needed, type ReadMember, text, wrong } from './members.ts';

/**
 * Reads the namespaces that see a resource: `*` for all of them, `.` for its own.
 *
 * @param nowhere whether `~`, for no namespace, is valid too
 */
export function exportTo(namespace: string, nowhere: 'too' | 'not'): ReadMember<readonly string[]> {
  return (value, place) => {
    const names = list(text)(value, place).map((name) => (name === '.' ? namespace : name));
    const alone = ['*', '~'].find((name) => names.includes(name));
    if (alone !== undefined && names.length > 1)
      wrong(place, `'${alone}' stands alone: leave the others out`);
    const firsts = firstIndexes(names);
    names.forEach((name, index) => {
      const namePlace = below(place, `[${index}]`);
      if (name === '~' && nowhere === 'not')
        wrong(namePlace, `'~' is only for services: use '.' for its own namespace`);
      else if (!['*', '~'].includes(name) && !isLabel(name))
        wrong(
          namePlace,
          `'${name}' is not a namespace: name one, or '.' for its own, or '*' for all`,
        );
      else if (firsts.get(name) !== index) wrong(namePlace, `'${name}' is there twice`);
    });
    return alone === '*' ? [] : names;
  };
}

const label = /^[a-zA-Z0-9](?:[-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$/;

/** Whether a text is a part of a DNS name: letters, digits, and dashes between them. */
export const isLabel = (text: string): boolean => label.test(text);

const areLabels = (parts: readonly string[]): boolean =>
  parts.length > 0 && parts.every((part) => label.test(part));

export const isDnsName = (host: string): boolean =>
  host.length <= 255 && areLabels(host.replace(/\.$/, '').split('.'));

/** Reads the name of a subset; '' if there is none. */
export const subsetName: ReadMember<string> = (value, place) => {
  const read = text(value, place);
  if (read !== '' && !isLabel(read))
    wrong(place, `'${read}' is not a valid name of a subset: letters, digits and - within`);
  return read;
};

/** Reads `front`, `shop/front`, or `front.shop` in the old form. */
export const gatewayName: ReadMember<string> = (value, place) => {
  const read = needed(value, place);
  const parts = read.split('/');
  if (
    read !== '' &&
    (parts.length > 2 ||
      !parts.every(isDnsName) ||
      (parts.length === 2 && !isLabel(parts[0] ?? '')))
  )
    wrong(place, `'${read}' is not a gateway: give NAME, or NAMESPACE/NAME`);
  return read;
};

/**
 * Whether a host is like `*-foo.example.com`: Envoy accepts it as a domain of HTTP, but not as a
 * name in TLS.
 */
export const isPartialWildcard = (host: string): boolean => /^\*[^.]/.test(host);

/**
 * Reads a DNS name in its canonical form. It may begin with `*`, for all names below the rest, or
 * for all names that end with the rest.
 *
 * @param others whether an IP address, and `*` for all, are valid too
 */
export function hostName(others: 'too' | 'not'): ReadMember<string> {
  return (value, place) => {
    const host = canonicalHost(needed(value, place));
    if (host === '') return host;
    if ((host === '*' || isIpAddress(host)) && others === 'too') return host;
    const parts = host.replace(/\.$/, '').split('.');
    const [first = '', ...rest] = parts;
    const isWide = /^\*-?/.exec(first)?.[0] ?? '';
    if (
      host.length > 255 ||
      !areLabels(first === '*' ? rest : [first.slice(isWide.length), ...rest])
    )
      wrong(place, `'${host}' is not a host: give a DNS name, which may begin with '*'`);
    else if (/^\d+$/.test(parts.at(-1) ?? ''))
      wrong(place, `'${host}' is not a host: a DNS name does not end with a number`);
    return host;
  };
}
