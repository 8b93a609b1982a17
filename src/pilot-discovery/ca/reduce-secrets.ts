// Why: docs/decisions/105-the-api-decides-which-root-is-first.md
import { backOff, jitter } from '../../operators/back-off.ts';
import type { Step } from '../../operators/reduce-with-effects.ts';
import { unreachable } from '../../operators/tagged-union.ts';
import type { KubeFailure } from '../../shared/kube/failure.ts';
import type { KubeObject } from '../../shared/kube/kube-object.ts';
import type { AuthorityReading } from './authority-files.ts';
import type { AuthoritySecret, SecretContent } from './authority-secret.ts';

/** An event about the Secrets of an authority. `now`: ms since 1970. */
export type AuthoritySecretEvent = { readonly now: number } & (
  | {
      readonly type: 'content';
      readonly name: AuthoritySecret;
      readonly content: SecretContent | { readonly type: 'absent' };
    }
  /** The API does not answer, or refuses. */
  | {
      readonly type: 'lost';
      readonly name: AuthoritySecret;
      readonly cause: 'refused' | 'no-answer';
      readonly reason: string;
    }
  /** The answer to the creation of a root. */
  | {
      readonly type: 'created';
      readonly failure: KubeFailure | undefined;
      /** From 0 up to, but not including, 1. */
      readonly random: number;
    }
  /** Time has passed: an authority may have expired. */
  | { readonly type: 'passed' }
);

/** The next thing to do. It replaces the previous one. `pause`: ms. */
export type SecretsEffect =
  | { readonly type: 'rest' }
  | { readonly type: 'wait'; readonly pause: number }
  | {
      readonly type: 'read';
      readonly name: AuthoritySecret;
      readonly object: KubeObject;
      readonly pause: number;
    }
  | { readonly type: 'create'; readonly pause: number };

type SecretStatus = SecretContent | { readonly type: 'absent' | 'unlisted' };

export interface SecretsState {
  readonly contents: Readonly<Record<AuthoritySecret, SecretStatus>>;
  /** Why a Secret cannot be read now. */
  readonly troubles: Readonly<Partial<Record<AuthoritySecret, string | undefined>>>;
  /** Whether this program makes a root. `done` lasts until the API shows the root. */
  readonly making: 'not' | 'asked' | 'done';
  /** Consecutive failures to make a root, and the last reason. */
  readonly failures: number;
  readonly failure: string | undefined;
  /** When the newest authority ends, in ms since 1970; 0 if there was none. */
  readonly end: number;
  /** Undefined until something is known. */
  readonly reading: AuthorityReading | undefined;
}

export const nothingListed: SecretsState = {
  contents: { cacerts: { type: 'unlisted' }, 'istio-ca-secret': { type: 'unlisted' } },
  troubles: {},
  making: 'not',
  failures: 0,
  failure: undefined,
  end: 0,
  reading: undefined,
};

/**
 * The pauses after a failed creation of a root, and before a refused Secret is read again. In ms.
 */
const pauses = { first: 1_000, longest: 30_000 };
const spread = 0.2;
const refusedAgain = 10_000;
/** The status with which the API answers if another program has created the object. */
const conflict = 409;

/** Returns the name of a Secret for a person. Pure. */
const secretPlace = (namespace: string, name: AuthoritySecret): string =>
  `Secret/${namespace}/${name}`;

/**
 * Decides which authority is used: that in `cacerts`; if the API says that there is none, that in
 * `istio-ca-secret`; if there is none either, a root is made and created there. If several programs
 * do that at once, the API accepts one root, and all programs read it. No root is made before the
 * API has answered, nor while an authority is valid. Pure.
 */
export const reduceSecrets =
  (namespace: string) =>
  (before: SecretsState, event: AuthoritySecretEvent): Step<SecretsState, SecretsEffect> => {
    switch (event.type) {
      case 'content': {
        const { name, content } = event;
        const troubles = { ...before.troubles, [name]: undefined };
        const contents = { ...before.contents, [name]: content };
        const state = { ...before, contents, troubles, making: making(before, event) };
        return decide(state, namespace, event.now);
      }
      case 'lost': {
        const { name, cause, reason } = event;
        const isUnlisted = before.contents[name].type === 'unlisted';
        // If the API does not answer, nothing changes: the sources report it.
        if (!isUnlisted && cause === 'no-answer') return [before, []];
        const troubles = { ...before.troubles, [name]: reason };
        return decide({ ...before, troubles }, namespace, event.now);
      }
      case 'created': {
        const { failure, random } = event;
        if (failure === undefined || failure.status === conflict)
          return [{ ...before, making: 'done', failures: 0, failure: undefined }, []];
        const failures = before.failures + 1;
        const state = { ...before, making: 'not' as const, failures, failure: failure.reason };
        const pause = jitter(backOff(pauses, before.failures), spread, random);
        return decide(state, namespace, event.now, Math.max(Math.round(pause), failure.pause));
      }
      case 'passed':
        return decide(before, namespace, event.now);
      default:
        return unreachable(event);
    }
  };

/** If the Secret is gone again, a root may be made again. */
function making(
  { making: before }: SecretsState,
  { name, content }: Extract<AuthoritySecretEvent, { readonly type: 'content' }>,
): SecretsState['making'] {
  return name === 'istio-ca-secret' && (content.type !== 'absent' || before === 'done')
    ? 'not'
    : before;
}

function decide(
  state: SecretsState,
  namespace: string,
  now: number,
  pause = 0,
): Step<SecretsState, SecretsEffect> {
  const name = state.contents.cacerts.type === 'absent' ? 'istio-ca-secret' : 'cacerts';
  const content = state.contents[name];
  const path = secretPlace(namespace, name);
  const trouble = state.troubles[name];
  const isAsked = state.making === 'asked';
  const next = { ...state, making: isAsked ? ('not' as const) : state.making };
  const refused = (reason: string): AuthorityReading => ({ type: 'refused', reason });
  switch (content.type) {
    case 'unlisted':
      return trouble === undefined
        ? [next, [{ type: 'rest' }]]
        : [{ ...next, reading: refused(`${path}: ${trouble}`) }, [{ type: 'rest' }]];
    case 'refused': {
      const { object, reason } = content;
      const again = { type: 'read', name, object, pause: refusedAgain } as const;
      return [{ ...next, reading: refused(`${path}: ${reason}`) }, [again]];
    }
    case 'authority': {
      const { authority, crl } = content;
      const end = authority.notAfter;
      if (now >= end) {
        const expired = `a certificate of the chain has expired at ${new Date(end).toISOString()}`;
        return [{ ...next, end, reading: refused(`${path}: ${expired}`) }, [{ type: 'rest' }]];
      }
      const reading: AuthorityReading =
        trouble === undefined
          ? { type: 'authority', path, authority, crl }
          : refused(`${path}: ${trouble}`);
      return [{ ...next, end, reading }, [{ type: 'wait', pause: end - now }]];
    }
    case 'absent':
      return withoutSecrets(state, namespace, now, pause);
    default:
      return unreachable(content);
  }
}

/** Decides what to do if neither Secret exists. */
function withoutSecrets(
  state: SecretsState,
  namespace: string,
  now: number,
  pause: number,
): Step<SecretsState, SecretsEffect> {
  const [cacerts, root] = [
    secretPlace(namespace, 'cacerts'),
    secretPlace(namespace, 'istio-ca-secret'),
  ];
  if (now < state.end) {
    const reason = `${cacerts} and ${root} are gone`;
    const next = { ...state, making: 'not' as const };
    return [
      { ...next, reading: { type: 'refused', reason } },
      [{ type: 'wait', pause: state.end - now }],
    ];
  }
  const reading: AuthorityReading | undefined =
    state.failure === undefined
      ? state.reading
      : { type: 'refused', reason: `${root} cannot be made: ${state.failure}` };
  return state.making === 'not'
    ? [{ ...state, making: 'asked', reading }, [{ type: 'create', pause }]]
    : [{ ...state, reading }, []];
}
