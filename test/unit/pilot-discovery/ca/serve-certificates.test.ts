import { X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import { create } from '@bufbuild/protobuf';
import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { asyncScheduler, BehaviorSubject } from 'rxjs';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { istioAuthority } from '../../../../src/pilot-agent/secrets/ca/istio-authority.ts';
import {
  afterReading,
  type AuthorityState,
  noAuthority,
} from '../../../../src/pilot-discovery/ca/authority-state.ts';
import {
  type CertificateEvent,
  serveCertificates,
} from '../../../../src/pilot-discovery/ca/serve-certificates.ts';
import { signingAuthority } from '../../../../src/pilot-discovery/ca/signing-authority.ts';
import { grpcDefinition } from '../../../../src/shared/grpc/grpc-definition.ts';
import {
  type IstioCertificateResponse,
  IstioCertificateRequestSchema,
  IstioCertificateService,
} from '../../../../src/shared/proto/istio/v1/auth/ca_pb.ts';
import { pluggedAuthority } from '../../../support/plugged-authority.ts';
import { csrPem, goodKeys, testCsr } from '../../../support/test-csr.ts';

const fail = (error: unknown): never => {
  throw error as Error;
};

const hour = 3_600_000;
const csr = csrPem(testCsr(...goodKeys['P-256']));
const identityOf = (account: string) => `spiffe://cluster.local/ns/shop/sa/${account}`;
let ready: AuthorityState;
let server: Server;
let client: Client;
let port: number;
let events: CertificateEvent[];
let authority$: BehaviorSubject<AuthorityState>;

beforeAll(async () => {
  const result = signingAuthority(await pluggedAuthority(), Date.now());
  if (!result.ok) throw new Error(result.reason);
  ready = afterReading(noAuthority, {
    type: 'authority',
    path: '',
    authority: result.authority,
    crl: { kind: 'absent' },
  });
});

beforeEach(async () => {
  server = new Server();
  events = [];
  authority$ = new BehaviorSubject(ready);
  const callerOf = ({ metadata }: { readonly metadata: Metadata }) => {
    const [token = ''] = metadata.get('authorization').map(String);
    if (token === 'Bearer nobody') throw new Error('not authenticated');
    const serviceAccount = token.replace('Bearer ', '') || 'cart';
    return { trustDomain: 'cluster.local', namespace: 'shop', serviceAccount };
  };
  serveCertificates(server, callerOf, {
    authority$,
    lifetimes: { usual: 24 * hour, longest: 90 * 24 * hour },
    rate: { burst: 50, perSecond: 10 },
    scheduler: asyncScheduler,
  }).subscribe({ next: (event) => events.push(event), error: fail });
  port = await promisify(server.bindAsync.bind(server))(
    '127.0.0.1:0',
    ServerCredentials.createInsecure(),
  );
  client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
});
afterEach(() => {
  client.close();
  server.forceShutdown();
});

type Answer = readonly string[] | Pick<ServiceError, 'code' | 'details'>;

function ask(
  request: { readonly csr?: string; readonly validityDuration?: bigint } = {},
  account = 'cart',
): Promise<Answer> {
  const { createCertificate } = grpcDefinition(IstioCertificateService);
  if (createCertificate === undefined) throw new Error('no such method');
  const { path, requestSerialize, responseDeserialize } = createCertificate;
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${account}`);
  return new Promise((done) =>
    client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      create(IstioCertificateRequestSchema, { csr, ...request }),
      metadata,
      (error, answer) =>
        done(
          error === null
            ? (answer as IstioCertificateResponse).certChain
            : { code: error.code, details: error.details },
        ),
    ),
  );
}

describe('serveCertificates', () => {
  it('issues a certificate to the caller, and says so', async () => {
    const [pem = ''] = (await ask({ validityDuration: 3_600n })) as readonly string[];
    const { serialNumber, validTo, subjectAltName } = new X509Certificate(pem);
    expect(subjectAltName).toBe(`URI:${identityOf('cart')}`);
    const event = {
      type: 'certificate-issued',
      identity: identityOf('cart'),
      address: expect.stringMatching(/^127\.0\.0\.1:\d+$/) as string,
      serialNumber,
      notAfter: Date.parse(validTo),
    };
    expect(events).toEqual([event]);
  });

  it('is an authority for the agent of this project', async () => {
    const address = `127.0.0.1:${port}`;
    const authority = istioAuthority({
      address,
      roots: undefined,
      serverName: undefined,
      client: undefined,
      clusterId: '',
    });
    const signed = await new Promise((done) =>
      authority.sign(csr, 'cart', hour).subscribe({ next: done, error: fail }),
    );
    expect(signed).toEqual({ ok: true, chain: expect.any(Array) as unknown });
  });

  it.each([
    ['a wrong request', { csr: 'csr' }, status.INVALID_ARGUMENT, 'request'],
    [
      'a lifetime beyond the limit',
      { validityDuration: 7_776_001n },
      status.INVALID_ARGUMENT,
      'lifetime',
    ],
  ])('refuses %s with the code of istiod, and a reason', async (_, request, code, kind) => {
    const answer = await ask(request);
    const [event] = events;
    const reason = event?.type === 'certificate-refused' ? event.reason : expect.fail();
    expect(answer).toEqual({ code, details: `no certificate is issued: ${reason}` });
    expect(event).toMatchObject({ identity: identityOf('cart'), kind, logged: 1 });
  });

  it('issues nothing without an authority, and tells the client no reason', async () => {
    authority$.next({ type: 'refused', flaw: '/etc/cacerts/ca-key.pem: EACCES' });
    const details = 'no certificate is issued: the authority cannot sign now';
    expect(await ask()).toEqual({ code: status.INTERNAL, details });
    expect(events).toMatchObject([
      { kind: 'authority', reason: 'the authority has no key: /etc/cacerts/ca-key.pem: EACCES' },
    ]);
    authority$.next(ready);
    expect(await ask()).toHaveLength(3);
  });

  it('has no such service without an authority', async () => {
    authority$.next({ type: 'absent' });
    expect(await ask()).toMatchObject({ code: status.UNIMPLEMENTED });
  });

  it('goes on with the authority before, if the newest one is refused', async () => {
    authority$.next(afterReading(ready, { type: 'refused', reason: 'wrong' }));
    expect(await ask()).toHaveLength(3);
  });

  it('issues nothing if nobody says who calls, and goes on', async () => {
    const details = 'no certificate is issued: the control plane has failed';
    expect(await ask({}, 'nobody')).toEqual({ code: status.INTERNAL, details });
    expect(events).toMatchObject([{ kind: 'bug', identity: '' }]);
    expect(await ask()).toHaveLength(3);
  });

  it('refuses an identity that asks too often, before it reads the request; others go on', async () => {
    const noisy = await Promise.all(Array.from({ length: 300 }, () => ask({ csr: 'x' }, 'noisy')));
    const codes = noisy.map((answer) => ('code' in answer ? answer.code : 0));
    const tooMany = codes.filter((code) => code === status.RESOURCE_EXHAUSTED).length;
    expect(tooMany).toBeGreaterThan(200);
    expect(await ask({}, 'quiet')).toHaveLength(3);
    const logged = events.filter(
      (event) =>
        event.type === 'certificate-refused' && event.kind === 'rate' && event.logged !== undefined,
    );
    expect(logged).toHaveLength(1);
  });

  it('works on a few requests of an identity at once: another one has its turn between them', async () => {
    const noisy = Array.from({ length: 40 }, () => ask({}, 'noisy'));
    await Promise.all([...noisy, ask({}, 'quiet')]);
    const order = events.map((event) => event.type === 'certificate-issued' && event.identity);
    expect(order).toHaveLength(41);
    expect(order.indexOf(identityOf('quiet'))).toBeLessThan(20);
  });
});
