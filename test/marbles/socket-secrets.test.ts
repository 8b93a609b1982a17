import { create, toBinary } from '@bufbuild/protobuf';
import { asyncScheduler, concat, defer, map, NEVER, type Observable, of, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { certificateAuthority } from '../../demo/certificates.ts';
import type {
  SecretServer,
  StreamSign,
} from '../../src/pilot-agent/secrets/workload-socket/secret-server.ts';
import {
  type IdentityEvent,
  socketSecrets,
} from '../../src/pilot-agent/secrets/workload-socket/socket-secrets.ts';
import type { SetReading } from '../../src/pilot-agent/secrets/secret.ts';
import { secretTypeUrl } from '../../src/pilot-agent/secrets/sds/sds-messages.ts';
import {
  type Secret,
  SecretSchema,
} from '../../src/shared/proto/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts';
import { DiscoveryResponseSchema } from '../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { at } from '../../src/testing/at.ts';
import { bundleOf, svidOf } from '../support/workload-socket.ts';
import { marbles } from '../support/marbles/marbles.ts';

const hour = 3_600_000;
const ca = await certificateAuthority();
const id = 'spiffe://mesh.example/ns/shop/sa/cart';
const validity = { notBefore: new Date(0), notAfter: new Date(2 * hour) };
const roots = bundleOf({ 'mesh.example': ca.rootCert });
const [first, second, renamed, early] = await Promise.all([
  svidOf(ca, id, validity),
  svidOf(ca, id, validity),
  svidOf(ca, `${id}2`, validity),
  svidOf(ca, id, { ...validity, notBefore: new Date(30_000) }),
]);

/** A message of a stream about the certificate or the roots; a string is the reason of its loss. */
type Sent = Secret | string;

/** Returns a server with the streams of `svid$` for the certificate, and with the roots at hand. */
function server(svid$: Observable<Sent>, roots$: Observable<Sent> = lasting(roots)): SecretServer {
  return {
    name: 'socket',
    follow: <T>(name: string, read: (answer: never) => unknown) =>
      (name === 'default' ? svid$ : roots$).pipe(
        map((sent) =>
          typeof sent === 'string'
            ? { type: 'lost', reason: sent }
            : { type: 'answered', answer: read(answerOf(sent) as never) },
        ),
      ) as unknown as Observable<StreamSign<T>>,
  };
}
const answerOf = (secret: Secret) =>
  create(DiscoveryResponseSchema, {
    resources: [{ typeUrl: secretTypeUrl, value: toBinary(SecretSchema, secret) }],
  });
/** Returns a stream that sends these secrets and then stays open. */
function lasting(...secrets: readonly Sent[]): Observable<Sent> {
  return concat(of(...secrets), NEVER);
}
function lost(): Observable<Sent> {
  return of('down');
}
/** Returns the streams of a server. Each subscription gets the next one; the last one repeats. */
function inTurn(...streams: readonly Observable<Sent>[]): Observable<Sent> {
  let turn = 0;
  return defer(() => streams[Math.min(turn++, streams.length - 1)] ?? NEVER);
}
function signs(from: SecretServer, trustDomain?: string): Observable<SetReading | IdentityEvent> {
  return socketSecrets(from, { trustDomain, random: () => 0.5 });
}
/**
 * Returns the letter of a sign: `a` asked, `i` identity, `c` changed identity, `n` no identity, `s`
 * whole set, `p` part of a set, `r` refused set.
 */
function drawn(sign: SetReading | IdentityEvent): string {
  switch (sign.type) {
    case 'socket-asked':
      return 'a';
    case 'identity-given':
      return sign.before === undefined ? 'i' : 'c';
    case 'identity-refused':
      return 'n';
    case 'set':
      return sign.refused === undefined ? 's' : 'p';
    case 'refused':
      return 'r';
  }
}
function draw(from: SecretServer, trustDomain?: string): Observable<string> {
  return signs(from, trustDomain).pipe(map(drawn));
}

describe('socketSecrets', () => {
  it(
    'makes one set of the certificate and the roots, 20 ms after the second of them',
    marbles((m) => {
      const late$ = timer(300).pipe(map(() => first.secret));
      const expected = at({ '0s': 'a', '320ms': 'is' });
      m.expectObservable(draw(server(concat(late$, NEVER))), '^ 1s !').toBe(expected);
    }),
  );

  it(
    'asks again 30 s after a certificate that is not valid yet, since the clock may have been wrong',
    marbles((m) => {
      const streams$ = inTurn(lasting(early.secret));
      const expected = at({ '0s': 'a', '20ms': 'np', '30120ms': 'is' });
      m.expectObservable(draw(server(streams$)), '^ 40s !').toBe(expected);
    }),
  );

  it(
    'asks again 100 ms after a lost stream, doubling up to 5 s, without an end',
    marbles((m) => {
      const askTimes: number[] = [];
      const counted$ = defer(() => (askTimes.push(asyncScheduler.now()), lost()));
      m.expectObservable(draw(server(counted$, counted$)), '^ 30s !');
      m.flush();
      const times = askTimes.filter((_, index) => index % 2 === 0);
      expect(times.slice(0, 9)).toEqual([0, 100, 300, 700, 1_500, 3_100, 6_300, 11_300, 16_300]);
    }),
  );

  it(
    'keeps what it gave while the server is away, and gives the next one 100 ms after its return',
    marbles((m) => {
      const short$ = concat(of<Sent>(first.secret), timer(10_000).pipe(map(() => 'down')));
      const from = server(inTurn(short$, lasting(second.secret)));
      const expected = at({ '0s': 'a', '20ms': 'is', '10.02s': 'p', '10.12s': 's' });
      m.expectObservable(draw(from), '^ 20s !').toBe(expected);
    }),
  );

  it(
    'asks a server that answers and closes at once less and less often',
    marbles((m) => {
      const askTimes: number[] = [];
      const counted$ = defer(() => (askTimes.push(asyncScheduler.now()), of(first.secret, 'down')));
      m.expectObservable(draw(server(counted$)), '^ 30s !');
      m.flush();
      expect(askTimes).toEqual([
        0, 100, 300, 700, 1_500, 3_100, 6_300, 11_300, 16_300, 21_300, 26_300,
      ]);
    }),
  );

  it(
    'counts a pause from the first loss after a stream that lasted 10 s since its answer',
    marbles((m) => {
      const after = (lasted: number) => {
        const askTimes: number[] = [];
        const lived$ = concat(
          timer(1_000).pipe(map((): Sent => first.secret)),
          timer(lasted).pipe(map((): Sent => 'down')),
        );
        const streams$ = inTurn(lost(), lost(), lived$, NEVER);
        const counted$ = defer(() => (askTimes.push(asyncScheduler.now()), streams$));
        m.expectObservable(draw(server(counted$)), '^ 14s !');
        return askTimes;
      };
      const [short, long] = [after(9_999), after(10_000)];
      m.flush();
      expect(short).toEqual([0, 100, 300, 300 + 1_000 + 9_999 + 400]);
      expect(long).toEqual([0, 100, 300, 300 + 1_000 + 10_000 + 100]);
    }),
  );

  it(
    'gives up a server that does not answer within 10 s, and not before',
    marbles((m) => {
      const expected = at({ '0s': 'a', '10.02s': 'np', '10.12s': 'is' });
      m.expectObservable(draw(server(inTurn(NEVER, lasting(first.secret)))), '^ 12s !').toBe(
        expected,
      );
      const late$ = timer(9_999).pipe(map((): Sent => first.secret));
      m.expectObservable(draw(server(concat(late$, NEVER))), '^ 30s !').toBe(
        at({ '0s': 'a', '10.019s': 'is' }),
      );
    }),
  );

  it(
    'asks again when a quarter of the life is left, and each time that half of the rest is over',
    marbles((m) => {
      const askTimes: number[] = [];
      const counted$ = defer(() => (askTimes.push(asyncScheduler.now()), lasting(first.secret)));
      m.expectObservable(draw(server(counted$)), '^ 121m !');
      m.flush();
      const left = askTimes.map((time) => Math.round((2 * hour - time) / 60_000));
      expect(left.slice(0, 5)).toEqual([120, 30, 15, 7, 4]);
      expect(askTimes.length).toBeLessThan(25);
    }),
  );

  it(
    'has no identity of another trust domain',
    marbles((m) => {
      const expected = at({ '0s': 'a', '20ms': 'nr' });
      m.expectObservable(draw(server(lasting(first.secret)), 'cluster.local'), '^ 20s !').toBe(
        expected,
      );
    }),
  );

  it(
    'says that the identity has changed, but not at each rotation',
    marbles((m) => {
      const rotated$ = timer(1_000).pipe(map((): Sent => second.secret));
      const renamed$ = timer(1_000).pipe(map((): Sent => renamed.secret));
      const from = server(concat(of<Sent>(first.secret), rotated$, renamed$, NEVER));
      const expected = at({ '0s': 'a', '20ms': 'is', '1.02s': 's', '2.02s': 'cs' });
      m.expectObservable(draw(from), '^ 5s !').toBe(expected);
    }),
  );

  it(
    'refuses roots that are not those of the trust domain of the certificate',
    marbles((m) => {
      const foreign = bundleOf({ 'other.example': ca.rootCert });
      const expected = at({ '0s': 'a', '20ms': 'ip' });
      m.expectObservable(draw(server(lasting(first.secret), lasting(foreign))), '^ 20s !').toBe(
        expected,
      );
    }),
  );
});
