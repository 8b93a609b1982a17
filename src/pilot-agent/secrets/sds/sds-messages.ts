import { create, toBinary } from '@bufbuild/protobuf';
import { type Any, anyPack, AnySchema } from '@bufbuild/protobuf/wkt';
import { SecretSchema } from '../../../shared/proto/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts';
import { SPIFFECertValidatorConfigSchema } from '../../../shared/proto/envoy/extensions/transport_sockets/tls/v3/tls_spiffe_validator_config_pb.ts';
import {
  type DeltaDiscoveryRequest,
  type DeltaDiscoveryResponse,
  DeltaDiscoveryResponseSchema,
  type DiscoveryRequest,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from '../../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import {
  type ListSecretsResponse,
  ListSecretsResponseSchema,
} from '../../../shared/proto/pilotagent/v1/secrets_pb.ts';
import { describeCertificates } from '../certificates.ts';
import type { Secret, SecretState } from '../secret.ts';
import { readRequest } from '../../../shared/xds/messages.ts';
import type { SdsPush, StreamRequest } from './stream-event.ts';

/** The type URL in each request and answer. */
export const secretTypeUrl = `type.googleapis.com/${SecretSchema.typeName}`;

/** Returns a secret in Envoy's form: a certificate with its key, or the roots to trust. Pure. */
function packSecret(name: string, secret: Secret): Any {
  const value = create(SecretSchema, {
    name,
    type:
      secret.kind === 'pair'
        ? {
            case: 'tlsCertificate',
            value: { certificateChain: inline(secret.chain), privateKey: inline(secret.key) },
          }
        : { case: 'validationContext', value: validation(secret) },
  });
  return create(AnySchema, { typeUrl: secretTypeUrl, value: toBinary(SecretSchema, value) });
}

/** The name of Envoy's validator that has roots for each trust domain. */
const byTrustDomain = 'envoy.tls.cert_validator.spiffe';

function validation({ roots, trustDomains, crl }: Extract<Secret, { readonly kind: 'roots' }>) {
  if (trustDomains === undefined)
    return { trustedCa: inline(roots), ...(crl !== undefined && { crl: inline(crl) }) };
  const validator = create(SPIFFECertValidatorConfigSchema, {
    trustDomains: trustDomains.map((domain) => ({
      name: domain.name,
      trustBundle: inline(domain.roots),
    })),
  });
  const typedConfig = anyPack(SPIFFECertValidatorConfigSchema, validator);
  return { customValidatorConfig: { name: byTrustDomain, typedConfig } };
}

function inline(content: string | Buffer) {
  return { specifier: { case: 'inlineBytes', value: Buffer.from(content) } } as const;
}

/**
 * Stands for a missing secret. Envoy 1.36 ignores an answer without the requested name and keeps
 * waiting, and it treats an empty secret as one that trusts everybody. It NACKs a resource of
 * another type, and goes on without the secret.
 */
const noSecret = create(AnySchema, { typeUrl: 'type.googleapis.com/pilotagent.v1.NoSecret' });

/** Writes answers in one variant of the protocol. Pure. */
export interface Encoding<Response> {
  push(push: SdsPush): Response;
  decline(nonce: string, names: readonly string[]): Response;
}

export const stateOfTheWorld: Encoding<DiscoveryResponse> = {
  push: toResponse,
  decline: (nonce) =>
    create(DiscoveryResponseSchema, { nonce, typeUrl: secretTypeUrl, resources: [noSecret] }),
};

export const incremental: Encoding<DeltaDiscoveryResponse> = {
  push: toDeltaResponse,
  decline: (nonce, names) =>
    create(DeltaDiscoveryResponseSchema, {
      nonce,
      typeUrl: secretTypeUrl,
      resources: names.map((name) => ({ name, resource: noSecret })),
    }),
};

/** Returns a push as an answer of the state-of-the-world variant. Pure. */
export function toResponse({ nonce, version, secrets }: SdsPush): DiscoveryResponse {
  const resources = [...secrets].map(([name, { secret }]) => packSecret(name, secret));
  return create(DiscoveryResponseSchema, {
    nonce,
    versionInfo: version,
    typeUrl: secretTypeUrl,
    resources,
  });
}

/** Returns a push as an answer of the incremental variant. Pure. */
function toDeltaResponse({ nonce, secrets }: SdsPush): DeltaDiscoveryResponse {
  const resources = [...secrets].map(([name, { secret, version }]) => ({
    name,
    version,
    resource: packSecret(name, secret),
  }));
  return create(DeltaDiscoveryResponseSchema, { nonce, typeUrl: secretTypeUrl, resources });
}

/** Reads a request of either variant. Pure. */
export function toStreamRequest(request: DiscoveryRequest | DeltaDiscoveryRequest): StreamRequest {
  const { node, nonce, refusal, names } = readRequest(request);
  return { node: node?.id ?? '', nonce, error: refusal?.message, names };
}

/** Returns the answer to `pilot-agent secrets`: everything except the keys. Pure. */
export function listSecrets(states: readonly SecretState[]): ListSecretsResponse {
  const secrets = states.map(({ name, source, served, refused = '' }) => ({
    name,
    source,
    refused,
    version: served?.version ?? '',
    certificates: (served === undefined ? [] : describeCertificates(served.secret)).map(
      ({ notBefore, notAfter, ...texts }) => ({
        ...texts,
        notBefore: BigInt(notBefore),
        notAfter: BigInt(notAfter),
      }),
    ),
  }));
  return create(ListSecretsResponseSchema, { secrets });
}
