// Why: docs/decisions/113-one-instance-writes-the-status.md
import { backOff } from '../../operators/back-off.ts';
import type { Step } from '../../operators/reduce-with-effects.ts';
import { unreachable } from '../../operators/tagged-union.ts';
import type { KubeFailure } from '../../shared/kube/failure.ts';
import { SortedMap } from '../../shared/maps/sorted-map.ts';
import type { Kind, ResourceKey } from '../istio/documents/model.ts';
import type { ValidationMessage } from './validation-messages.ts';

/** The parts of an object that its status depends on. */
export interface StatusObject {
  readonly version: string;
  /** The path of its status in the API. */
  readonly path: string;
  readonly generation: number;
  /** `observedGeneration` and `validationMessages` of its status, JSON. */
  readonly status: string;
}

export type StatusesEvent =
  /** The objects of a kind: all of them, or those that changed. Undefined for a removed one. */
  | {
      readonly type: 'objects';
      readonly kind: Kind;
      readonly scope: 'all' | 'changed';
      readonly objects: ReadonlyMap<ResourceKey, StatusObject | undefined>;
      /** In ms since 1970. */
      readonly now: number;
    }
  /** The messages that the status of each resource must have. Others get no status. */
  | {
      readonly type: 'analyzed';
      readonly messages: ReadonlyMap<ResourceKey, readonly ValidationMessage[]>;
      readonly now: number;
    }
  | { readonly type: 'written'; readonly failure: KubeFailure | undefined }
  /** It is time for the next write. */
  | { readonly type: 'due' };

export type StatusesEffect =
  | { readonly type: 'write'; readonly path: string; readonly body: string }
  | { readonly type: 'wait'; readonly pause: number };

export type StatusesNews =
  /** The API refuses to change the status of a kind. The program tries again. */
  | { readonly type: 'refused'; readonly reason: string }
  /** Another program changes this status again and again: it is left alone. */
  | { readonly type: 'contested'; readonly key: ResourceKey };

export interface StatusesState {
  readonly objects: SortedMap<KnownObject>;
  readonly messages: ReadonlyMap<ResourceKey, readonly ValidationMessage[]>;
  /** The resources whose status is written next, in order. */
  readonly pending: readonly ResourceKey[];
  /** `waiting`: until the pause before the next write is over. */
  readonly turn: 'free' | 'waiting' | Write;
  /** The last status that was written of each object. */
  readonly written: SortedMap<Writing>;
  /** Consecutive writes without a useful answer. */
  readonly failures: number;
  /** The kinds whose refusal was reported. */
  readonly refused: ReadonlySet<string>;
  /** The news of the last event. */
  readonly news: readonly StatusesNews[];
}

interface Write {
  readonly key: ResourceKey;
  readonly status: string;
}

interface Writing {
  readonly status: string;
  /** How often it was written. `contested`: it is left alone. */
  readonly times: number | 'contested';
}

interface KnownObject extends StatusObject {
  /** When its generation changed last, in ms since 1970. */
  readonly changedAt: number;
}

export const nothingWritten: StatusesState = {
  objects: SortedMap.empty(),
  messages: new Map(),
  pending: [],
  turn: 'free',
  written: SortedMap.empty(),
  failures: 0,
  refused: new Set(),
  news: [],
};

/** In ms. */
export const statusPauses = {
  /** Between two writes: five writes a second at most. */
  apart: 200,
  /** The analysis may lack a change that the API reported within this time. */
  analysisLag: 1_000,
  /** After a write that the API was too busy for, or did not answer. */
  failed: { first: 1_000, longest: 60_000 },
} as const;

/** A status that another program changes is repaired this often, and then not written again. */
const mostRepairs = 3;

type Next = Step<StatusesState, StatusesEffect>;

/**
 * Decides which statuses are written: those that differ from the analysis, one after another. Only
 * an analysis starts writes. So the writes of this instance, which the API reports too, start none.
 * A status that another program changes back is repaired a few times, and then left alone until its
 * text differs. Pure.
 */
export function reduceStatuses(before: StatusesState, event: StatusesEvent): Next {
  const state: StatusesState = { ...before, news: [] };
  switch (event.type) {
    case 'objects':
      return [withObjects(state, event), []];
    case 'analyzed': {
      const analyzed = afterAnalysis(state, event);
      return state.turn === 'free' ? next(analyzed) : [analyzed, []];
    }
    case 'written':
      return typeof state.turn === 'string'
        ? [state, []]
        : afterWriting({ ...state, turn: 'free' }, state.turn, event.failure);
    case 'due':
      return state.turn === 'waiting' ? next({ ...state, turn: 'free' }) : [state, []];
    default:
      return unreachable(event);
  }
}

/**
 * Makes the resources pending whose status differs from the analysis. A resource that was changed a
 * moment ago waits for the next analysis, because this one may lack the change.
 */
function afterAnalysis(
  state: StatusesState,
  { messages, now }: Extract<StatusesEvent, { readonly type: 'analyzed' }>,
): StatusesState {
  const differing = [...messages].flatMap(([key, ofResource]) => {
    const object = state.objects.get(key);
    if (object === undefined) return [];
    const isNew = Math.abs(now - object.changedAt) < statusPauses.analysisLag; // the clock may be set back
    if (isNew) return [];
    const status = statusText(object.generation, ofResource);
    if (object.status === status) return [];
    const before = state.written.get(key);
    return [{ key, status, times: before?.status === status ? before.times : 0 }];
  });
  const contested = differing.filter(
    ({ times }) => typeof times === 'number' && times > mostRepairs,
  );
  return {
    ...state,
    messages,
    pending: differing.flatMap(({ key, times }) =>
      typeof times === 'number' && times <= mostRepairs ? [key] : [],
    ),
    written: state.written.with(
      contested.map(({ key, status }) => [key, { status, times: 'contested' }]),
    ),
    news: contested.map(({ key }) => ({ type: 'contested', key })),
  };
}

/** Writes the first pending status that still differs. */
function next(state: StatusesState): Next {
  for (const [index, key] of state.pending.entries()) {
    const object = state.objects.get(key);
    const messages = state.messages.get(key) ?? [];
    const status = object && statusText(object.generation, messages);
    if (object === undefined || status === undefined || object.status === status) continue;
    const body = JSON.stringify({
      metadata: { resourceVersion: object.version },
      status: {
        observedGeneration: String(object.generation),
        validationMessages: messages.length === 0 ? null : messages,
      },
    });
    return [
      { ...state, pending: state.pending.slice(index + 1), turn: { key, status } },
      [{ type: 'write', path: object.path, body }],
    ];
  }
  return [{ ...state, pending: [] }, []];
}

/**
 * If the object was changed or removed meanwhile, it waits for the next analysis. If a right is
 * missing, the other objects of the kind wait for that too. After any other failure all objects
 * wait, longer and longer.
 */
function afterWriting(
  state: StatusesState,
  { key, status }: Write,
  failure: KubeFailure | undefined,
): Next {
  const [kind = ''] = key.split('/');
  const answered = { ...state, failures: 0 };
  if (failure === undefined) {
    const before = state.written.get(key);
    const times = before?.status === status && before.times !== 'contested' ? before.times + 1 : 1;
    const refused = new Set([...state.refused].filter((other) => other !== kind));
    const written = state.written.with([[key, { status, times }]]);
    return paused({ ...answered, written, refused }, statusPauses.apart);
  }
  if (failure.status === 401 || failure.status === 403) {
    const news: StatusesState['news'] = state.refused.has(kind)
      ? []
      : [{ type: 'refused', reason: failure.reason }];
    const pending = state.pending.filter((other) => !other.startsWith(`${kind}/`));
    const refused = new Set(state.refused).add(kind);
    return paused({ ...answered, pending, refused, news }, statusPauses.apart);
  }
  if (failure.status === 404 || failure.status === 409 || failure.status === 422)
    return paused(answered, statusPauses.apart);
  const pause = Math.max(failure.pause, backOff(statusPauses.failed, state.failures));
  return paused({ ...state, failures: state.failures + 1 }, pause);
}

const paused = (state: StatusesState, pause: number): Next => [
  { ...state, turn: 'waiting' },
  [{ type: 'wait', pause }],
];

function withObjects(
  state: StatusesState,
  { kind, scope, objects: changed, now }: Extract<StatusesEvent, { readonly type: 'objects' }>,
): StatusesState {
  const vanished =
    scope === 'changed'
      ? []
      : [...state.objects.withPrefix(`${kind}/`)].flatMap(([key]) =>
          changed.has(key) ? [] : [[key, undefined] as const],
        );
  const set = [...changed].map(([key, object]) => {
    const before = state.objects.get(key);
    const isSame = before !== undefined && before.generation === object?.generation;
    return [key, object && { ...object, changedAt: isSame ? before.changedAt : now }] as const;
  });
  const edits = [...vanished, ...set];
  const removed = edits.flatMap(([key, object]) =>
    object === undefined ? [[key, undefined] as const] : [],
  );
  return { ...state, objects: state.objects.with(edits), written: state.written.with(removed) };
}

/** Returns the parts of a status that are written, in the form of {@link StatusObject}. Pure. */
export const statusText = (generation: number, messages: readonly ValidationMessage[]): string =>
  JSON.stringify([String(generation), messages]);
