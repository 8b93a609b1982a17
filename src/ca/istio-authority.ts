import { readFile } from 'node:fs/promises';
import { create } from '@bufbuild/protobuf';
import type * as Grpc from '@grpc/grpc-js';
import { asyncScheduler, defer, Observable, of, type SchedulerLike, switchMap } from 'rxjs';
import { grpcDefinition } from '../grpc/grpc-definition.ts';
import { troubleOf } from '../grpc/trouble.ts';
import { settle } from '../operators/settle.ts';
import { IstioCertificateRequestSchema, type IstioCertificateResponse, IstioCertificateService } from '../proto/istio/v1/auth/ca_pb.ts';
import type { Authority, AuthorityAddress, Signed } from './authority.ts';

export interface IstioAuthorityOptions extends AuthorityAddress {
  /** Paths of the pair that the agent shows the authority; undefined for none. */
  readonly client: { readonly chain: string; readonly key: string } | undefined;
  /** Sent along as `ClusterID`; empty for none. */
  readonly clusterId: string;
}

/** How long an authority may take to answer. In ms. */
const timeoutMs = 10_000;
/**
 * CANCELLED, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, INTERNAL, UNAVAILABLE: what the Go
 * agent tries again.
 */
const fleeting: readonly number[] = [1, 4, 8, 10, 13, 14];

/**
 * Istio's authority (Citadel, istiod). Each call connects anew and reads roots and client
 * certificate anew, so that none of them needs a new agent. Loads gRPC.
 */
export function istioAuthority(options: IstioAuthorityOptions, scheduler: SchedulerLike = asyncScheduler): Authority {
  return {
    name: options.address,
    sign: (csr, token, ttl) =>
      defer(async () => {
        const grpc = await import('@grpc/grpc-js');
        return { grpc, channel: await credentialsOf(options, grpc) };
      }).pipe(
        settle(),
        switchMap((ready) =>
          ready.ok
            ? call(
                options,
                ready.value,
                create(IstioCertificateRequestSchema, { csr, validityDuration: BigInt(Math.round(ttl / 1000)) }),
                token,
                scheduler,
              )
            : of<Signed>({ ok: false, reason: `what TLS to it needs is missing: ${(ready.error as Error).message}`, isFleeting: true }),
        ),
      ),
  };
}

async function credentialsOf({ roots, client }: IstioAuthorityOptions, { credentials }: typeof Grpc): Promise<Grpc.ChannelCredentials> {
  if (roots === undefined) return credentials.createInsecure();
  const [ca, chain, key] = await Promise.all([
    roots === 'system' ? null : readFile(roots),
    client === undefined ? null : readFile(client.chain),
    client === undefined ? null : readFile(client.key),
  ]);
  return credentials.createSsl(ca, key, chain);
}

function call(
  { address, serverName, clusterId }: IstioAuthorityOptions,
  { grpc, channel }: { readonly grpc: typeof Grpc; readonly channel: Grpc.ChannelCredentials },
  request: object,
  token: string,
  scheduler: SchedulerLike,
): Observable<Signed> {
  return new Observable((subscriber) => {
    const { createCertificate } = grpcDefinition(IstioCertificateService);
    if (createCertificate === undefined) throw new Error('the service has no such method');
    const { path, requestSerialize, responseDeserialize } = createCertificate;
    grpc.setLogVerbosity(grpc.logVerbosity.NONE); // it writes to stderr what comes back as a reason
    const client = new grpc.Client(address, channel, {
      'grpc.use_local_subchannel_pool': 1,
      ...(serverName !== undefined && { 'grpc.ssl_target_name_override': serverName, 'grpc.default_authority': serverName }),
    });
    const metadata = new grpc.Metadata();
    if (token !== '') metadata.set('authorization', `Bearer ${token}`);
    if (clusterId !== '') metadata.set('ClusterID', clusterId);
    const deadline = scheduler.now() + timeoutMs;
    const asked = client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, { deadline }, (error, answer) => {
      subscriber.next(
        error === null
          ? { ok: true, chain: (answer as IstioCertificateResponse).certChain }
          : { ok: false, reason: troubleOf(error, token === '' ? 'certificate' : 'token'), isFleeting: fleeting.includes(error.code) },
      );
      subscriber.complete();
    });
    return () => {
      asked.cancel();
      client.close();
    };
  });
}
