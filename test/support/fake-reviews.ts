import { createPublicKey, createVerify, type JsonWebKey } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { FindAccess } from '../../src/shared/kube/access.ts';

/** The spec of a TokenReview. */
interface Question {
  readonly token: string;
  readonly audiences: readonly string[];
}

type Status = Readonly<Record<string, unknown>>;

/** An API that reviews tokens of one issuer, as Kubernetes does. */
export interface FakeReviews {
  readonly findApi: FindAccess;
  /** The specs of the reviews that were requested. */
  readonly reviews: readonly Question[];
  /** Replaces the answers; undefined restores the usual ones. */
  answer(by: ((response: ServerResponse, question: Question) => void) | undefined): void;
  close(): void;
}

/** Returns an answer that has this status for every review. */
export const sameStatus =
  (status: Status) =>
  (response: ServerResponse): void => {
    response.writeHead(201).end(JSON.stringify({ kind: 'TokenReview', status }));
  };

/** Starts one for the issuer with these keys (JWKS with one key). */
export async function startFakeReviews(keys: string): Promise<FakeReviews> {
  const [key] = (JSON.parse(keys) as { readonly keys: readonly JsonWebKey[] }).keys;
  const publicKey = createPublicKey({ format: 'jwk', key: key ?? {} });
  const reviews: Question[] = [];
  let instead: Parameters<FakeReviews['answer']>[0];

  function statusOf({ token, audiences }: Question): Status {
    const [head = '', payload = '', signature = ''] = token.split('.');
    const isSigned = createVerify('RSA-SHA256')
      .update(`${head}.${payload}`)
      .verify(publicKey, signature, 'base64url');
    if (!isSigned) return { authenticated: false, error: 'invalid bearer token' };
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as {
      readonly sub: string;
      readonly aud: readonly string[];
      readonly exp: number;
    };
    if (claims.exp * 1_000 < Date.now())
      return { authenticated: false, error: 'service account token has expired' };
    const common = claims.aud.filter((audience) => audiences.includes(audience));
    if (common.length === 0)
      return { authenticated: false, error: `token audiences ${claims.aud.join()} are invalid` };
    const groups = ['system:serviceaccounts', 'system:authenticated'];
    return { authenticated: true, audiences: common, user: { username: claims.sub, groups } };
  }

  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const { spec } = body as { readonly spec: Question };
      reviews.push(spec);
      (instead ?? sameStatus(statusOf(spec)))(response, spec);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    findApi: () => Promise.resolve({ server: `http://127.0.0.1:${port}`, token: 'control-plane' }),
    reviews,
    answer: (by) => (instead = by),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
