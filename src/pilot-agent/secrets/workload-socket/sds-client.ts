import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { create } from '@bufbuild/protobuf';
import type * as Grpc from '@grpc/grpc-js';
import type { ClientDuplexStream, ServiceError } from '@grpc/grpc-js';
import { defer, Observable, of, switchMap } from 'rxjs';
import { largest } from '../../../shared/files/outside-file.ts';
import { grpcClient } from '../../../shared/grpc/grpc-client.ts';
import { grpcDefinition } from '../../../shared/grpc/grpc-definition.ts';
import { troubleOf } from '../../../shared/grpc/trouble.ts';
import {
  type DiscoveryRequest,
  DiscoveryRequestSchema,
  type DiscoveryResponse,
} from '../../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { SecretDiscoveryService } from '../../../shared/proto/envoy/service/secret/v3/sds_pb.ts';
import { secretTypeUrl } from '../sds/sds-messages.ts';
import type { ReadAnswer } from './read-answer.ts';
import type { SecretServer, StreamSign } from './secret-server.ts';

/** INTERNAL: the code that Envoy sends with a NACK. */
const nackCode = 13;

/**
 * Returns a client of the server of secrets on a Unix socket. It sends requests as an Envoy does:
 * one stream for each secret. Loads gRPC at the first request.
 *
 * @param nodeId the node that is shown to the server
 */
export function sdsClient(path: string, nodeId: string): SecretServer {
  return {
    name: `workload socket ${path}`,
    follow: (secret, read) =>
      defer(async () => {
        const flaw = await socketFlaw(path);
        return flaw === undefined ? { grpc: await import('@grpc/grpc-js') } : { flaw };
      }).pipe(
        switchMap((ready) =>
          'grpc' in ready
            ? stream(ready.grpc, { path, nodeId, secret }, read)
            : of({ type: 'lost', reason: ready.flaw } as const),
        ),
      ),
  };
}

/** Returns why a connection to the socket cannot succeed; undefined if it may. */
async function socketFlaw(path: string): Promise<string | undefined> {
  try {
    const stats = await stat(path);
    if (!stats.isSocket()) return 'it is not a socket';
    return await access(path, constants.R_OK | constants.W_OK).then(
      () => undefined,
      () => `this user may not use it: it belongs to the user ${stats.uid}`,
    );
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'it is not there';
    return code === 'EACCES'
      ? 'this user may not look into its folder'
      : (error as NodeJS.ErrnoException).message;
  }
}

interface Asked {
  readonly path: string;
  readonly nodeId: string;
  readonly secret: string;
}

/**
 * No ping: a server of gRPC for Go ends a connection that is pinged more often than every 5 min.
 * Each question has a separate pool, so that it does not fail because of an earlier one.
 */
const options = {
  'grpc.use_local_subchannel_pool': 1,
  'grpc.max_receive_message_length': largest.pem,
};

function stream<T>(
  grpc: typeof Grpc,
  { path, nodeId, secret }: Asked,
  read: (answer: DiscoveryResponse) => ReadAnswer<T>,
): Observable<StreamSign<T>> {
  return new Observable((subscriber) => {
    const { streamSecrets } = grpcDefinition(SecretDiscoveryService);
    if (streamSecrets === undefined) throw new Error('the service has no such method');
    const client = grpcClient(grpc, `unix:${path}`, grpc.credentials.createInsecure(), options);
    const call = client.makeBidiStreamRequest(
      streamSecrets.path,
      streamSecrets.requestSerialize,
      streamSecrets.responseDeserialize,
    ) as unknown as ClientDuplexStream<DiscoveryRequest, DiscoveryResponse>;
    const ask = (more: {
      readonly responseNonce?: string;
      readonly versionInfo?: string;
      readonly errorDetail?: { readonly code: number; readonly message: string };
    }) =>
      call.write(
        create(DiscoveryRequestSchema, {
          typeUrl: secretTypeUrl,
          resourceNames: [secret],
          node: { id: nodeId },
          ...more,
        }),
      );
    const lose = (reason: string) => {
      subscriber.next({ type: 'lost', reason });
      subscriber.complete();
    };
    let accepted = '';
    call.on('data', (response: DiscoveryResponse) => {
      const answer = read(response);
      const { nonce: responseNonce, versionInfo } = response;
      if (answer.ok) accepted = versionInfo;
      ask({
        responseNonce,
        versionInfo: accepted,
        ...(!answer.ok && { errorDetail: { code: nackCode, message: answer.reason } }),
      });
      subscriber.next({ type: 'answered', answer });
    });
    call.on('error', (error: ServiceError) => lose(troubleOf(error, 'nothing')));
    call.on('end', () => lose('it has ended the stream'));
    ask({});
    return () => {
      call.cancel();
      client.close();
    };
  });
}
