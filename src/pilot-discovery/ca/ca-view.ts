import type { AuthorityReading } from './authority-files.ts';
import { noCrl, type ServedCrl } from '../../shared/certificates/serve-crl.ts';
import { afterReading, type AuthorityState, noAuthority } from './authority-state.ts';
import type { RootMapsNews } from './reduce-root-maps.ts';
import type { CertificateEvent, RefusalKind } from './serve-certificates.ts';

/** An event of the certificate authority. */
export type AuthorityEvent =
  | CertificateEvent
  | RootMapsNews
  /** The news of the ConfigMaps with CRLs. */
  | { readonly type: 'crl-maps'; readonly news: RootMapsNews }
  /** The CRLs that are in use from now on. `path` is their place. */
  | { readonly type: 'crl-read'; readonly path: string; readonly crl: ServedCrl }
  | { readonly type: 'authority-read'; readonly reading: AuthorityReading };

/** The state of the certificate authority of a control plane that runs. */
export interface CaView {
  readonly authority: AuthorityState;
  readonly crl: ServedCrl;
  /** Certificates since the start. */
  readonly issued: number;
  /** Requests that were refused since the start. */
  readonly refused: Readonly<Record<RefusalKind, number>>;
}

export const initialCa: CaView = {
  authority: noAuthority,
  crl: noCrl,
  issued: 0,
  refused: { request: 0, lifetime: 0, identity: 0, authority: 0, absent: 0, rate: 0, bug: 0 },
};

/** Returns the view after an event. Pure. */
export function foldCa(view: CaView, event: AuthorityEvent): CaView {
  switch (event.type) {
    case 'authority-read':
      return { ...view, authority: afterReading(view.authority, event.reading) };
    case 'crl-read':
      return { ...view, crl: event.crl };
    case 'crl-maps':
    case 'roots-published':
    case 'roots-unpublished':
    case 'roots-contested':
      return view;
    case 'certificate-issued':
      return { ...view, issued: view.issued + 1 };
    case 'certificate-refused': {
      const { kind } = event;
      return { ...view, refused: { ...view.refused, [kind]: view.refused[kind] + 1 } };
    }
  }
}

/**
 * Returns why the authority has no key yet; undefined if it has one, or if there is no authority.
 * Pure.
 */
export function caLack({ authority }: CaView): string | undefined {
  if (authority.type === 'unread') return 'the certificate authority has no key: it is being read';
  return authority.type === 'refused'
    ? `the certificate authority has no key: ${authority.flaw}`
    : undefined;
}

/** Returns why the newest key of the authority, or its newest CRLs, are not used. Pure. */
export function caNote({ authority, crl }: CaView): string | undefined {
  if (authority.type === 'signs' && authority.flaw !== undefined)
    return `the certificate authority cannot use its newest key, the previous one stays in use: ${authority.flaw}`;
  return crl.flaw === undefined ? undefined : `the newest CRLs cannot be used: ${crl.flaw}`;
}
