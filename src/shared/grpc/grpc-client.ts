// Why: docs/decisions/041-no-client-uses-proxy-variables.md
import type * as Grpc from '@grpc/grpc-js';
import { trustAnchors } from '../http/http-answer.ts';
import { localhostTarget } from './localhost-target.ts';

/**
 * Returns a client of the server at `address`: `host:port`, or `unix:` and a path. `localhost` is
 * never looked up.
 *
 * It connects directly. Otherwise gRPC for Node would connect through `grpc_proxy`, `https_proxy`
 * or `http_proxy` of the environment, even to localhost.
 */
export function grpcClient(
  grpc: Pick<typeof Grpc, 'Client' | 'setLogVerbosity' | 'logVerbosity' | 'experimental'>,
  address: string,
  credentials: Grpc.ChannelCredentials,
  options: Grpc.ClientOptions = {},
): Grpc.Client {
  grpc.setLogVerbosity(grpc.logVerbosity.NONE); // else stderr repeats returned errors
  return new grpc.Client(localhostTarget(grpc.experimental, address), credentials, {
    ...options,
    'grpc.enable_http_proxy': 0,
  });
}

/** The certificates and the key for TLS to a server, as PEM. */
export interface GrpcClientTls {
  /** They verify the server; undefined for the roots of Node. */
  readonly roots: Buffer | undefined;
  /** The client's certificate and key; undefined for none. */
  readonly pair: { readonly chain: Buffer; readonly key: Buffer } | undefined;
  readonly checkServerIdentity?: Grpc.VerifyOptions['checkServerIdentity'];
}

/**
 * Returns credentials for TLS. Each certificate in `roots` is a trust anchor, even an intermediate
 * one, as in Go and in Envoy. Throws if the pair or the roots cannot be used.
 */
export function tlsCredentials(
  { ChannelCredentials }: Pick<typeof Grpc, 'ChannelCredentials'>,
  { roots, pair, checkServerIdentity }: GrpcClientTls,
): Grpc.ChannelCredentials {
  const context = process.getBuiltinModule('node:tls').createSecureContext({
    ...trustAnchors(roots),
    ...(pair !== undefined && { cert: pair.chain, key: pair.key }),
  });
  return ChannelCredentials.createFromSecureContext(
    context,
    checkServerIdentity === undefined ? {} : { checkServerIdentity },
  );
}
