import { closable } from '../fields/closable.ts';
import type { ClientTls } from './destination-rule.ts';
import {
  below,
  boolean,
  list,
  members,
  needed,
  oneOf,
  type Place,
  type ReadMember,
  text,
  warn,
  wrong,
} from '../fields/members.ts';

const written: ReadMember<ClientTls> = (value, place) => {
  const read = members(value, place, [], (get) => ({
    mode: get(
      'mode',
      oneOf(
        {
          DISABLE: 'disable',
          SIMPLE: 'simple',
          MUTUAL: 'mutual',
          ISTIO_MUTUAL: 'istio-mutual',
        } as const,
        'disable',
      ),
    ),
    clientCertificate: get('clientCertificate', text),
    privateKey: get('privateKey', text),
    caCertificates: get('caCertificates', text),
    caCrl: get('caCrl', text),
    credentialName: get('credentialName', text),
    subjectAltNames: get('subjectAltNames', list(needed)),
    sni: get('sni', text),
    insecureSkipVerify: get('insecureSkipVerify', boolean) ?? false,
  }));
  checkTls(read, place);
  return read;
};

function checkTls(
  {
    mode,
    clientCertificate,
    privateKey,
    caCertificates,
    credentialName,
    subjectAltNames,
    sni,
    insecureSkipVerify,
  }: ClientTls,
  place: Place,
): void {
  const placeOf = (step: string) => below(place, step);
  const hasFiles = [clientCertificate, privateKey, caCertificates].some((file) => file !== '');
  if (mode === 'mutual' && credentialName === '') {
    if (clientCertificate === '')
      wrong(placeOf('clientCertificate'), 'it is missing: mode MUTUAL shows a certificate');
    if (privateKey === '')
      wrong(placeOf('privateKey'), 'it is missing: mode MUTUAL shows a certificate');
  }
  if (credentialName !== '' && hasFiles)
    wrong(
      placeOf('credentialName'),
      'it excludes clientCertificate, privateKey and caCertificates',
    );
  if (mode === 'istio-mutual' && (hasFiles || credentialName !== ''))
    warn(
      placeOf('mode'),
      'ISTIO_MUTUAL takes the certificates of the mesh: files and credentialName have no effect',
    );
  if (insecureSkipVerify && (caCertificates !== '' || subjectAltNames.length > 0))
    wrong(placeOf('insecureSkipVerify'), 'it excludes caCertificates and subjectAltNames');
  if (sni.length > 255) wrong(placeOf('sni'), 'it is longer than 255 characters');
}

/** Reads the `tls` of a policy for called services. */
export const clientTls: ReadMember<ClientTls> = (value, place) => {
  const read = closable(written)(value, place);
  return read === 'closed' ? { ...noTls, mode: 'closed' } : read;
};

const noTls: ClientTls = {
  mode: 'disable',
  clientCertificate: '',
  privateKey: '',
  caCertificates: '',
  caCrl: '',
  credentialName: '',
  subjectAltNames: [],
  sni: '',
  insecureSkipVerify: false,
};
