import type { ServedCrl } from '../../shared/certificates/serve-crl.ts';
import { line, type LogLine } from '../../shared/log/log-line.ts';
import type { AuthorityEvent, CaView } from './ca-view.ts';
import type { RootMapsNews } from './reduce-root-maps.ts';
import type { SigningAuthority } from './signing-authority.ts';

/** Returns the lines of the log for an event, given the view before it. Pure. */
export function narrateCa(
  { authority: before, crl: crlBefore }: CaView,
  event: AuthorityEvent,
): readonly LogLine[] {
  switch (event.type) {
    case 'authority-read': {
      const { reading } = event;
      if (reading.type === 'absent')
        return before.type === 'signs'
          ? [line('discovery.authority_refused', { reason: `${before.path}: its files are gone` })]
          : [];
      if (reading.type === 'refused')
        return [line('discovery.authority_refused', { reason: reading.reason })];
      const { path, authority } = reading;
      const { fingerprint, notAfter, roots } = authority;
      const fields = { path, hash: short(fingerprint), notAfter: timeOf(notAfter) };
      const isForeign = before.type === 'signs' && !shareRoot(before.authority, authority);
      return [
        line('discovery.authority_ready', { ...fields, roots: roots.length }),
        ...(isForeign ? [line('discovery.root_replaced', fields)] : []),
      ];
    }
    case 'crl-read':
      return narrateCrl(crlBefore, event);
    case 'crl-maps':
      return [narrateCrlMaps(event.news)];
    case 'roots-published': {
      const { digest, namespaces, written } = event;
      return [line('discovery.roots_published', { hash: short(digest), namespaces, written })];
    }
    case 'roots-unpublished':
      return [line('discovery.roots_unpublished', { reason: event.reason })];
    case 'roots-contested':
      return [line('discovery.roots_contested', { namespace: event.namespace })];
    case 'certificate-issued': {
      const { identity, address, serialNumber: serial, notAfter } = event;
      return [
        line('discovery.certificate_issued', {
          identity,
          serial,
          notAfter: timeOf(notAfter),
          address,
        }),
      ];
    }
    case 'certificate-refused': {
      const { identity, address, reason, logged } = event;
      return logged === undefined
        ? []
        : [line('discovery.certificate_refused', { identity, address, reason, requests: logged })];
    }
  }
}

function narrateCrl(
  before: ServedCrl,
  { path, crl }: Extract<AuthorityEvent, { readonly type: 'crl-read' }>,
): readonly LogLine[] {
  const { text, flaw, revoked, until = Infinity } = crl;
  if (flaw !== undefined) {
    const effect = text === '' ? 'none' : 'old';
    const isOld = flaw === before.flaw && text === before.text;
    return isOld ? [] : [line('discovery.crl_refused', { path, reason: flaw }, effect)];
  }
  if (text === before.text && before.flaw === undefined) return [];
  if (text === '') return [line('discovery.crl_gone', { path })];
  const end = until === Infinity ? {} : { nextUpdate: timeOf(until) };
  return [line('discovery.crl_ready', { path, revoked, ...end })];
}

function narrateCrlMaps(news: RootMapsNews): LogLine {
  switch (news.type) {
    case 'roots-published': {
      const { namespaces, written } = news;
      return line('discovery.crl_published', { namespaces, written });
    }
    case 'roots-unpublished':
      return line('discovery.crl_unpublished', { reason: news.reason });
    case 'roots-contested':
      return line('discovery.crl_contested', { namespace: news.namespace });
  }
}

const short = (hex: string): string => hex.slice(0, 8);
const timeOf = (ms: number): string => new Date(ms).toISOString();

/** Whether proxies that trust one authority accept certificates of the other. */
const shareRoot = (before: SigningAuthority, after: SigningAuthority): boolean =>
  after.roots.some((root) => before.roots.includes(root));
