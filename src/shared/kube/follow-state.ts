// Why: docs/decisions/030-the-agent-lists-and-watches-kubernetes.md
import { backOff, jitter } from '../../operators/back-off.ts';
import { unreachable } from '../../operators/tagged-union.ts';
import type { Step } from '../../operators/reduce-with-effects.ts';
import type { KubeFailure } from './failure.ts';
import type { WatchSign } from './kube-api.ts';
import { asObject, type KubeObject } from './kube-object.ts';
import type { ListedObjects } from './list.ts';
import type { ResourceLookup, KubeResource } from './resource.ts';

/**
 * Why objects cannot be followed. `no-kind`: the API does not have the kind; its
 * CustomResourceDefinition may be missing. `no-answer`: the API cannot be reached. A number: the
 * HTTP status of its answer.
 */
export type FollowFailure = 'no-kind' | 'no-answer' | number;

/** An event about the followed objects. */
export type FollowSign =
  /** All existing objects: any other is gone. */
  | { readonly type: 'listed'; readonly objects: readonly KubeObject[] }
  | { readonly type: 'set' | 'removed'; readonly object: KubeObject }
  /** From now on each change is reported. */
  | { readonly type: 'current' }
  /**
   * The known objects may be old: the API is asked again after `delayMs`.
   */
  | {
      readonly type: 'lost';
      readonly cause: FollowFailure;
      readonly reason: string;
      readonly delayMs: number;
    };

export type FollowEvent =
  | { readonly type: 'begin' }
  | { readonly type: 'found'; readonly result: ResourceLookup; readonly random: number }
  | { readonly type: 'listed'; readonly listed: ListedObjects; readonly random: number }
  /** `lasted`: how long the watch has run, in ms. */
  | {
      readonly type: 'watched';
      readonly sign: WatchSign;
      readonly lasted: number;
      readonly random: number;
    };

/** The next question to the API, and the pause before it. In ms. */
export type FollowEffect = { readonly pause: number } & (
  | { readonly type: 'find' }
  | { readonly type: 'list'; readonly resource: KubeResource }
  | { readonly type: 'watch'; readonly resource: KubeResource; readonly version: string }
);

export interface FollowState {
  readonly resource: KubeResource | undefined;
  /** All changes up to this version are known; undefined if the objects must be listed. */
  readonly version: string | undefined;
  /** Consecutive failures. */
  readonly failures: number;
  /** The last watch sent nothing at all. */
  readonly isSilent: boolean;
  /** The API has forgotten the last version, and has sent nothing since. */
  readonly isForgotten: boolean;
  /** The signs of the last event. */
  readonly signs: readonly FollowSign[];
}

export const nothingFollowed: FollowState = {
  resource: undefined,
  version: undefined,
  failures: 0,
  isSilent: false,
  isForgotten: false,
  signs: [],
};

const pauses = { first: 1_000, longest: 30_000 };
const spread = 0.2;
/**
 * A watch that ends before `early` has failed. After a watch that lasted `steady`, the failures are
 * counted from 0. In ms.
 */
const early = 1_000;
const steady = 10_000;

/** HTTP's "Gone": the version is so old that the API has forgotten the changes since. */
const gone = 410;
const notFound = 404;

type Next = Step<FollowState, FollowEffect>;

/**
 * Decides what follows from an answer of the API: it finds the resource of the kind, then lists the
 * objects, and watches them from that version. After the end of a watch it continues from the last
 * version. If the API has forgotten that version, or sends nothing more, the objects are listed
 * again. Pure.
 */
export function reduceFollow(before: FollowState, event: FollowEvent): Next {
  const state = { ...before, signs: [] };
  switch (event.type) {
    case 'begin':
      return ask(state, 0);
    case 'found':
      return event.result.ok
        ? ask({ ...state, resource: event.result.value }, 0)
        : failed(state, event.result.failure, event.random);
    case 'listed': {
      const { listed, random } = event;
      if (!listed.ok) return failed(state, listed.failure, random);
      return ask(
        { ...state, version: listed.version, signs: [{ type: 'listed', objects: listed.objects }] },
        0,
      );
    }
    case 'watched':
      return watched(state, event);
    default:
      return unreachable(event);
  }
}

function watched(
  state: FollowState,
  { sign, lasted, random }: Extract<FollowEvent, { type: 'watched' }>,
): Next {
  switch (sign.type) {
    case 'opened':
      return [{ ...state, signs: [{ type: 'current' }] }, []];
    case 'event':
      return watchEvent(state, sign.value, random);
    case 'silent': // an API without changes may have no bookmarks to send
      return ask(
        {
          ...state,
          isSilent: !state.isSilent,
          version: state.isSilent ? undefined : state.version,
        },
        0,
      );
    case 'ended':
      if (lasted < early)
        return failed(
          { ...state, version: undefined },
          { reason: sign.reason, status: undefined, pause: 0 },
          random,
        );
      return ask(lasted < steady ? state : { ...state, failures: 0, isForgotten: false }, 0);
    case 'refused':
      return failed(state, sign.failure, random);
    default:
      return unreachable(sign);
  }
}

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes */
function watchEvent(state: FollowState, value: unknown, random: number): Next {
  const { type, object } = (value ?? {}) as { readonly type?: unknown; readonly object?: unknown };
  if (type === 'ERROR') {
    const { code, message } = (object ?? {}) as {
      readonly code?: unknown;
      readonly message?: unknown;
    };
    const status = typeof code === 'number' ? code : 500;
    const text = typeof message === 'string' ? message : 'an error without a message';
    return failed(
      state,
      { reason: `the watch says: ${text.slice(0, 200)}`, status, pause: 0 },
      random,
    );
  }
  const version = (
    object as { readonly metadata?: { readonly resourceVersion?: unknown } } | undefined
  )?.metadata?.resourceVersion;
  const next =
    typeof version === 'string'
      ? { ...state, version, failures: 0, isSilent: false, isForgotten: false }
      : state;
  const kubeObject = asObject(object);
  if (kubeObject === undefined || type === 'BOOKMARK') return [next, []];
  return [
    { ...next, signs: [{ type: type === 'DELETED' ? 'removed' : 'set', object: kubeObject }] },
    [],
  ];
}

/**
 * Lists the objects again: at once after the first report that a version is too old, otherwise
 * after a pause, which is reported. After a 404 it also looks for the kind again. It does not watch
 * from the last version: after an outage, the API may have the data of a backup, in which that
 * version does not exist yet, and such a watch would report nothing for a long time.
 */
function failed(before: FollowState, { reason, status, pause }: KubeFailure, random: number): Next {
  const failures = before.failures + 1;
  const state: FollowState = {
    ...before,
    failures,
    version: undefined, // the API may have another history now
    resource: status === notFound ? undefined : before.resource,
  };
  if (status === gone && !before.isForgotten) return ask({ ...state, isForgotten: true }, 0);
  const delayMs = Math.max(
    Math.round(jitter(backOff(pauses, before.failures), spread, random)),
    pause,
  );
  const isNoKind = status === notFound && before.resource === undefined;
  const cause = isNoKind ? 'no-kind' : (status ?? 'no-answer');
  return ask({ ...state, signs: [{ type: 'lost', cause, reason, delayMs }] }, delayMs);
}

function ask(state: FollowState, pause: number): Next {
  const { resource, version } = state;
  if (resource === undefined) return [state, [{ type: 'find', pause }]];
  return [
    state,
    [
      version === undefined
        ? { type: 'list', resource, pause }
        : { type: 'watch', resource, version, pause },
    ],
  ];
}
