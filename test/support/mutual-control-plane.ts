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

/** A control plane that asks for a client certificate, and has no resource for anybody. */
export interface MutualControlPlane {
  readonly port: number;
  /** Serials of the certificates that it was shown, one a stream, as Node's TLS prints them. */
  readonly shown: readonly string[];
  /** Ends all streams: Envoy then connects anew. */
  drop(): void;
  close(): void;
}

export interface MutualControlPlaneOptions {
  /** Its own pair, and the root of those that it lets in; all PEM. */
  readonly chain: string;
  readonly key: string;
  readonly roots: string;
  /** Default true. */
  readonly asksClient?: boolean;
  /** Default: one that is free. */
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
