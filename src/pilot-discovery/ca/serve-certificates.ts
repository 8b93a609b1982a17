import { type sendUnaryData, type Server, type ServerUnaryCall, status } from '@grpc/grpc-js';
import { create } from '@bufbuild/protobuf';
import {
  catchError,
  defer,
  map,
  mergeMap,
  Observable,
  of,
  type SchedulerLike,
  withLatestFrom,
} from 'rxjs';
import { grpcDefinition } from '../../shared/grpc/grpc-definition.ts';
import {
  type IstioCertificateRequest,
  type IstioCertificateResponse,
  IstioCertificateResponseSchema,
  IstioCertificateService,
} from '../../shared/proto/istio/v1/auth/ca_pb.ts';
import { turnstiles } from '../../operators/turnstiles.ts';
import type { Budget } from '../identity/budgets.ts';
import { type Caller, spiffeOf } from '../identity/caller.ts';
import type { CallerOf } from '../identity/caller-of.ts';
import type { AuthorityState } from './authority-state.ts';
import { identityRates } from './identity-rates.ts';
import {
  issueCertificate,
  type IssuedCertificate,
  type IssueRefusal,
  type Lifetimes,
} from './issue-certificate.ts';

/** An answer to a request for a certificate. `address` is that of the client. */
export type CertificateEvent =
  | {
      readonly type: 'certificate-issued';
      readonly identity: string;
      readonly address: string;
      readonly serialNumber: string;
      /** In ms since 1970. */
      readonly notAfter: number;
    }
  | {
      readonly type: 'certificate-refused';
      readonly identity: string;
      readonly address: string;
      readonly kind: RefusalKind;
      readonly reason: string;
      /** The number of refusals that a line of the log covers; undefined for no line. */
      readonly logged: number | undefined;
    };

/**
 * `absent`: there is no authority. `rate`: the identity asks too often. `bug`: the reason is an
 * exception.
 */
export type RefusalKind = IssueRefusal['kind'] | 'absent' | 'rate' | 'bug';

export interface CertificateServiceOptions {
  /** Emits the state of the authority at once, on subscribe. */
  readonly authority$: Observable<AuthorityState>;
  readonly lifetimes: Lifetimes;
  /** How often one identity may ask. */
  readonly rate: Budget;
  readonly scheduler: SchedulerLike;
}

type Call = ServerUnaryCall<IstioCertificateRequest, IstioCertificateResponse>;
type Reply = sendUnaryData<IstioCertificateResponse>;

/**
 * The codes that istiod sends. istiod has no limit for an identity. Agents try again soon after
 * INTERNAL and RESOURCE_EXHAUSTED.
 */
const codes: Readonly<Record<RefusalKind, status>> = {
  request: status.INVALID_ARGUMENT,
  lifetime: status.INVALID_ARGUMENT,
  identity: status.PERMISSION_DENIED,
  authority: status.INTERNAL,
  absent: status.UNIMPLEMENTED,
  bug: status.INTERNAL,
  rate: status.RESOURCE_EXHAUSTED,
};
/** Reasons that a client gets instead: they say nothing about the files of the control plane. */
const forClients: Readonly<Partial<Record<RefusalKind, string>>> = {
  authority: 'the authority cannot sign now',
  bug: 'the control plane has failed',
};
/**
 * How many requests of one identity are handled at once. Its other requests wait, so that those of
 * other identities have their turn.
 */
const atOnce = 4;
/** Each refused request is logged: the rate limits how many there are. */
const always = 1;

/**
 * Adds Istio's certificate service to a gRPC server, and emits what it answers. Each identity may
 * ask `rate` times; a further request is refused before it is read. Cold, for one subscriber; never
 * completes, never errors.
 */
export function serveCertificates(
  server: Server,
  callerOf: CallerOf,
  { authority$, lifetimes, rate, scheduler }: CertificateServiceOptions,
): Observable<CertificateEvent> {
  return defer(() => {
    const count = identityRates(rate);
    const waiting = rate.burst;
    const full: Outcome = refused('rate', `${waiting} of its requests wait`);
    const inTurn = turnstiles<Outcome>({ running: atOnce, waiting }, of(full));
    const outcome$ = (caller: Caller, call: Call, state: AuthorityState): Observable<Outcome> => {
      const now = scheduler.now();
      const identity = spiffeOf(caller);
      const verdict = count(identity, now);
      if (verdict.type === 'too-many') {
        const reason = `it asks more than ${rate.perSecond} times a second`;
        return of({ ...refused('rate', reason), logged: verdict.unlogged });
      }
      if (state.type !== 'signs') return of(lackOf(state));
      return defer(() => issued(state, call.request, caller, lifetimes, now)).pipe(
        map((answer): Outcome =>
          answer.ok ? answer : refused(answer.refusal.kind, answer.refusal.reason),
        ),
        inTurn(identity),
      );
    };
    const answerTo$ = (call: Call, state: AuthorityState): Observable<Answered> => {
      const caller = callerOf(call);
      return outcome$(caller, call, state).pipe(map((outcome) => ({ ...outcome, caller })));
    };
    return calls(server).pipe(
      withLatestFrom(authority$),
      mergeMap(([[call, reply], state]) =>
        defer(() => answerTo$(call, state)).pipe(
          catchError((error: unknown) => of(bug(error))),
          map((answered) => replied(answered, call, reply)),
        ),
      ),
    );
  });
}

/** Emits the calls of the service. */
function calls(server: Server): Observable<readonly [Call, Reply]> {
  return new Observable((subscriber) => {
    server.addService(grpcDefinition(IstioCertificateService), {
      createCertificate: (call: Call, reply: Reply) => subscriber.next([call, reply]),
    });
  });
}

type Outcome = Extract<IssuedCertificate, { ok: true }> | Refused;
type Answered = Outcome & { readonly caller: Caller | undefined };

interface Refused {
  readonly ok: false;
  readonly kind: RefusalKind;
  readonly reason: string;
  readonly logged: number | undefined;
}

const refused = (kind: RefusalKind, reason: string): Refused => ({
  ok: false,
  kind,
  reason,
  logged: always,
});

const bug = (error: unknown): Answered => ({
  ...refused('bug', `this is a bug: ${String(error)}`),
  caller: undefined,
});

/** Returns why there is no authority. */
function lackOf(state: Exclude<AuthorityState, { readonly type: 'signs' }>): Refused {
  switch (state.type) {
    case 'absent':
      return refused('absent', 'this control plane has no certificate authority');
    case 'unread':
      return refused('authority', 'the authority has no key: it is being read');
    case 'refused':
      return refused('authority', `the authority has no key: ${state.flaw}`);
  }
}

function issued(
  { authority }: Extract<AuthorityState, { readonly type: 'signs' }>,
  { csr, validityDuration }: IstioCertificateRequest,
  caller: Caller,
  lifetimes: Lifetimes,
  now: number,
): Promise<IssuedCertificate> {
  const order = { csr, caller, validity: validityDuration };
  return issueCertificate(authority, order, lifetimes, now);
}

/** Sends the answer, and returns the event. */
function replied(answered: Answered, call: Call, reply: Reply): CertificateEvent {
  const address = call.getPeer();
  const identity = answered.caller === undefined ? '' : spiffeOf(answered.caller);
  if (answered.ok) {
    const { chain, serialNumber, notAfter } = answered;
    reply(null, create(IstioCertificateResponseSchema, { certChain: [...chain] }));
    return { type: 'certificate-issued', identity, address, serialNumber, notAfter };
  }
  const { kind, reason, logged } = answered;
  reply({ code: codes[kind], details: `no certificate is issued: ${forClients[kind] ?? reason}` });
  return { type: 'certificate-refused', identity, address, kind, reason, logged };
}
