import type { TlsSettings } from '../config/proxy-config.ts';
import { isIpAddress } from '../../shared/text/host-port.ts';
import type { Findings, Json } from './proto-json.ts';
import type { NodeMetadata } from './bootstrap-inputs.ts';
import { ownMember } from '../../shared/text/own-member.ts';

export interface BootstrapTls {
  readonly settings: TlsSettings;
  /** The place of these settings, for a problem or a warning. */
  readonly place: string;
  /**
   * The node metadata, whose `TLS_CLIENT_*` members name files that replace those of the settings.
   */
  readonly metadata: NodeMetadata;
  /** The server speaks HTTP/2; ALPN announces it. */
  readonly http2: boolean;
  /** The server's name under `ISTIO_MUTUAL`, if the settings name none. */
  readonly name: string;
}

/** The folder in which Istio puts the certificates of a workload. */
const folder = '/etc/certs';
/** The longest server name that Envoy accepts, in bytes. A name with a zero byte is refused too. */
const longestSni = 255;

/**
 * Returns Envoy's `UpstreamTlsContext` for client TLS settings; undefined for plaintext, or if
 * there is a problem. Pure.
 *
 * For `ISTIO_MUTUAL` the chain is the client's certificate and the root is the CA; the Go agent has
 * them the other way round. Settings that lack something are a problem; the Go agent speaks
 * plaintext instead.
 */
export function upstreamTls(
  { settings, place, metadata, http2, name }: BootstrapTls,
  { problems, warnings }: Findings,
): Readonly<Record<string, Json>> | undefined {
  const { mode, subjectAltNames } = settings;
  if (mode === 'DISABLE') return undefined;
  const istio = mode === 'ISTIO_MUTUAL';
  const file = (given: string, standard: string, key: string) => {
    const chosen = given === '' && istio ? `${folder}/${standard}.pem` : given;
    const instead = ownMember(metadata, key);
    return typeof instead === 'string' &&
      instead !== '' &&
      (chosen !== '' || key !== 'TLS_CLIENT_ROOT_CERT')
      ? instead
      : chosen;
  };
  const root = file(settings.caCertificates, 'root-cert', 'TLS_CLIENT_ROOT_CERT');
  const chain = file(settings.clientCertificate, 'cert-chain', 'TLS_CLIENT_CERT_CHAIN');
  const key = file(settings.privateKey, 'key', 'TLS_CLIENT_KEY');
  const sni = settings.sni === '' && istio ? name : settings.sni;

  const problemsBefore = problems.length;
  const refuse = (member: string, text: string) =>
    problems.push({ place: `${place}.${member}`, text });
  if (mode !== 'SIMPLE' && chain === '')
    refuse('clientCertificate', 'is missing: MUTUAL wants the certificate of the client');
  if (mode !== 'SIMPLE' && key === '')
    refuse('privateKey', 'is missing: MUTUAL wants the key of the client');
  if (root === '' && subjectAltNames.length > 0)
    refuse('caCertificates', 'is missing: subjectAltNames cannot be checked without it');
  if (Buffer.byteLength(sni) > longestSni || /[\s\0]/.test(sni))
    refuse('sni', 'is not the name of a server');
  if (problems.length > problemsBefore) return undefined;
  if (root === '')
    warnings.push(`${place}: without caCertificates the server's certificate is not checked`);

  return {
    common_tls_context: {
      tls_certificates:
        mode === 'SIMPLE'
          ? undefined
          : [{ certificate_chain: { filename: chain }, private_key: { filename: key } }],
      validation_context:
        root === ''
          ? undefined
          : {
              trusted_ca: { filename: root },
              match_typed_subject_alt_names:
                subjectAltNames.length === 0 ? undefined : subjectAltNames.map(sanMatcher),
            },
      alpn_protocols: http2 ? (istio ? ['istio', 'h2'] : ['h2']) : undefined,
    },
    sni: sni === '' ? undefined : sni,
  };
}

/** Names of all kinds are in one list; the form of a name shows its kind. */
function sanMatcher(name: string): Json {
  const kind = name.includes('://') ? 'URI' : isIpAddress(name) ? 'IP_ADDRESS' : 'DNS';
  return { san_type: kind, matcher: { exact: name } };
}
