import type * as Grpc from '@grpc/grpc-js';
import type { VerifyOptions } from '@grpc/grpc-js';
import { asyncScheduler, map, type Observable, type SchedulerLike, takeWhile } from 'rxjs';
import { neededFile, tokenIn } from '../../shared/files/needed-file.ts';
import { largest } from '../../shared/files/outside-file.ts';
import { type GrpcClientTls, tlsCredentials } from '../../shared/grpc/grpc-client.ts';
import type { Node } from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import {
  type AdsAnswer,
  type AdsCredentials,
  adsLink,
  type AdsLinkEvent,
} from '../../shared/xds/ads-link.ts';
import { type Ask, askMessage, readResponse, type Variant } from '../../shared/xds/messages.ts';
import type { Update } from '../../shared/xds/resources.ts';
import { readOwnPair } from '../secrets/own-pair.ts';
import { nameFlaw, openSslReason } from '../../shared/grpc/trouble.ts';

/** How the agent reaches the control plane. Files are read again for each connection. */
export interface ControlPlaneAddress {
  /** `host:port`. */
  readonly address: string;
  /** Undefined for plaintext. */
  readonly tls:
    | {
        /** The file of the roots that verify the control plane. */
        readonly roots: string;
        /**
         * The certificate must have one of these names. Each begins with its type: `DNS:…`,
         * `URI:…`.
         */
        readonly names: readonly string[];
        /** The files of the agent's certificate and key; undefined for none. */
        readonly pair: { readonly chain: string; readonly key: string } | undefined;
        /**
         * Returns the pair (PEM) that an authority has issued, if any. The agent presents it
         * instead.
         */
        readonly issued?: () => { readonly chain: string; readonly key: Buffer } | undefined;
        /** The file of the token, which is sent if no pair works; undefined for none. */
        readonly token: string | undefined;
      }
    | undefined;
  /** Sent as `ClusterID`; empty for none. */
  readonly clusterId: string;
}

/** An event of one connection. An answer is an update. */
export type LinkEvent =
  | Exclude<AdsLinkEvent, { readonly type: 'answered' }>
  | { readonly type: 'updated'; readonly update: Update };

/** A request for the control plane. The first one has the node. */
export interface Question {
  readonly ask: Ask;
  readonly node: Node | undefined;
}

/** The limit only stops an extreme answer. In bytes. */
const largestAnswer = 512 << 20;

/**
 * Runs one aggregated stream (ADS) to the control plane over a separate connection. Emits `opened`,
 * `connected`, then each answer; emits `unanswered` if there is none within 4 s. Emits `lost` at
 * the end, after at most 30 s without an answer, and completes. Cold; never errors. Disconnects on
 * unsubscribe. Loads gRPC.
 */
export function controlPlane(
  target: ControlPlaneAddress,
  variant: Variant,
  question$: Observable<Question>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<LinkEvent> {
  const request$ = question$.pipe(map(({ ask, node }) => askMessage(variant, ask, node)));
  return adsLink(
    (grpc, now) => credentialsOf(target, grpc, now),
    variant,
    request$,
    scheduler,
  ).pipe(
    map((event) => (event.type === 'answered' ? updateOf(event.answer) : event)),
    takeWhile(({ type }) => type !== 'lost', true),
  );
}

function updateOf(answer: AdsAnswer): LinkEvent {
  try {
    return { type: 'updated', update: readResponse(answer) };
  } catch (error) {
    return { type: 'lost', reason: `its answer cannot be read: ${(error as Error).message}` };
  }
}

async function credentialsOf(
  { address, tls, clusterId }: ControlPlaneAddress,
  grpc: typeof Grpc,
  now: number,
): Promise<AdsCredentials> {
  const { credentials, token } = await proofTo(tls, grpc, now);
  const metadata = {
    ...(token !== '' && { authorization: `Bearer ${token}` }),
    ...(clusterId !== '' && { ClusterID: clusterId }),
  };
  const shown = token !== '' ? 'token' : tls?.pair === undefined ? 'nothing' : 'certificate';
  return { address, credentials, metadata, shown, largest: largestAnswer };
}

async function proofTo(
  tls: ControlPlaneAddress['tls'],
  grpc: typeof Grpc,
  now: number,
): Promise<{ readonly credentials: Grpc.ChannelCredentials; readonly token: string }> {
  if (tls === undefined) return { credentials: grpc.credentials.createInsecure(), token: '' };
  const { names } = tls;
  const [roots, { pair, token }] = await Promise.all([
    neededFile('the root that vouches for it', tls.roots, largest.pem),
    proofOf(tls, now),
  ]);
  const checkServerIdentity: VerifyOptions['checkServerIdentity'] = (_, { subjectaltname }) =>
    nameFlaw(subjectaltname, names);
  try {
    return { credentials: tlsCredentials(grpc, { roots, pair, checkServerIdentity }), token };
  } catch (error) {
    throw new Error(
      `the certificate or the key of the agent cannot be used: ${openSslReason((error as Error).message)}`,
    );
  }
}

/** Returns how the agent authenticates itself: by a pair, or by the token if no pair works. */
async function proofOf(
  tls: NonNullable<ControlPlaneAddress['tls']>,
  now: number,
): Promise<Pick<GrpcClientTls, 'pair'> & { token: string }> {
  const latest = tls.issued?.();
  const issued = latest && { chain: Buffer.from(latest.chain), key: latest.key };
  const token = async () => (tls.token === undefined ? '' : tokenIn('the token', tls.token));
  if (tls.pair === undefined) return { pair: issued, token: await token() };
  if (issued !== undefined) return { pair: issued, token: '' };
  const ownPair = await readOwnPair(tls.pair, now);
  if (ownPair.ok) return { pair: ownPair.pair, token: '' };
  if (tls.token === undefined) throw new Error(ownPair.reason);
  return {
    pair: undefined,
    token: await token().catch((error: unknown) =>
      Promise.reject(new Error(`${ownPair.reason}; ${(error as Error).message}`)),
    ),
  };
}
