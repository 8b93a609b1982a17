import { createHash } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { SecretSchema } from '../../shared/proto/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts';
import type { TypedView, XdsResource } from '../push/view.ts';
import type { CredentialContent } from './credential-content.ts';

/** Returns a secret in Envoy's form, as istiod sends it. Pure. */
export function credentialResource(name: string, content: CredentialContent): XdsResource {
  const body = toBinary(SecretSchema, create(SecretSchema, { name, type: typeOf(content) }));
  const version = createHash('sha256').update(body).digest('hex').slice(0, 32);
  return { name, version, body, keys: [] };
}

/** Returns secrets as a view of a proxy. */
export function credentialView(resources: readonly XdsResource[]): TypedView {
  const hash = createHash('sha256');
  for (const { name, version } of resources) hash.update(`${name}\n${version}\n`);
  return {
    version: resources.length === 0 ? '' : hash.digest('hex').slice(0, 32),
    resources: new Map(resources.map((resource) => [resource.name, resource])),
  };
}

function typeOf(content: CredentialContent) {
  if (content.part === 'roots') {
    const { roots, crl } = content;
    const value = { trustedCa: inline(roots), ...(crl.length > 0 && { crl: inline(crl) }) };
    return { case: 'validationContext', value } as const;
  }
  const { chain, key, staple } = content;
  const value = {
    certificateChain: inline(chain),
    privateKey: inline(key),
    ...(staple.length > 0 && { ocspStaple: inline(staple) }),
  };
  return { case: 'tlsCertificate', value } as const;
}

const inline = (value: Buffer) => ({ specifier: { case: 'inlineBytes', value } }) as const;
