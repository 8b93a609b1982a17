import { rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { create, toBinary } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import { Server, ServerCredentials, type ServerDuplexStream, status } from '@grpc/grpc-js';
import type { CertificateAuthority } from '../../demo/certificates.ts';
import { certificateRequest } from '../../src/pilot-agent/secrets/ca/certificate-request.ts';
import { secretTypeUrl } from '../../src/pilot-agent/secrets/sds/sds-messages.ts';
import { grpcDefinition } from '../../src/shared/grpc/grpc-definition.ts';
import {
  type Secret,
  SecretSchema,
} from '../../src/shared/proto/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts';
import { SPIFFECertValidatorConfigSchema } from '../../src/shared/proto/envoy/extensions/transport_sockets/tls/v3/tls_spiffe_validator_config_pb.ts';
import {
  type DiscoveryRequest,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from '../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { SecretDiscoveryService } from '../../src/shared/proto/envoy/service/secret/v3/sds_pb.ts';

/** A server of secrets like that of SPIRE's agent: it sends them, withdraws them, or is silent. */
export interface WorkloadSocket {
  /** The requests so far, in order. */
  readonly requests: readonly DiscoveryRequest[];
  /** Sends these secrets from now on, and ends each stream that requested another name. */
  give(...secrets: readonly Secret[]): void;
  /** Sends no answers from now on, until `give`. */
  fallSilent(): void;
  close(): void;
}

type Stream = ServerDuplexStream<DiscoveryRequest, DiscoveryResponse>;

export async function startWorkloadSocket(path: string): Promise<WorkloadSocket> {
  rmSync(path, { force: true });
  const server = new Server();
  const requests: DiscoveryRequest[] = [];
  const streams = new Map<Stream, string>();
  let given: readonly Secret[] | undefined = [];
  let version = 0;
  const answer = (stream: Stream, name: string) => {
    if (given === undefined) return;
    const secret = given.find((candidate) => candidate.name === name);
    if (secret === undefined) {
      const details = `workload is not authorized for the requested identities ["${name}"]`;
      streams.delete(stream);
      stream.emit('error', { code: status.INVALID_ARGUMENT, details });
      return;
    }
    const value = toBinary(SecretSchema, secret);
    stream.write(
      create(DiscoveryResponseSchema, {
        typeUrl: secretTypeUrl,
        versionInfo: String(version),
        nonce: `${version}`,
        resources: [{ typeUrl: secretTypeUrl, value }],
      }),
    );
  };
  server.addService(grpcDefinition(SecretDiscoveryService), {
    streamSecrets: (stream: Stream) => {
      stream.on('data', (request: DiscoveryRequest) => {
        requests.push(request);
        if (request.responseNonce !== '') return;
        const [name = ''] = request.resourceNames;
        streams.set(stream, name);
        answer(stream, name);
      });
      stream.on('end', () => stream.end());
      stream.on('cancelled', () => streams.delete(stream));
    },
  });
  await promisify(server.bindAsync.bind(server))(
    `unix:${path}`,
    ServerCredentials.createInsecure(),
  );
  return {
    requests,
    give(...secrets) {
      given = secrets;
      version += 1;
      for (const [stream, name] of [...streams]) answer(stream, name);
    },
    fallSilent: () => (given = undefined),
    close: () => server.forceShutdown(),
  };
}

/**
 * Creates a certificate for a SPIFFE ID, as the server sends it. `serial` is as Node's TLS prints
 * it.
 */
export async function svidOf(
  ca: CertificateAuthority,
  id: string,
  validity: { readonly notBefore?: Date; readonly notAfter?: Date } = {},
): Promise<{ readonly secret: Secret; readonly serial: string; readonly chain: string }> {
  const { csr, key } = await certificateRequest(id, { algorithm: 'ECDSA', pkcs8: true });
  const { certificate: chain, serial } = await ca.sign(csr, validity);
  const secret = create(SecretSchema, {
    name: 'default',
    type: {
      case: 'tlsCertificate',
      value: { certificateChain: inline(Buffer.from(chain)), privateKey: inline(key) },
    },
  });
  return { secret, serial, chain };
}

/** Returns the roots by trust domain, as SPIRE's agent sends them to a current Envoy. */
export function bundleOf(trustDomains: Readonly<Record<string, string>>): Secret {
  const validator = create(SPIFFECertValidatorConfigSchema, {
    trustDomains: Object.entries(trustDomains).map(([name, roots]) => ({
      name,
      trustBundle: inline(Buffer.from(roots)),
    })),
  });
  return create(SecretSchema, {
    name: 'ROOTCA',
    type: {
      case: 'validationContext',
      value: {
        customValidatorConfig: {
          name: 'envoy.tls.cert_validator.spiffe',
          typedConfig: anyPack(SPIFFECertValidatorConfigSchema, validator),
        },
      },
    },
  });
}

/**
 * Returns roots for all trust domains, as SPIRE's agent sends them if it is configured not to name
 * trust domains.
 */
export function plainRoots(roots: string): Secret {
  const trustedCa = inline(Buffer.from(roots));
  return create(SecretSchema, {
    name: 'ROOTCA',
    type: { case: 'validationContext', value: { trustedCa } },
  });
}

function inline(value: Uint8Array) {
  return { specifier: { case: 'inlineBytes', value } } as const;
}
