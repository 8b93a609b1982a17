import { map, type Observable, switchMap } from 'rxjs';
import { concernsAny } from '../../shared/certificates/crl-verdict.ts';
import { pemCertificates } from '../../shared/certificates/key-pair-flaw.ts';
import { readCrls } from '../../shared/certificates/read-crl.ts';
import type { ServingEvent } from './serving-files.ts';

/**
 * Lets a server refuse revoked clients by the CRLs of the mesh, if one of them is that of a root of
 * the server: without such a CRL, TLS would refuse every client. Subscribes to `serving$` at each
 * change of the CRLs. Cold; completes and errors with its sources.
 *
 * @param crl$ emits the CRLs, PEM, at once; blank if there are none
 */
export function withClientCrls(
  serving$: Observable<ServingEvent>,
  crl$: Observable<string>,
): Observable<ServingEvent> {
  return crl$.pipe(
    // The server overwrites each key after use, so each change needs a new certificate.
    switchMap((crl) => serving$.pipe(map((event) => withCrls(event, crl)))),
  );
}

function withCrls(event: ServingEvent, crl: string): ServingEvent {
  if (event.type !== 'serving') return event;
  const { serving } = event;
  const crls = readCrls(crl);
  return typeof crls !== 'string' && concernsAny(crls, pemCertificates(serving.roots) ?? [])
    ? { type: 'serving', serving: { ...serving, crl } }
    : event;
}
