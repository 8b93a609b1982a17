import { create } from '@bufbuild/protobuf';
import {
  type DeltaDiscoveryResponse,
  DeltaDiscoveryResponseSchema,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from '../proto/envoy/service/discovery/v3/discovery_pb.ts';
import { packSecret } from './pack-secret.ts';
import { secretTypeUrl } from './secret-type-url.ts';
import type { Push } from './stream-model.ts';

/** A push as an answer of the state-of-the-world variant of the protocol. Pure. */
export function toResponse({ nonce, version, secrets }: Push): DiscoveryResponse {
  const resources = [...secrets].map(([name, { secret }]) => packSecret(name, secret));
  return create(DiscoveryResponseSchema, { nonce, versionInfo: version, typeUrl: secretTypeUrl, resources });
}

/** The same of the incremental variant. */
export function toDeltaResponse({ nonce, secrets }: Push): DeltaDiscoveryResponse {
  const resources = [...secrets].map(([name, { secret, version }]) => ({ name, version, resource: packSecret(name, secret) }));
  return create(DeltaDiscoveryResponseSchema, { nonce, typeUrl: secretTypeUrl, resources });
}
