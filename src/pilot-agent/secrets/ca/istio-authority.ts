import { create } from '@bufbuild/protobuf';
import type * as Grpc from '@grpc/grpc-js';
import { asyncScheduler, defer, filter, Observable, of, type SchedulerLike, switchMap } from 'rxjs';
import { bytesOutside, largest } from '../../../shared/files/outside-file.ts';
import { grpcClient, tlsCredentials } from '../../../shared/grpc/grpc-client.ts';
import { grpcDefinition } from '../../../shared/grpc/grpc-definition.ts';
import { troubleOf } from '../../../shared/grpc/trouble.ts';
import { pollUntil } from '../../../operators/poll-until.ts';
import { settle } from '../../../operators/settle.ts';
import { readOwnPair } from '../own-pair.ts';
import {
  IstioCertificateRequestSchema,
  type IstioCertificateResponse,
  IstioCertificateService,
} from '../../../shared/proto/istio/v1/auth/ca_pb.ts';
import type { Authority, AuthorityAddress, IssueFailure, Signed } from './authority.ts';

export interface IstioAuthorityOptions extends AuthorityAddress {
  /** The paths of the agent's client pair; undefined for none. */
  readonly client: { readonly chain: string; readonly key: string } | undefined;
  /** Sent as `ClusterID`; empty for none. */
  readonly clusterId: string;
}

/** The time limit of an answer. In ms. */
const timeoutMs = 10_000;
/**
 * The codes that the Go agent retries: CANCELLED, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED,
 * INTERNAL, UNAVAILABLE.
 */
const fleeting: readonly number[] = [1, 4, 8, 10, 13, 14];
/** How long one attempt waits for a connection, and the pause until the next attempt. In ms. */
const reach = { within: 2_000, every: 1_000 };

/**
 * Returns Istio's authority (Citadel, istiod). Each call makes a new connection and reads the roots
 * and the client certificate again, so that a change of them needs no new agent. Loads gRPC.
 */
export function istioAuthority(
  options: IstioAuthorityOptions,
  scheduler: SchedulerLike = asyncScheduler,
): Authority {
  function ready(token: string | undefined) {
    return defer(async () => {
      const grpc = await import('@grpc/grpc-js');
      return { grpc, channel: await credentialsOf(options, grpc, token, scheduler.now()) };
    }).pipe(settle());
  }
  return {
    name: options.address,
    reached$: ready(undefined).pipe(
      switchMap((prepared) =>
        prepared.ok ? connection(options, prepared.value, scheduler) : of(false),
      ),
      pollUntil((isReached) => isReached, { every: reach.every }, scheduler),
      filter((isReached) => isReached),
    ),
    sign: (csr, token, ttl) =>
      ready(token).pipe(
        switchMap((prepared) =>
          prepared.ok
            ? call(
                options,
                prepared.value,
                create(IstioCertificateRequestSchema, {
                  csr,
                  validityDuration: BigInt(Math.round(ttl / 1000)),
                }),
                token,
                scheduler,
              )
            : of<Signed>({
                ok: false,
                reason: `a file that TLS to it needs is missing: ${(prepared.error as Error).message}`,
                failure: 'fleeting',
              }),
        ),
      ),
  };
}

async function credentialsOf(
  { roots, client }: IstioAuthorityOptions,
  grpc: typeof Grpc,
  token: string | undefined,
  now: number,
): Promise<Grpc.ChannelCredentials> {
  if (roots === undefined) return grpc.credentials.createInsecure();
  const [vouching, pair] = await Promise.all([
    roots === 'system' ? undefined : rootsIn(roots),
    pairOf(client, token, now),
  ]);
  return tlsCredentials(grpc, { roots: vouching, pair });
}

function rootsIn(path: string): Promise<Buffer> {
  return bytesOutside(path, largest.pem).catch((error: unknown) =>
    Promise.reject(new Error(`${path}: ${(error as Error).message}`)),
  );
}

/** Returns the client pair; none if it does not work and a token replaces it. */
async function pairOf(
  client: IstioAuthorityOptions['client'],
  token: string | undefined,
  now: number,
) {
  const ownPair = client && (await readOwnPair(client, now));
  if (ownPair?.ok === false && token === '') throw new Error(ownPair.reason);
  return ownPair?.ok === true ? ownPair.pair : undefined;
}

interface Ready {
  readonly grpc: typeof Grpc;
  readonly channel: Grpc.ChannelCredentials;
}

function clientOf(
  { address, serverName }: AuthorityAddress,
  { grpc, channel }: Ready,
): Grpc.Client {
  return grpcClient(grpc, address, channel, {
    'grpc.use_local_subchannel_pool': 1,
    ...(serverName !== undefined && {
      'grpc.ssl_target_name_override': serverName,
      'grpc.default_authority': serverName,
    }),
  });
}

/** Emits once whether a connection is made in time, and completes. */
function connection(
  options: IstioAuthorityOptions,
  ready: Ready,
  scheduler: SchedulerLike,
): Observable<boolean> {
  return new Observable((subscriber) => {
    const client = clientOf(options, ready);
    client.waitForReady(scheduler.now() + reach.within, (error) => {
      subscriber.next(error === undefined);
      subscriber.complete();
    });
    return () => client.close();
  });
}

function call(
  options: IstioAuthorityOptions,
  ready: Ready,
  request: object,
  token: string,
  scheduler: SchedulerLike,
): Observable<Signed> {
  return new Observable((subscriber) => {
    const { createCertificate } = grpcDefinition(IstioCertificateService);
    if (createCertificate === undefined) throw new Error('the service has no such method');
    const { path, requestSerialize, responseDeserialize } = createCertificate;
    // First, because it may throw, and then nothing would close the client.
    const metadata = new ready.grpc.Metadata();
    if (token !== '') metadata.set('authorization', `Bearer ${token}`);
    if (options.clusterId !== '') metadata.set('ClusterID', options.clusterId);
    const client = clientOf(options, ready);
    let isReached = false;
    client.waitForReady(Infinity, (error) => (isReached = error === undefined));
    const deadline = scheduler.now() + timeoutMs;
    const pendingCall = client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      metadata,
      { deadline },
      (error, answer) => {
        subscriber.next(
          error === null
            ? { ok: true, chain: (answer as IstioCertificateResponse).certChain }
            : {
                ok: false,
                reason: troubleOf(error, token === '' ? 'certificate' : 'token'),
                failure: failureOf(error.code, isReached),
              },
        );
        subscriber.complete();
      },
    );
    return () => {
      pendingCall.cancel();
      client.close();
    };
  });
}

function failureOf(code: number, isReached: boolean): IssueFailure {
  if (!isReached) return 'away';
  return fleeting.includes(code) ? 'fleeting' : 'refused';
}
