import { promisify } from 'node:util';
import { create } from '@bufbuild/protobuf';
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { grpcDefinition } from '../../src/shared/grpc/grpc-definition.ts';
import {
  type DiscoveryRequest,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from '../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { SecretDiscoveryService } from '../../src/shared/proto/envoy/service/secret/v3/sds_pb.ts';

/** A control plane that requests a client certificate, and sends no resources. */
export interface MutualControlPlane {
  readonly port: number;
  /**
   * The serials of the client certificates, one for each stream, as Node's TLS prints them; '' for
   * a stream without a certificate.
   */
  readonly shown: readonly string[];
  /** Ends all streams: Envoy then connects again. */
  drop(): void;
  close(): void;
}

export interface MutualControlPlaneOptions {
  /** The certificate chain of the server, PEM. */
  readonly chain: string;
  /** The key of the server, PEM. */
  readonly key: string;
  /** The roots of the client certificates that it accepts, PEM. */
  readonly roots: string;
  /** Default true. */
  readonly asksClient?: boolean;
  /** Default: a free port. */
  readonly port?: number;
}

/** Starts one on 127.0.0.1. */
export async function startMutualControlPlane(
  options: MutualControlPlaneOptions,
): Promise<MutualControlPlane> {
  const { chain, key, roots } = options;
  const server = new Server();
  const shown: string[] = [];
  const calls = new Set<ServerDuplexStream<DiscoveryRequest, DiscoveryResponse>>();
  const { streamSecrets } = grpcDefinition(SecretDiscoveryService);
  if (streamSecrets === undefined) throw new Error('the service has no such method');
  // The same messages under another name.
  const aggregated = {
    ...streamSecrets,
    path: '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources',
  };
  server.addService(
    { aggregated },
    {
      aggregated: (call: ServerDuplexStream<DiscoveryRequest, DiscoveryResponse>) => {
        calls.add(call);
        shown.push(
          (
            call.getAuthContext().sslPeerCertificate as
              { readonly serialNumber?: string } | undefined
          )?.serialNumber ?? '',
        );
        call.on('data', ({ typeUrl, responseNonce }: DiscoveryRequest) => {
          if (responseNonce === '')
            call.write(create(DiscoveryResponseSchema, { typeUrl, versionInfo: '1', nonce: '1' }));
        });
        call.on('end', () => call.end());
        for (const gone of ['end', 'cancelled', 'error']) call.on(gone, () => calls.delete(call));
      },
    },
  );
  const pair = { cert_chain: Buffer.from(chain), private_key: Buffer.from(key) };
  const credentials = ServerCredentials.createSsl(
    Buffer.from(roots),
    [pair],
    options.asksClient ?? true,
  );
  const port = await promisify(server.bindAsync.bind(server))(
    `127.0.0.1:${options.port ?? 0}`,
    credentials,
  );
  return {
    port,
    shown,
    drop: () => calls.forEach((call) => call.end()),
    close: () => server.forceShutdown(),
  };
}
