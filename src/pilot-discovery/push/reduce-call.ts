import type { Step } from '../../operators/reduce-with-effects.ts';
import type { Variant } from '../../shared/xds/messages.ts';
import type { AdsEvent } from './ads-event.ts';
import { answerSize } from './answer-size.ts';
import { clientLimits } from './client-limits.ts';
import { type ConfigStream, newConfigStream } from './config-stream.ts';
import { isConfigClient } from './config-view.ts';
import {
  type Answer,
  newProxyStream,
  type ProxyEffect,
  type ProxyEvent,
  type ProxyStream,
} from './proxy-stream.ts';
import { type ReaderEvent, reduceConfig } from './reduce-config.ts';
import { reduceProxy } from './reduce-proxy.ts';
import type { AnswerStep } from './write-answer.ts';

/** The stream of one client, and the answers that are not written yet, the oldest first. */
export interface CallState {
  /** The first request says whether the client is a proxy. */
  readonly proxy: ProxyStream;
  /** Undefined unless the client is another control plane. */
  readonly config: ConfigStream | undefined;
  readonly waiting: readonly Answer[];
}

/**
 * Why and how a stream ends. `status`: with a status. `quietly`: the same, but no event reports it,
 * since it is not the fault of the proxy. `at once`: without a status, which the proxy would not
 * read.
 */
export type CallFault =
  | { readonly how: 'status' | 'quietly'; readonly code: number; readonly reason: string }
  | { readonly how: 'at once'; readonly why: 'lies' | 'stuck'; readonly reason: string };

/**
 * An event of the stream of a proxy. `ads-event` and `ending` go to the server, and change nothing.
 */
export type CallEvent =
  | ProxyEvent
  | ReaderEvent
  | AnswerStep
  | { readonly type: 'fault'; readonly fault: CallFault }
  | { readonly type: 'ending'; readonly fault: CallFault }
  | { readonly type: 'ads-event'; readonly event: AdsEvent };

export type CallEffect =
  | Exclude<ProxyEffect, { readonly type: 'end' }>
  | { readonly type: 'fault'; readonly fault: CallFault };

/** https://grpc.io/docs/guides/status-codes/ */
export const statusCodes = {
  invalidArgument: 3,
  permissionDenied: 7,
  exhausted: 8,
  internal: 13,
  unavailable: 14,
};

const codes = { shape: statusCodes.invalidArgument, limit: statusCodes.exhausted };

/**
 * A client that ACKs answers that it has not read is not an Envoy. An Envoy has at most one unread
 * answer of each type. A few more may be on their way when the ACK arrives.
 */
const most = { answers: clientLimits.unreadAnswers.value, bytes: clientLimits.unreadBytes.value };

/** A stream before its first request. */
export const newCall = (variant: Variant): CallState => ({
  proxy: newProxyStream(variant),
  config: undefined,
  waiting: [],
});

/** Decides on the stream of one proxy, and keeps the answers that are not written yet. Pure. */
export function reduceCall(state: CallState, event: CallEvent): Step<CallState, CallEffect> {
  switch (event.type) {
    case 'turn':
    case 'untaken':
    case 'late':
    case 'ending':
    case 'ads-event':
      return [state, []];
    case 'taken':
      return [{ ...state, waiting: state.waiting.slice(1) }, []];
    case 'stuck': {
      const reason = `it has read nothing for ${clientLimits.reading.value / 1_000} s`;
      return [state, [{ type: 'fault', fault: { how: 'at once', why: 'stuck', reason } }]];
    }
    case 'fault':
      return [state, [event]];
    case 'config':
      return state.config === undefined ? [state, []] : configured(state, state.config, event);
    default: {
      const stream = configStreamOf(state, event);
      if (stream !== undefined)
        return event.type === 'request' ? configured(state, stream, event) : [state, []];
      const [proxy, effects] = reduceProxy(state.proxy, event);
      return answering({ ...state, proxy }, effects);
    }
  }
}

/** Returns the stream of another control plane; undefined if the client is a proxy. */
function configStreamOf({ proxy, config }: CallState, event: ProxyEvent): ConfigStream | undefined {
  if (config !== undefined || proxy.isKnown || event.type !== 'request') return config;
  const { node } = event.request;
  return node !== undefined && isConfigClient(node) ? newConfigStream(proxy.variant) : undefined;
}

function configured(
  state: CallState,
  before: ConfigStream,
  event: ReaderEvent,
): Step<CallState, CallEffect> {
  const [config, effects] = reduceConfig(before, event);
  return answering({ ...state, config }, effects);
}

function answering(state: CallState, effects: readonly ProxyEffect[]): Step<CallState, CallEffect> {
  return effects.reduce<Step<CallState, CallEffect>>(
    ([before, done], effect) => {
      if (effect.type === 'end') {
        const { fault, reason } = effect;
        const status = { how: 'status', code: codes[fault], reason } as const;
        return [before, [...done, { type: 'fault', fault: status }]];
      }
      if (effect.type !== 'answer') return [before, [...done, effect]];
      const waiting = [...before.waiting, effect.answer];
      const ackedCount = waiting.length - new Set(waiting.map(({ typeUrl }) => typeUrl)).size;
      if (ackedCount < most.answers || answerSize(waiting) <= most.bytes)
        return [{ ...before, waiting }, [...done, effect]];
      const reason = `it ACKs answers that it has not read: ${ackedCount} are unread`;
      return [before, [...done, { type: 'fault', fault: { how: 'at once', why: 'lies', reason } }]];
    },
    [state, []],
  );
}
