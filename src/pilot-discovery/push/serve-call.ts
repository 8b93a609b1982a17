import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  filter,
  fromEvent,
  map,
  merge,
  mergeMap,
  type Observable,
  of,
  take,
  switchMap,
  takeUntil,
} from 'rxjs';
import { reduceWithEffects } from '../../operators/reduce-with-effects.ts';
import { ofType } from '../../operators/tagged-union.ts';
import type { Variant } from '../../shared/xds/messages.ts';
import { secretTypeUrl } from '../../shared/xds/secret-names.ts';
import type { AdsEvent } from './ads-event.ts';
import { callEvents, type CallSources } from './call-events.ts';
import type { CallSign } from './call-sign.ts';
import type { Begun, Call } from './first-request.ts';
import { waitLimits } from './wait-limits.ts';
import type { Answer } from './proxy-stream.ts';
import {
  type CallEffect,
  type CallEvent,
  type CallFault,
  type CallState,
  newCall,
  reduceCall,
  statusCodes,
} from './reduce-call.ts';
import { writeAnswer } from './write-answer.ts';

/** The inputs and effects of the stream of a proxy. */
export interface CallWorld extends CallSources {
  /** Closes the connection of a stream at once. */
  readonly cut: (call: Call) => void;
  readonly encode: (answer: Answer, variant: Variant) => Buffer;
}

type AdsEventSign = Extract<CallEvent, { readonly type: 'ads-event' }>;

/**
 * Serves one stream of a proxy, and completes when the stream is over. It writes one answer after
 * the other, each when the previous one has left. If something throws, the stream ends with an
 * error. Cold; never errors.
 */
export function serveCall(
  connection: number,
  begun: Begun,
  world: CallWorld,
): Observable<CallSign> {
  const { variant, call } = begun;
  const { scheduler, encode, secretsFor$, cut } = world;
  const over$ = merge(...['end', 'cancelled', 'error'].map((end) => fromEvent(call, end)));

  function carryOut(
    effect$: Observable<CallEffect>,
    event$: Observable<CallEvent>,
  ): Observable<CallEvent> {
    const answer$ = effect$.pipe(
      ofType('answer'),
      map(({ answer }) => answer),
    );
    const wait$ = effect$.pipe(
      filter((effect) => effect.type === 'unsent' || effect.type === 'answer'),
    );
    const secret$ = effect$.pipe(
      ofType('asked'),
      filter(({ typeUrl }) => typeUrl === secretTypeUrl),
      switchMap(({ names }) => secretsFor$(call, names)),
      map((sign): CallEvent =>
        sign.type === 'secrets'
          ? sign
          : adsEventSign({ ...sign, connection, address: call.getPeer() }),
      ),
    );
    return merge(
      secret$,
      waitLimits(event$.pipe(ofType('request')), wait$, scheduler),
      effect$.pipe(map((effect) => outcomeOf(connection, effect))),
      answer$.pipe(
        concatMap((answer) =>
          writeAnswer({ connection, variant, call }, answer, encode, scheduler),
        ),
      ),
    );
  }

  return concat(
    callEvents(connection, begun, world).pipe(
      reduceWithEffects<CallState, CallEvent, CallEffect>(newCall(variant), reduceCall, carryOut),
      mergeMap(({ event }) => signOf(connection, begun, event, { cut, now: scheduler.now() })),
      catchError((error: unknown) =>
        ended(begun, statusCodes.internal, `this is a bug: ${String(error)}`),
      ),
      takeUntil(over$.pipe(take(1))),
    ),
    defer(() => {
      call.end(); // the client may have ended its half only
      return of<CallSign>({ type: 'ads-event', event: { type: 'disconnected', connection } });
    }),
  );
}

/** Returns the event that reports an effect. A fault is reported when it ends the stream. */
function outcomeOf(connection: number, effect: CallEffect): CallEvent {
  switch (effect.type) {
    case 'fault':
      return { type: 'ending', fault: effect.fault };
    case 'answer':
      return adsEventSign(answered(connection, effect.answer));
    case 'rejected': {
      const { typeUrl, nonce, reason, blamed } = effect;
      const names = blamed.map(({ name }) => name);
      const keys = [...new Set(blamed.flatMap((resource) => resource.keys))];
      return adsEventSign({ type: 'rejected', connection, typeUrl, nonce, reason, names, keys });
    }
    default:
      return adsEventSign({ ...effect, connection });
  }
}

const adsEventSign = (event: AdsEvent): AdsEventSign => ({ type: 'ads-event', event });

function answered(connection: number, answer: Answer): AdsEvent {
  const { typeUrl, nonce, version, snapshot, resources } = answer;
  const count = resources.length;
  return { type: 'answered', connection, typeUrl, nonce, version, snapshot, resources: count };
}

/**
 * Returns the messages to the server about an event. The end of a stream is reported before it
 * ends.
 */
function signOf(
  connection: number,
  begun: Begun,
  event: CallEvent,
  { cut, now }: Pick<CallWorld, 'cut'> & { readonly now: number },
): Observable<CallSign> {
  switch (event.type) {
    case 'ads-event':
      return of(event);
    case 'turn':
    case 'taken':
      return of({ ...event, connection });
    case 'late':
      return of({ ...event, connection, since: now });
    case 'ending':
      return concat(refusalOf(connection, begun, event.fault), endedBy(begun, event.fault, cut));
    default:
      return EMPTY;
  }
}

function refusalOf(connection: number, { call }: Begun, fault: CallFault): Observable<CallSign> {
  if (fault.how === 'quietly') return EMPTY;
  const isStuck = fault.how === 'at once' && fault.why === 'stuck';
  const address = call.getPeer();
  const { reason } = fault;
  return of(
    adsEventSign({
      type: isStuck ? 'reads-nothing' : 'stream-refused',
      connection,
      address,
      reason,
    }),
  );
}

function endedBy(begun: Begun, fault: CallFault, cut: CallWorld['cut']): Observable<never> {
  return fault.how === 'at once'
    ? defer(() => {
        cut(begun.call); // a status would wait behind all answers
        return EMPTY;
      })
    : ended(begun, fault.code, fault.reason);
}

function ended({ call }: Begun, code: number, details: string): Observable<never> {
  return defer(() => {
    call.emit('error', { code, details });
    return EMPTY;
  });
}
