import type * as Grpc from '@grpc/grpc-js';
import { neededFile, tokenIn } from '../../../shared/files/needed-file.ts';
import { largest } from '../../../shared/files/outside-file.ts';
import { tlsCredentials } from '../../../shared/grpc/grpc-client.ts';
import { nameFlaw, openSslReason } from '../../../shared/grpc/trouble.ts';
import type { AdsCredentials } from '../../../shared/xds/ads-link.ts';
import type { ConfigServer, ConfigServerTls } from '../../istio/mesh/config-server.ts';

/** The largest answer of a server, in bytes. */
const largestAnswer = 128 << 20;

/**
 * Reads what a connection to a server needs. Files are read again for each connection. Rejects with
 * the reason if one of them cannot be used.
 */
export async function serverCredentials(
  { address, tls, tokenFile }: ConfigServer,
  grpc: typeof Grpc,
): Promise<AdsCredentials> {
  const common = { address, largest: largestAnswer };
  if (tls === undefined)
    return {
      ...common,
      credentials: grpc.credentials.createInsecure(),
      metadata: {},
      shown: 'nothing',
    };
  const token = tokenFile === '' ? '' : await tokenIn('the token', tokenFile);
  return {
    ...common,
    credentials: await tlsOf(tls, grpc),
    metadata: token === '' ? {} : { authorization: `Bearer ${token}` },
    shown: token !== '' ? 'token' : tls.pair === undefined ? 'nothing' : 'certificate',
    serverName: tls.sni,
  };
}

async function tlsOf(
  { roots, pair, names }: ConfigServerTls,
  grpc: typeof Grpc,
): Promise<Grpc.ChannelCredentials> {
  const read = (purpose: string, path: string) => neededFile(purpose, path, largest.pem);
  const isPem = roots.startsWith('-----BEGIN');
  const [rootBytes, chain, key] = await Promise.all([
    isPem || roots === '' ? Buffer.from(roots) : read('the root that vouches for it', roots),
    pair === undefined ? undefined : read('the client certificate', pair.chain),
    pair === undefined ? undefined : read('the client key', pair.key),
  ]);
  const accepted = names.flatMap((name) => [`DNS:${name}`, `URI:${name}`]);
  try {
    return tlsCredentials(grpc, {
      roots: roots === '' ? undefined : rootBytes,
      pair: chain === undefined || key === undefined ? undefined : { chain, key },
      ...(names.length > 0 && {
        checkServerIdentity: (_, { subjectaltname }) => nameFlaw(subjectaltname, accepted),
      }),
    });
  } catch (error) {
    throw new Error(
      `the certificate, the key or the root cannot be used: ${openSslReason((error as Error).message)}`,
    );
  }
}
