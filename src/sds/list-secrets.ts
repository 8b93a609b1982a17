import { create } from '@bufbuild/protobuf';
import { type ListSecretsResponse, ListSecretsResponseSchema } from '../proto/pilotagent/v1/secrets_pb.ts';
import { describeCertificates } from '../secrets/describe-certificates.ts';
import type { SecretState } from '../secrets/secret-state.ts';

/** What `pilot-agent secrets` is told: all but the keys. Pure. */
export function listSecrets(states: readonly SecretState[]): ListSecretsResponse {
  const secrets = states.map(({ name, source, served, refused = '' }) => ({
    name,
    source,
    refused,
    version: served?.version ?? '',
    certificates: (served === undefined ? [] : describeCertificates(served.secret)).map(({ notBefore, notAfter, ...texts }) => ({
      ...texts,
      notBefore: BigInt(notBefore),
      notAfter: BigInt(notAfter),
    })),
  }));
  return create(ListSecretsResponseSchema, { secrets });
}
