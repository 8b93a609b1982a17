import { cipherSuites } from '../fields/cipher-suites.ts';
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
  wrong,
} from '../fields/members.ts';
import type { IngressTls, TlsVersion } from './sidecar.ts';
import type { Protocol } from '../fields/values.ts';
import { isTls } from '../fields/is-http.ts';

export const tlsVersion: ReadMember<TlsVersion> = oneOf(
  { TLS_AUTO: 'auto', TLSV1_0: '1.0', TLSV1_1: '1.1', TLSV1_2: '1.2', TLSV1_3: '1.3' } as const,
  'auto',
);

/** Members that restrict who may connect and that are not served. */
const unserved = [
  'verifyCertificateSpki',
  'subjectAltNames',
  'credentialName',
  'credentialNames',
  'tlsCertificates',
];

/** Reads the `tls` of a port of a Sidecar. */
export function ingressTls(protocol: Protocol): ReadMember<IngressTls> {
  return (value, place) => {
    const read = members(value, place, [], (get, has) => {
      for (const name of unserved) {
        get(name, () => undefined);
        if (has(name)) wrong(below(place, name), `${name} is not served here`);
      }
      if (get('httpsRedirect', boolean) === true)
        wrong(below(place, 'httpsRedirect'), 'it is for gateways: leave it out');
      return {
        mode: get('mode', oneOf({ SIMPLE: 'simple', MUTUAL: 'mutual' } as const, undefined)),
        serverCertificate: get('serverCertificate', needed),
        privateKey: get('privateKey', needed),
        caCertificates: get('caCertificates', text),
        caCrl: get('caCrl', text),
        verifyCertificateHash: get('verifyCertificateHash', list(certificateHash)),
        minimum: get('minProtocolVersion', tlsVersion),
        maximum: get('maxProtocolVersion', tlsVersion),
        cipherSuites: get('cipherSuites', cipherSuites),
      };
    });
    check(read, protocol, place);
    return { ...read, mode: read.mode ?? 'mutual' };
  };
}

/** Reads the SHA-256 of a certificate, in hex. */
export const certificateHash: ReadMember<string> = (value, place) => {
  const read = needed(value, place);
  if (read !== '' && !/^(?:[0-9a-fA-F]{64}|(?:[0-9a-fA-F]{2}:){31}[0-9a-fA-F]{2})$/.test(read))
    wrong(place, `'${read}' is not the SHA-256 of a certificate in hex`);
  return read;
};

type Written = Omit<IngressTls, 'mode'> & { readonly mode: IngressTls['mode'] | undefined };

const versions: readonly TlsVersion[] = ['auto', '1.0', '1.1', '1.2', '1.3'];

/** Whether the minimum is not above the maximum. */
export const versionsAreSorted = ({
  minimum,
  maximum,
}: Pick<IngressTls, 'minimum' | 'maximum'>): boolean =>
  maximum === 'auto' || versions.indexOf(minimum) <= versions.indexOf(maximum);

function check(
  { mode, caCertificates, minimum, maximum }: Written,
  protocol: Protocol,
  place: Place,
): void {
  if (mode === undefined) wrong(below(place, 'mode'), 'it is missing: SIMPLE or MUTUAL');
  if (mode === 'mutual' && caCertificates === '')
    wrong(below(place, 'caCertificates'), 'it is missing: mode MUTUAL checks clients by it');
  if (!isTls(protocol)) wrong(place, 'the protocol of its port is neither HTTPS nor TLS');
  if (!versionsAreSorted({ minimum, maximum }))
    wrong(below(place, 'minProtocolVersion'), 'it is above maxProtocolVersion');
}
