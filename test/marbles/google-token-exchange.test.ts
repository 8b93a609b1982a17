import {
  asyncScheduler,
  concat,
  concatMap,
  defer,
  map,
  NEVER,
  type Observable,
  of,
  type SchedulerLike,
  timer,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { HttpAnswer, HttpQuestion } from '../../src/shared/http/http-answer.ts';
import type { Settled } from '../../src/operators/settle.ts';
import {
  googleTokenExchange,
  type GoogleTokenExchangeOptions,
} from '../../src/pilot-agent/sts/google-token-exchange.ts';
import type { Exchanged } from '../../src/pilot-agent/sts/token-exchange.ts';
import { marbles } from '../support/marbles/marbles.ts';

type Answer = Observable<Settled<Pick<HttpAnswer, 'status' | 'body'>>>;
function answerOf(status: number, body: object = {}): Answer {
  return of({ ok: true, value: { status, body: JSON.stringify(body) } });
}
const federated$ = answerOf(200, { access_token: 'federated', expires_in: 3600 });
function access(expireTime: number): Answer {
  return answerOf(200, { accessToken: 'access', expireTime: new Date(expireTime).toISOString() });
}
const request = { subjectToken: 'jwt', scope: '' };

/** Returns an exchange with a Google that has one answer for each step, and its requests. */
function google(first$: Answer, second$: Answer, scheduler: SchedulerLike = asyncScheduler) {
  const requests: {
    readonly step: 'f' | 'a';
    readonly url: string;
    readonly question: HttpQuestion;
  }[] = [];
  const options: GoogleTokenExchangeOptions = {
    projectNumber: '123',
    trustDomain: 'mesh.com',
    clusterUrl: 'https://cluster',
    ask: (url, question) =>
      defer(() => {
        const step = url.includes('identitybindingtoken') ? 'f' : 'a';
        requests.push({ step, url, question });
        return step === 'f' ? first$ : second$;
      }),
  };
  const exchange = googleTokenExchange(options, scheduler);
  return { requests, exchange, steps: () => requests.map(({ step }) => step).join('') };
}
const token: Exchanged = { ok: true, accessToken: 'access', expiresIn: 3600 };

describe('googleTokenExchange', () => {
  it(
    'gets a federated token, and for that an access token, and tells of both',
    marbles((m) => {
      const { requests, exchange } = google(federated$, access(3_600_000));
      m.expectObservable(exchange.exchange(request)).toBe('(t|)', { t: token });
      m.flush();
      expect(requests.map(({ url }) => url)).toEqual([
        'https://securetoken.googleapis.com/v1/identitybindingtoken',
        'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/service-123@gcp-sa-meshdataplane.iam.gserviceaccount.com:generateAccessToken',
      ]);
      const [first] = requests;
      expect(first?.question.body).toBeTypeOf('string');
      expect(JSON.parse(String(first?.question.body))).toEqual({
        audience: 'identitynamespace:mesh.com:https://cluster',
        grantType: 'urn:ietf:params:oauth:grant-type:token-exchange',
        requestedTokenType: 'urn:ietf:params:oauth:token-type:access_token',
        subjectTokenType: 'urn:ietf:params:oauth:token-type:jwt',
        subjectToken: 'jwt',
        scope: 'https://www.googleapis.com/auth/cloud-platform',
      });
      expect(requests[1]?.question.headers).toMatchObject({ authorization: 'Bearer federated' });
      expect(exchange.dump()).toEqual({
        ok: true,
        tokens: [
          { type: 'federated token', issued: 0, expires: 3_600_000 },
          { type: 'access token', issued: 0, expires: 3_600_000 },
        ],
      });
    }),
  );

  it(
    'a refusal of the federated token is the end, and is told',
    marbles((m) => {
      const { exchange, steps } = google(answerOf(403), federated$);
      const failed = { ok: false, reason: 'failed to exchange federated token: the answer is 403' };
      m.expectObservable(exchange.exchange(request)).toBe('(t|)', { t: failed });
      m.flush();
      expect(steps()).toBe('f');
    }),
  );

  it(
    'a refusal of the access token is told; the federated token was got',
    marbles((m) => {
      const { exchange } = google(federated$, answerOf(404));
      const failed = { ok: false, reason: 'failed to exchange access token: the answer is 404' };
      m.expectObservable(exchange.exchange(request)).toBe('(t|)', { t: failed });
      m.flush();
      expect(exchange.dump()).toMatchObject({ tokens: [{ type: 'federated token' }] });
    }),
  );

  it(
    'asks nobody until 5 minutes before the end, and of a token with less than that each time',
    marbles((m) => {
      let expires = 3_600_000;
      const { exchange, steps } = google(
        federated$,
        defer(() => access(expires)),
      );
      const times$ = concat(
        of(0),
        timer(3_299_998).pipe(map(() => 1)),
        timer(2).pipe(map(() => 2)),
        of(3),
      );
      const asks$ = times$.pipe(
        concatMap((time) => {
          if (time === 2) expires = 3_300_000 + 240_000;
          return exchange.exchange(request);
        }),
        map((exchanged) => (exchanged.ok ? exchanged.expiresIn : exchanged.reason)),
      );
      const expected = 'a 3299997ms b - (cc|)';
      m.expectObservable(asks$).toBe(expected, { a: 3600, b: 300, c: 240 });
      m.flush();
      expect(steps()).toBe('fa' + 'fa' + 'fa');
    }),
  );

  it(
    'gets another token if the clock has been set back, because the end of the first is not known',
    marbles((m) => {
      const setBack = () => (asyncScheduler.now() > 1_000 ? 3_600_000 : 0);
      const scheduler = {
        now: () => asyncScheduler.now() - setBack(),
        schedule: asyncScheduler.schedule.bind(asyncScheduler),
      };
      const { exchange, steps } = google(federated$, access(3_600_000), scheduler);
      const asks$ = concat(exchange.exchange(request), timer(2_000), exchange.exchange(request));
      m.expectObservable(asks$.pipe(map(() => 'x'))).toBe('x 1999ms (xx|)');
      m.flush();
      expect(steps()).toBe('fa' + 'fa');
    }),
  );

  it(
    'a failure is tried again 4 times, 10 ms apart, each time with the whole request',
    marbles((m) => {
      const { exchange, requests } = google(answerOf(503), federated$);
      const failed = { ok: false, reason: 'failed to exchange federated token: the answer is 503' };
      m.expectObservable(exchange.exchange(request)).toBe('40ms (t|)', { t: failed });
      m.flush();
      expect(new Set(requests.map(({ question }) => question.body))).toEqual(
        new Set([requests[0]?.question.body]),
      );
      expect(requests).toHaveLength(5);
    }),
  );

  it(
    'what does not answer within 5 s has failed',
    marbles((m) => {
      let answers = 0;
      const { exchange } = google(
        defer(() => (answers++ === 0 ? NEVER : federated$)),
        access(3_605_010),
      );
      m.expectObservable(exchange.exchange(request)).toBe('5010ms (t|)', { t: token });
    }),
  );

  it(
    'an answer without a token is none, and one without a time is good for an hour',
    marbles((m) => {
      const none = google(answerOf(200, { token: 'x' }), federated$).exchange;
      m.expectObservable(none.exchange(request)).toBe('(t|)', {
        t: { ok: false, reason: 'failed to exchange federated token: the answer has no token' },
      });
      const timeless = google(
        federated$,
        answerOf(200, { accessToken: 'access', expireTime: 'soon' }),
      ).exchange;
      m.expectObservable(timeless.exchange(request)).toBe('(t|)', { t: token });
    }),
  );
});
