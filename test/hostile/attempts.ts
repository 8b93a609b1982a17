import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { tokenIssuer } from '../../demo/token-issuer.ts';
import { csrPem, goodKeys, testCsr } from '../support/test-csr.ts';
import { askSecurely } from '../support/secure-client.ts';
import { askForCertificate, type CallOutcome, certificateRequest } from './secure-calls.ts';
import { type SecureClient, secureSession } from './secure-calls.ts';
import { audience, issuer, type SecureStage, spiffe } from './secure-stage.ts';

/** An attempt to get a certificate, or configuration, and its required outcome. */
export interface Attempt {
  readonly name: string;
  /** Makes the attempt. `from` is an address of this machine. */
  readonly make: (stage: SecureStage, from: string) => Promise<AttemptOutcome>;
  readonly status: string;
  /** The account in the certificate; undefined if there must be none. */
  readonly account?: string;
  /** The line of the log: its event, and a part of its fields. */
  readonly line: readonly [event: string, text: string];
}

/** The status of an attempt with its details, and the name in the certificate. */
export interface AttemptOutcome {
  readonly status: string;
  readonly details: string;
  readonly name: string | undefined;
}

export const goodCsr: string = csrPem(testCsr(...goodKeys['P-256']));
const hour = 3_600;
const now = (): number => Math.floor(Date.now() / 1_000);

/** Returns a request whose signature is wrong. */
export function unsignedCsr(): string {
  const der = testCsr(...goodKeys['P-256']);
  return csrPem(Buffer.concat([der.subarray(0, -1), Buffer.from([(der.at(-1) ?? 0) ^ 1])]));
}

const outcomeOf = ({ status, details, chain: [leaf] }: CallOutcome): AttemptOutcome => ({
  ...{ status, details },
  name: leaf === undefined ? undefined : new X509Certificate(leaf).subjectAltName,
});

async function ask(
  client: SecureClient,
  call: { readonly csr: string; readonly validity?: number; readonly token?: string },
): Promise<AttemptOutcome> {
  const session = secureSession(client);
  const outcome = await askForCertificate(session, certificateRequest(call), call.token);
  session.destroy();
  return outcomeOf(outcome);
}

const byToken =
  (token: (stage: SecureStage) => string): Attempt['make'] =>
  ({ port, roots, ...stage }, from) =>
    ask({ port, roots, from }, { csr: goodCsr, token: token({ port, roots, ...stage }) });

const byCertificate =
  (account: string, csr: string, validity = 0): Attempt['make'] =>
  async (stage) =>
    ask(await stage.client(account), { csr, validity });

const weakRsa = () =>
  csrPem(testCsr(generateKeyPairSync('rsa', { modulusLength: 1_024 }), 'RSA SHA-256'));
const weakCurve = () =>
  csrPem(testCsr(generateKeyPairSync('ec', { namedCurve: 'secp224r1' }), 'ECDSA SHA-256'));

/** Returns a client with a certificate of an unknown authority. */
async function stranger({ port, roots }: SecureStage): Promise<SecureClient> {
  const { workloadAuthority, uri } = await import('../support/workload-authority.ts');
  const authority = await workloadAuthority('stranger');
  return { port, roots, pair: await authority.issue({ names: [uri(spiffe('web'))] }) };
}

const issued = ['discovery.certificate_issued', '/sa/web'] as const;
const caller = (text: string) => ['discovery.caller_refused', text] as const;
const request = (text: string) => ['discovery.certificate_refused', text] as const;

/** The attempts. Each one uses an account or an address of its own, so that no limit refuses it. */
export const attempts: readonly Attempt[] = [
  {
    name: 'a first certificate, by a token',
    make: byToken((stage) => stage.token('web')),
    ...{ status: 'OK', account: 'web', line: issued },
  },
  {
    name: 'the next certificate, by the one before',
    async make(stage) {
      const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const csr = csrPem(testCsr(keys, 'ECDSA SHA-256'));
      const session = secureSession(await stage.client('web'));
      const { chain } = await askForCertificate(session, certificateRequest({ csr }));
      session.destroy();
      const key = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      const pair = { chain: chain.slice(0, -1).join(''), key };
      return ask({ port: stage.port, roots: stage.roots, pair }, { csr: goodCsr });
    },
    ...{ status: 'OK', account: 'web', line: issued },
  },
  {
    name: 'a request that somebody else has sent before',
    make: byCertificate('other', goodCsr),
    ...{ status: 'OK', account: 'other', line: ['discovery.certificate_issued', '/sa/other'] },
  },
  {
    name: 'no certificate and no token',
    make: ({ port, roots }, from) => ask({ port, roots, from }, { csr: goodCsr }),
    ...{ status: 'UNAUTHENTICATED', line: caller('no client certificate and no token') },
  },
  {
    name: 'a token for another audience',
    make: byToken((stage) => stage.token('web', { aud: 'kubernetes' })),
    ...{ status: 'UNAUTHENTICATED', line: caller('"aud"') },
  },
  {
    name: 'a token that has expired',
    make: byToken((stage) => stage.token('web', { exp: now() - hour })),
    ...{ status: 'UNAUTHENTICATED', line: caller('"exp"') },
  },
  {
    name: 'a token that a key of the client has signed',
    make: byToken(() =>
      tokenIssuer('one').sign({
        ...{ iss: issuer, aud: audience, sub: 'system:serviceaccount:shop:web' },
      }),
    ),
    ...{ status: 'UNAUTHENTICATED', line: caller('signature verification failed') },
  },
  {
    name: 'a good token whose account was replaced',
    make: byToken((stage) => {
      const [head = '', , signature = ''] = stage.token('web').split('.');
      const claims = { iss: issuer, aud: audience, exp: now() + hour };
      const other = { ...claims, sub: 'system:serviceaccount:kube-system:root' };
      return [head, Buffer.from(JSON.stringify(other)).toString('base64url'), signature].join('.');
    }),
    ...{ status: 'UNAUTHENTICATED', line: caller('signature verification failed') },
  },
  {
    name: 'a token of another issuer',
    make: byToken((stage) => stage.token('web', { iss: 'https://other.test' })),
    ...{ status: 'UNAUTHENTICATED', line: caller('only tokens of the issuer') },
  },
  {
    name: 'a certificate of another root',
    make: async (stage, from) => ask({ ...(await stranger(stage)), from }, { csr: goodCsr }),
    ...{ status: 'UNAUTHENTICATED', line: caller('is not verified') },
  },
  {
    name: 'a certificate beside a token of another account',
    make: async (stage, from) =>
      ask(await stage.client('web', from), { csr: goodCsr, token: stage.token('bank') }),
    ...{ status: 'UNAUTHENTICATED', line: caller("and the token 'system:serviceaccount") },
  },
  {
    name: 'configuration for a node of another namespace',
    async make(stage) {
      const { pair } = await stage.client('web');
      const id = 'sidecar~10.0.0.1~web.bank~bank.svc.cluster.local';
      const { port, roots: root } = stage;
      const answer = await askSecurely({ port, root, pair, nodes: [{ id, metadata: {} }] });
      return { ...answer, name: undefined };
    },
    ...{ status: 'PERMISSION_DENIED', line: ['discovery.stream_refused', "says 'bank'"] },
  },
  {
    name: 'a key of RSA with 1,024 bits',
    make: byCertificate('weak-rsa', weakRsa()),
    ...{ status: 'INVALID_ARGUMENT', line: request('1024 bits') },
  },
  {
    name: 'a key of the curve P-224',
    make: byCertificate('weak-curve', weakCurve()),
    ...{ status: 'INVALID_ARGUMENT', line: request('secp224r1') },
  },
  {
    name: 'a request that its key has not signed',
    make: byCertificate('unsigned', unsignedCsr()),
    ...{ status: 'INVALID_ARGUMENT', line: request('it is not signed by its key') },
  },
  {
    name: 'a text that is not a request',
    make: byCertificate('wrong', 'x'.repeat(1_000)),
    ...{ status: 'INVALID_ARGUMENT', line: request('it is not PEM') },
  },
  {
    name: 'a request of 3 MB',
    make: byCertificate('large', 'x'.repeat(3 << 20)),
    ...{ status: 'INVALID_ARGUMENT', line: request('the limit is 16384') },
  },
  {
    name: 'a certificate for a year',
    make: byCertificate('long', goodCsr, 365 * 24 * hour),
    ...{ status: 'INVALID_ARGUMENT', line: request('the limit is 7776000 s') },
  },
];

/**
 * Makes an attempt. Resolves to its outcome, the line of the log, and the fault; '' if there is
 * none.
 */
export async function madeAttempt(
  attempt: Attempt,
  stage: SecureStage,
): Promise<{ readonly outcome: AttemptOutcome; readonly line: string; readonly wrong: string }> {
  const { make, status, account } = attempt;
  const [event, text] = attempt.line;
  const begun = stage.plane.lines.length;
  // Each attempt has an address of its own: the log has only one line a minute about the refused
  // callers of an address.
  const outcome = await make(stage, `127.0.0.${attempts.indexOf(attempt) + 10}`);
  const lineOf = () =>
    stage.plane.lines
      .slice(begun)
      .find((line) => line.event === event && Object.values(line).join(' ').includes(text));
  for (let tries = 0; lineOf() === undefined && tries < 200; tries += 1)
    await new Promise((done) => setTimeout(done, 10));
  const line = lineOf();
  const wanted = account === undefined ? undefined : `URI:${spiffe(account)}`;
  const wrong = [
    ...(outcome.status === status ? [] : [`${outcome.status} in place of ${status}`]),
    ...(outcome.name === wanted ? [] : [`a certificate for ${outcome.name ?? 'nobody'}`]),
    ...(line === undefined ? [`no line ${event} with ${text}`] : []),
  ];
  const reason = (line?.['reason'] ?? line?.['identity'] ?? '') as string;
  return { outcome, line: `\`${event}\`: ${reason}`, wrong: wrong.join('; ') };
}
