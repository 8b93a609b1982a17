import { promisify } from 'node:util';
import { create } from '@bufbuild/protobuf';
import {
  type sendUnaryData,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import type { CertificateAuthority } from '../../demo/certificates.ts';
import { grpcDefinition } from '../../src/shared/grpc/grpc-definition.ts';
import {
  type IstioCertificateRequest,
  type IstioCertificateResponse,
  IstioCertificateResponseSchema,
  IstioCertificateService,
} from '../../src/shared/proto/istio/v1/auth/ca_pb.ts';

/** A request that a test authority received. */
interface Asked {
  readonly csr: string;
  readonly ttl: number;
  readonly authorization: string;
  readonly clusterId: string;
  /** The common name of the client certificate; empty if there is none. */
  readonly client: string;
}

/** Returns the answer to a request: certificates as PEM, or an error with a status. */
type Answer = (request: Asked) => Promise<readonly string[] | Partial<ServiceError>>;

export interface CaServer {
  readonly port: number;
  readonly requests: readonly Asked[];
  /** Default: a certificate that is valid for an hour, and the root. */
  answer: Answer;
  close(): void;
}

/**
 * Starts a server on 127.0.0.1 that signs with `ca` as Istio's authority does. Without `port` it
 * takes a free one. It serves TLS if `tls` is there.
 */
export async function startCaServer(
  ca: CertificateAuthority,
  {
    port = 0,
    tls,
  }: {
    readonly port?: number;
    readonly tls?: {
      readonly roots: string;
      readonly asksClient: boolean;
      readonly chain: string;
      readonly key: string;
    };
  } = {},
): Promise<CaServer> {
  const server = new Server();
  const requests: Asked[] = [];
  const caServer = {
    port,
    requests,
    answer: (async ({ csr }) => [(await ca.sign(csr)).certificate, ca.rootCert]) as Answer,
    close: () => server.forceShutdown(),
  };
  server.addService(grpcDefinition(IstioCertificateService), {
    createCertificate: (
      call: ServerUnaryCall<IstioCertificateRequest, IstioCertificateResponse>,
      reply: sendUnaryData<IstioCertificateResponse>,
    ) => {
      const request: Asked = {
        csr: call.request.csr,
        ttl: Number(call.request.validityDuration),
        authorization: String(call.metadata.get('authorization')[0] ?? ''),
        clusterId: String(call.metadata.get('ClusterID')[0] ?? ''),
        client:
          (call.getAuthContext().sslPeerCertificate as { subject?: { CN?: string } } | undefined)
            ?.subject?.CN ?? '',
      };
      requests.push(request);
      caServer.answer(request).then(
        (answer) => {
          if (Array.isArray(answer))
            reply(null, create(IstioCertificateResponseSchema, { certChain: answer as string[] }));
          else reply(answer as Partial<ServiceError>);
        },
        (error: unknown) => reply({ code: status.INTERNAL, details: String(error) }),
      );
    },
  });
  const credentials =
    tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(
          Buffer.from(tls.roots),
          [{ cert_chain: Buffer.from(tls.chain), private_key: Buffer.from(tls.key) }],
          tls.asksClient,
        );
  caServer.port = await promisify(server.bindAsync.bind(server))(`127.0.0.1:${port}`, credentials);
  return caServer;
}
