import { fromBinary } from '@bufbuild/protobuf';
import {
  type DataSource,
  type Secret as EnvoySecret,
  SecretSchema,
  type ValidationContext,
} from '../../../shared/proto/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts';
import { SPIFFECertValidatorConfigSchema } from '../../../shared/proto/envoy/extensions/transport_sockets/tls/v3/tls_spiffe_validator_config_pb.ts';
import type { DiscoveryResponse } from '../../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { pairFlaw, rootsFlaw } from '../../../shared/certificates/pair-flaw.ts';
import type { Pair, TrustDomain } from '../secret.ts';
import { secretTypeUrl } from '../sds/sds-messages.ts';
import { svidIdentity } from './svid-identity.ts';

/** The content of one secret in an answer, or why it cannot be used. */
export type ReadAnswer<T> =
  { readonly ok: true; readonly content: T } | { readonly ok: false; readonly reason: string };

/** A pair, and the SPIFFE ID in its certificate. */
export interface Svid {
  readonly pair: Pair;
  readonly id: string;
  readonly trustDomain: string;
}

/** The roots to trust: for each trust domain, or the same for all. */
export type Bundle =
  | { readonly kind: 'plain'; readonly roots: string }
  | { readonly kind: 'by-domain'; readonly trustDomains: readonly TrustDomain[] };

/**
 * Reads the pair in an answer. Refuses one that Envoy could not use, or that is of another trust
 * domain. Never throws. Pure.
 *
 * @param trustDomain the trust domain of the workload; undefined for any
 * @param now ms since 1970
 */
export function readSvid(
  answer: DiscoveryResponse,
  name: string,
  { trustDomain, now }: { readonly trustDomain: string | undefined; readonly now: number },
): ReadAnswer<Svid> {
  return guarded(() => {
    const { type } = secretOf(answer, name);
    if (type.case !== 'tlsCertificate') throw new Error('it is not a certificate with a key');
    const chain = inline('the certificate', type.value.certificateChain).toString();
    const pair = { chain, key: inline('the key', type.value.privateKey) };
    const identity = svidIdentity(chain, trustDomain);
    const flaw = pairFlaw(pair.chain, pair.key, now) ?? (identity.ok ? undefined : identity.reason);
    if (flaw !== undefined || !identity.ok) throw new Error(flaw);
    return { pair, id: identity.id, trustDomain: identity.trustDomain };
  });
}

/** Reads the roots in an answer. Refuses those that Envoy could not use. Never throws. Pure. */
export function readBundle(answer: DiscoveryResponse, name: string): ReadAnswer<Bundle> {
  return guarded(() => {
    const { type } = secretOf(answer, name);
    if (type.case !== 'validationContext') throw new Error('it has no roots');
    const { crl, $unknown: others = [] } = type.value;
    if (crl !== undefined || others.length > 0)
      throw new Error('its roots have a condition that the agent does not pass on');
    return type.value.customValidatorConfig === undefined
      ? { kind: 'plain', roots: checkedRoots('', type.value.trustedCa) }
      : { kind: 'by-domain', trustDomains: trustDomainsOf(type.value) };
  });
}

function guarded<T>(read: () => T): ReadAnswer<T> {
  try {
    return { ok: true, content: read() };
  } catch (error) {
    return { ok: false, reason: (error as Error).message };
  }
}

function secretOf(answer: DiscoveryResponse, name: string): EnvoySecret {
  const secrets = answer.resources
    .filter(({ typeUrl }) => typeUrl === secretTypeUrl)
    .map(({ value }) => fromBinary(SecretSchema, value));
  const named = secrets.find((secret) => secret.name === name);
  if (named === undefined) throw new Error(`its answer has no secret ${name}`);
  return named;
}

/** Copies the bytes, so that the whole answer is not kept for them. */
function inline(subject: string, source: DataSource | undefined): Buffer {
  if (source?.specifier.case !== 'inlineBytes') throw new Error(`${subject} is not in the answer`);
  return Buffer.from(source.specifier.value);
}

function trustDomainsOf({ customValidatorConfig }: ValidationContext): readonly TrustDomain[] {
  const { typeUrl = '', value = new Uint8Array() } = customValidatorConfig?.typedConfig ?? {};
  if (typeUrl !== `type.googleapis.com/${SPIFFECertValidatorConfigSchema.typeName}`)
    throw new Error('its roots have a validator that the agent does not know');
  const { trustDomains } = fromBinary(SPIFFECertValidatorConfigSchema, value);
  if (trustDomains.length === 0) throw new Error('it has no roots');
  return trustDomains.map(({ name, trustBundle }) => ({
    name,
    roots: checkedRoots(` of ${name}`, trustBundle),
  }));
}

function checkedRoots(whose: string, source: DataSource | undefined): string {
  const roots = inline(`the root${whose}`, source).toString();
  const flaw = rootsFlaw(roots);
  if (flaw !== undefined) throw new Error(whose === '' ? flaw : `${flaw}, in the roots${whose}`);
  return roots;
}
