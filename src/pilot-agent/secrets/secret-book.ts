import { resolve } from 'node:path';
import {
  asyncScheduler,
  finalize,
  identity,
  merge,
  NEVER,
  type Observable,
  of,
  ReplaySubject,
  type SchedulerLike,
  share,
  Subject,
  tap,
  timer,
} from 'rxjs';
import { secretNameOf } from '../../shared/xds/secret-names.ts';
import type { SecretPaths } from './file-secrets.ts';
import { keepServed } from './keep-served.ts';
import { type CrlFile, withCrl } from './with-crl.ts';
import {
  absentSecret,
  type Secret,
  type SecretAnswer,
  type SecretState,
  type SetReading,
} from './secret.ts';

/** The set that holds a secret, and the part of it; or why no secret can have that name. */
export type SecretLookup =
  | { readonly ok: true; readonly kind: Secret['kind']; readonly set$: Observable<SetReading> }
  | { readonly ok: false; readonly reason: string };

/** All secrets, by name. */
export interface SecretBook {
  /**
   * Emits the states of a secret: the last one at once if there is one, then each that differs. Its
   * source is followed once for all subscribers, and for 30 s after the last one leaves. Never
   * errors.
   */
  get(name: string): Observable<SecretState>;
  /** Records the answer of an Envoy to a secret: a NACKed secret does not count as served. */
  answered(name: string, answer: SecretAnswer): void;
  /** Returns the last state of each followed secret. */
  states(): readonly SecretState[];
  /**
   * Emits each state of each secret; when a secret is no longer followed, a state without content.
   * Hot.
   */
  readonly changes$: Observable<SecretState>;
}

/** In ms. An Envoy that reconnects, or its next epoch, then gets the secret at once. */
const lingering = 30_000;

/** The limit of followed secrets: each has a watch, and the control plane chooses their names. */
const mostSecrets = 4_000;

/**
 * Makes a book that looks a name up by `find`, once each time that the secret begins to be
 * followed. After a value of `over$`, a secret is dropped as soon as its last subscriber leaves, so
 * that an ended agent does not keep its program alive. `over$` must replay that value.
 */
export function secretBook(
  find: (name: string) => SecretLookup,
  over$: Observable<unknown> = NEVER,
  scheduler: SchedulerLike = asyncScheduler,
): SecretBook {
  const followed = new Map<
    string,
    { readonly state$: Observable<SecretState>; readonly answers$: Subject<SecretAnswer> }
  >();
  const last = new Map<string, SecretState>();
  const changes$ = new Subject<SecretState>();

  function follow(
    name: string,
    { set$, kind }: Extract<SecretLookup, { ok: true }>,
    answer$: Observable<SecretAnswer>,
  ): Observable<SecretState> {
    return merge(set$, answer$).pipe(
      keepServed(name, kind),
      tap((state) => {
        last.set(name, state);
        changes$.next(state);
      }),
      finalize(() => {
        followed.delete(name);
        last.delete(name);
        changes$.next(absentSecret(name));
      }),
      share({
        connector: () => new ReplaySubject(1),
        resetOnRefCountZero: () => merge(timer(lingering, scheduler), over$),
      }),
    );
  }
  return {
    get(name) {
      const existing = followed.get(name);
      if (existing !== undefined) return existing.state$;
      if (followed.size >= mostSecrets) {
        const refused = `${mostSecrets} secrets are followed already, which is the limit`;
        return of(absentSecret(name, refused));
      }
      const lookup = find(name);
      if (!lookup.ok) return of(absentSecret(name, lookup.reason));
      const answers$ = new Subject<SecretAnswer>();
      const state$ = follow(name, lookup, answers$);
      followed.set(name, { state$, answers$ });
      return state$;
    },
    answered: (name, answer) => followed.get(name)?.answers$.next(answer),
    states: () => [...last.values()],
    changes$: changes$.asObservable(),
  };
}

/** The sources of secrets. */
export interface SecretSources {
  /** The set of `default` and `ROOTCA`. Shared. */
  readonly workload$: Observable<SetReading>;
  /** Emits the set in files. */
  files(paths: SecretPaths): Observable<SetReading>;
  /** The CRLs of the mesh. */
  readonly crl: CrlFile;
  /** Finds a gateway's secret; undefined for a name that no secret can have. */
  readonly gateway: (name: string) => SecretLookup | undefined;
}

/**
 * Finds a secret by its name: `default`, `ROOTCA`, `file-cert:<chain>~<key>`, `file-root:<path>`.
 * The names are those of the Go agent.
 */
export function findSecret({
  workload$,
  crl,
  ...sources
}: SecretSources): (name: string) => SecretLookup {
  const isSystem = (path: string) => /^\/(?:proc|sys)\//.test(resolve(path));
  const inFiles = (kind: 'pair' | 'roots', paths: SecretPaths): SecretLookup =>
    Object.values(paths).some(isSystem)
      ? { ok: false, reason: 'no secret is read from /proc or /sys' }
      : {
          ok: true,
          kind,
          set$: sources.files(paths).pipe(kind === 'roots' ? withCrl(crl, 'of others') : identity),
        };
  return (name) => {
    const secretName = secretNameOf(name);
    if (typeof secretName === 'string') return { ok: false, reason: secretName };
    switch (secretName.kind) {
      case 'certificate':
        return { ok: true, kind: 'pair', set$: workload$ };
      case 'roots':
        return { ok: true, kind: 'roots', set$: workload$ };
      case 'certificate-in-files':
        return inFiles('pair', { chain: secretName.chain, key: secretName.key, root: '' });
      case 'roots-in-file':
        return inFiles('roots', { chain: '', key: '', root: secretName.path });
      case 'other': {
        const reason =
          'there is no secret of this name: there are default, ROOTCA, file-cert:<certificate>~<key>, file-root:<path>';
        return sources.gateway(name) ?? { ok: false, reason };
      }
    }
  };
}
