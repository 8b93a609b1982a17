import { create, toBinary } from '@bufbuild/protobuf';
import { type Any, AnySchema } from '@bufbuild/protobuf/wkt';
import { SecretSchema } from '../../../shared/proto/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts';
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

/** The type of what is discovered here, as it stands in every request and answer. */
export const secretTypeUrl = `type.googleapis.com/${SecretSchema.typeName}`;

/** A secret as Envoy takes it: a certificate with its key, or what it is to trust. Pure. */
function packSecret(name: string, secret: Secret): Any {
  const value = create(SecretSchema, {
    name,
    type:
      secret.kind === 'pair'
        ? {
            case: 'tlsCertificate',
            value: { certificateChain: inline(secret.chain), privateKey: inline(secret.key) },
          }
        : { case: 'validationContext', value: { trustedCa: inline(secret.roots) } },
  });
  return create(AnySchema, { typeUrl: secretTypeUrl, value: toBinary(SecretSchema, value) });
}

function inline(content: string | Buffer) {
  return { specifier: { case: 'inlineBytes', value: Buffer.from(content) } } as const;
}

/**
 * Stands for a secret that there is not. An answer without it is no answer: Envoy 1.36 passes over
 * an answer that has nothing of the name, waits on, and keeps an empty secret for one that trusts
 * everybody. A resource of another type it refuses, and goes on without the secret.
 */
const noSecret = create(AnySchema, { typeUrl: 'type.googleapis.com/pilotagent.v1.NoSecret' });

/** How answers are written in one variant of the protocol. Pure. */
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

/** A push as an answer of the state-of-the-world variant of the protocol. Pure. */
export function toResponse({ nonce, version, secrets }: SdsPush): DiscoveryResponse {
  const resources = [...secrets].map(([name, { secret }]) => packSecret(name, secret));
  return create(DiscoveryResponseSchema, {
    nonce,
    versionInfo: version,
    typeUrl: secretTypeUrl,
    resources,
  });
}

/** The same of the incremental variant. */
function toDeltaResponse({ nonce, secrets }: SdsPush): DeltaDiscoveryResponse {
  const resources = [...secrets].map(([name, { secret, version }]) => ({
    name,
    version,
    resource: packSecret(name, secret),
  }));
  return create(DeltaDiscoveryResponseSchema, { nonce, typeUrl: secretTypeUrl, resources });
}

/** What a request of either variant of the protocol says. Pure. */
export function toStreamRequest(request: DiscoveryRequest | DeltaDiscoveryRequest): StreamRequest {
  const { node, nonce, refusal, names } = readRequest(request);
  return { node: node?.id ?? '', nonce, error: refusal?.message, names };
}

/** What `pilot-agent secrets` is told: all but the keys. Pure. */
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
