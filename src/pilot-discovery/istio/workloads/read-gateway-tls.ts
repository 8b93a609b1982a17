import { cipherSuites } from '../fields/cipher-suites.ts';
import { closable } from '../fields/closable.ts';
import type { ServerCertificate, ServerTls, TerminatedTls } from './gateway.ts';
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
import { certificateHash, tlsVersion, versionsAreSorted } from './read-ingress-tls.ts';
import type { Protocol } from '../fields/values.ts';
import { isHttp, isTls } from '../fields/is-http.ts';

/** Members of Istio's API that choose certificates. Istio 1.26 does not serve them either. */
const unserved = ['credentialNames', 'tlsCertificates'];

const modes = {
  PASSTHROUGH: 'passthrough',
  SIMPLE: 'simple',
  MUTUAL: 'mutual',
  AUTO_PASSTHROUGH: 'auto-passthrough',
  ISTIO_MUTUAL: 'istio-mutual',
  OPTIONAL_MUTUAL: 'optional-mutual',
} as const;

type Mode = (typeof modes)[keyof typeof modes];

interface Written extends Omit<TerminatedTls, 'mode' | 'certificate'> {
  readonly mode: Mode;
  readonly redirect: boolean;
  readonly credentialName: string;
  readonly serverCertificate: string;
  readonly privateKey: string;
  readonly caCertificates: string;
}

const keyHash: ReadMember<string> = (value, place) => {
  const read = needed(value, place);
  if (read !== '' && !/^[A-Za-z0-9+/]{43}=$/.test(read))
    wrong(place, `'${read}' is not the SHA-256 of a public key in base64`);
  return read;
};

const written: ReadMember<Written> = (value, place) =>
  members(value, place, [], (get, has) => {
    for (const name of unserved) {
      get(name, () => undefined);
      if (has(name)) wrong(below(place, name), `${name} is not served: give credentialName`);
    }
    return {
      mode: get('mode', oneOf<Mode>(modes, 'passthrough')),
      redirect: get('httpsRedirect', boolean) ?? false,
      credentialName: get('credentialName', text),
      serverCertificate: get('serverCertificate', text),
      privateKey: get('privateKey', text),
      caCertificates: get('caCertificates', text),
      minimum: get('minProtocolVersion', tlsVersion),
      maximum: get('maxProtocolVersion', tlsVersion),
      cipherSuites: get('cipherSuites', cipherSuites),
      client: {
        subjectAltNames: get('subjectAltNames', list(needed)),
        hashes: get('verifyCertificateHash', list(certificateHash)),
        keyHashes: get('verifyCertificateSpki', list(keyHash)),
        crl: get('caCrl', text),
      },
    };
  });

/** Returns the TLS of a plain-text port: whether its clients are redirected to HTTPS. */
function plain(read: Written, protocol: Protocol, place: Place): ServerTls {
  if (!isHttp(protocol))
    wrong(place, 'its port is not of HTTPS or TLS: leave tls out, or change protocol');
  else if (read.mode !== 'passthrough')
    wrong(below(place, 'mode'), 'a port of HTTP has no TLS: leave it out, or make the port HTTPS');
  return { mode: read.redirect ? 'redirect' : 'plain' };
}

function terminated(read: Written, mode: TerminatedTls['mode'], place: Place): ServerTls {
  const { minimum, maximum, cipherSuites: suites, client } = read;
  if (!versionsAreSorted(read))
    wrong(below(place, 'minProtocolVersion'), 'it is above maxProtocolVersion');
  if ((minimum === '1.0' || minimum === '1.1') && suites.length === 0)
    warn(
      below(place, 'minProtocolVersion'),
      'versions below TLSV1_2 need cipherSuites that they support: the defaults of Envoy are newer',
    );
  const isChecked = Object.values(client).some((setting) => setting.length > 0);
  if (mode === 'simple' && isChecked)
    warn(place, 'mode SIMPLE checks no client: subjectAltNames, hashes and caCrl have no effect');
  const certificate = certificateOf(read, mode, place);
  return { mode, certificate, minimum, maximum, cipherSuites: suites, client };
}

function certificateOf(
  { credentialName, serverCertificate, privateKey, caCertificates }: Written,
  mode: TerminatedTls['mode'],
  place: Place,
): ServerCertificate {
  const fields = { credentialName, serverCertificate, privateKey, caCertificates };
  if (mode === 'istio-mutual') {
    for (const [name, value] of Object.entries(fields))
      if (value !== '')
        wrong(below(place, name), 'ISTIO_MUTUAL takes the certificate of the mesh: leave it out');
    return { type: 'workload' };
  }
  if (credentialName !== '') {
    checkCredential(credentialName, below(place, 'credentialName'));
    return { type: 'credential', name: credentialName.replace(/^kubernetes:\/\//, '') };
  }
  const needs = (name: keyof typeof fields) => {
    if (fields[name] === '') wrong(below(place, name), `it is missing: give it, or credentialName`);
  };
  needs('serverCertificate');
  needs('privateKey');
  if (mode !== 'simple') needs('caCertificates');
  const roots = mode === 'simple' ? '' : caCertificates;
  return { type: 'files', chain: serverCertificate, key: privateKey, roots };
}

/** Warns of a name that no secret of a gateway can have: clients would get no TLS. */
function checkCredential(name: string, place: Place): void {
  const plainName = name.replace(/^(?:kubernetes|kubernetes-gateway):\/\/(?:[a-z0-9-]+\/)?/, '');
  const isName = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/.test(plainName);
  if (!isName || plainName.includes('..') || /^(?:istio|prometheus)/.test(plainName))
    warn(
      place,
      `'${name}' is not a valid name of a secret of a gateway: small letters, digits, - and . within`,
    );
}

/**
 * Reads the `tls` of a server. If it is wrong, the resource is refused, or the server is closed.
 */
export function gatewayTls(protocol: Protocol): ReadMember<ServerTls> {
  const read: ReadMember<ServerTls> = (value, place) => {
    if (value === undefined) {
      if (isTls(protocol)) wrong(place, 'it is missing: a port with HTTPS or TLS needs it');
      return { mode: isTls(protocol) ? 'closed' : 'plain' };
    }
    const settings = written(value, place);
    if (!isTls(protocol)) return plain(settings, protocol, place);
    if (settings.redirect)
      warn(below(place, 'httpsRedirect'), 'it has no effect: it is for ports of HTTP');
    const { mode, credentialName, serverCertificate, privateKey, caCertificates } = settings;
    if (mode !== 'passthrough' && mode !== 'auto-passthrough')
      return terminated(settings, mode, place);
    if (
      [credentialName, serverCertificate, privateKey, caCertificates].some((field) => field !== '')
    )
      warn(place, 'TLS that is passed on needs no certificate: this field has no effect');
    return { mode };
  };
  return (value, place) => {
    const tls = closable(read)(value, place);
    return tls === 'closed' ? { mode: 'closed' } : tls;
  };
}
