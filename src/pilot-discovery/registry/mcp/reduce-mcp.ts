import type { Step } from '../../../operators/reduce-with-effects.ts';
import type { FollowSign } from '../../../shared/kube/follow-state.ts';
import type { Ask } from '../../../shared/xds/messages.ts';
import { wildcard } from '../../../shared/xds/resources.ts';
import { configKinds, configTypeUrl, type ConfigKind } from '../../mcp/config-types.ts';
import type { SentObjects } from './read-answer.ts';

/** An event of one connection to a server. */
export type McpEvent =
  | { readonly type: 'opened' | 'connected' | 'foreign' }
  | { readonly type: 'unanswered' | 'lost'; readonly reason: string }
  /** All resources of a kind. */
  | {
      readonly type: 'read';
      readonly kind: ConfigKind;
      readonly answer: AnswerName;
      readonly objects: SentObjects;
    }
  /** The answer does not show which resources of a kind exist. */
  | {
      readonly type: 'unreadable';
      readonly kind: ConfigKind;
      readonly answer: AnswerName;
      readonly reason: string;
    };

interface AnswerName {
  readonly version: string;
  readonly nonce: string;
}

/** The progress of one connection. */
export interface McpState {
  /** The newest version of each kind that was ACKed, on this connection or on one before. */
  readonly versions: ReadonlyMap<ConfigKind, string>;
  /** The kinds that were not requested yet. */
  readonly later: readonly ConfigKind[];
}

/**
 * Returns the state before a connection. With `Sidecars first`, other kinds are requested after the
 * first answer, because the Sidecars name the namespaces that are needed.
 */
export const newMcp = (
  versions: McpState['versions'],
  order: 'all at once' | 'Sidecars first',
): McpState => ({
  versions,
  later: order === 'all at once' ? [] : configKinds.filter((kind) => kind !== 'Sidecar'),
});

/** A request to send. The first one of a connection has the node. */
export interface McpAsk {
  readonly type: 'ask';
  readonly ask: Ask;
  readonly place: 'first' | 'later';
}

/** Decides what is requested: each kind, then an ACK or a NACK of each answer. Pure. */
export function reduceMcp(state: McpState, event: McpEvent): Step<McpState, McpAsk> {
  switch (event.type) {
    case 'opened':
      return [
        state,
        configKinds
          .filter((kind) => !state.later.includes(kind))
          .map((kind, index) => firstAsk(state, kind, index === 0 ? 'first' : 'later')),
      ];
    case 'read': {
      const { kind, answer } = event;
      const ask = askOf(kind, answer);
      const versions = new Map(state.versions).set(kind, answer.version);
      return [
        { versions, later: [] },
        [
          { type: 'ask', ask, place: 'later' },
          ...state.later.map((other) => firstAsk(state, other, 'later')),
        ],
      ];
    }
    case 'unreadable': {
      const { kind, answer, reason } = event;
      const version = state.versions.get(kind) ?? '';
      const refusal = { code: invalid, message: reason };
      const ask = { ...askOf(kind, { nonce: answer.nonce, version }), refusal };
      return [state, [{ type: 'ask', ask, place: 'later' }]];
    }
    case 'connected':
    case 'foreign':
    case 'unanswered':
    case 'lost':
      return [state, []];
  }
}

/**
 * Returns the first request for a kind, with the version that was ACKed last: so a server that is
 * still empty does not take the known resources away.
 */
const firstAsk = ({ versions }: McpState, kind: ConfigKind, place: McpAsk['place']): McpAsk => ({
  type: 'ask',
  ask: askOf(kind, { nonce: '', version: versions.get(kind) ?? '' }),
  place,
});

/** INVALID_ARGUMENT: https://grpc.io/docs/guides/status-codes/ */
const invalid = 3;

const askOf = (kind: ConfigKind, { nonce, version }: AnswerName): Ask => ({
  typeUrl: configTypeUrl(kind),
  nonce,
  version,
  refusal: undefined,
  names: new Set([wildcard]),
  add: [],
  remove: [],
  versions: {},
});

/** A sign about the objects of one kind. */
export interface McpSign {
  readonly kind: ConfigKind;
  readonly sign: FollowSign;
}

/** Returns what an event says about the objects of each kind. Pure. */
export function signsOf(event: McpEvent): readonly McpSign[] {
  switch (event.type) {
    case 'read': {
      const { kind, objects } = event;
      return [
        { kind, sign: { type: 'listed', objects: [...objects.values()] } },
        { kind, sign: { type: 'current' } },
      ];
    }
    case 'unreadable':
      return [
        {
          kind: event.kind,
          sign: lost(`its answer about ${event.kind} is refused: ${event.reason}`),
        },
      ];
    case 'unanswered':
      return lostSigns(event.reason, 0);
    default:
      return [];
  }
}

/** Returns the signs that no kind can be followed now. Pure. */
export const lostSigns = (reason: string, delayMs: number): readonly McpSign[] =>
  configKinds.map((kind) => ({ kind, sign: lost(reason, delayMs) }));

const lost = (reason: string, delayMs = 0): FollowSign => ({
  type: 'lost',
  cause: 'no-answer',
  reason,
  delayMs,
});
