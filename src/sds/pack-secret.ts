import { create, toBinary } from '@bufbuild/protobuf';
import { type Any, AnySchema } from '@bufbuild/protobuf/wkt';
import { SecretSchema } from '../proto/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts';
import type { Secret } from '../secrets/secret.ts';
import { secretTypeUrl } from './secret-type-url.ts';

/** A secret as Envoy takes it: a certificate with its key, or what it is to trust. Pure. */
export function packSecret(name: string, secret: Secret): Any {
  const value = create(SecretSchema, {
    name,
    type:
      secret.kind === 'pair'
        ? { case: 'tlsCertificate', value: { certificateChain: inline(secret.chain), privateKey: inline(secret.key) } }
        : { case: 'validationContext', value: { trustedCa: inline(secret.roots) } },
  });
  return create(AnySchema, { typeUrl: secretTypeUrl, value: toBinary(SecretSchema, value) });
}

function inline(text: string) {
  return { specifier: { case: 'inlineBytes', value: Buffer.from(text) } } as const;
}
