import { resolve } from 'node:path';
import {
  asyncScheduler,
  finalize,
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
import {
  absentSecret,
  type Secret,
  type SecretAnswer,
  type SecretState,
  type SetReading,
} from './secret.ts';

/**
 * Where a secret is found: in which set, and as which part of it; or why there can be none of that
 * name.
 */
export type Found =
  | { readonly ok: true; readonly kind: Secret['kind']; readonly set$: Observable<SetReading> }
  | { readonly ok: false; readonly reason: string };

/** All secrets, by name. */
export interface SecretBook {
  /**
   * The states of a secret: the last one at once if there is one, then each that differs. However
   * many ask, its source is followed once, and 30 s beyond the last of them. Never errors.
   */
  get(name: string): Observable<SecretState>;
  /** Takes down what an Envoy has made of a secret: what it rejects does not count as served. */
  answered(name: string, answer: SecretAnswer): void;
  /** The last state of each secret that is followed. */
  states(): readonly SecretState[];
  /**
   * Each state of each secret as it comes; when it is no longer followed, one in which nothing is
   * known of it. Hot.
   */
  readonly changes$: Observable<SecretState>;
}

/** An Envoy that comes back, or its next epoch, finds the secret at hand. In ms. */
const lingering = 30_000;

/** Each is watched, and it is the control plane that names them to Envoy. */
const mostSecrets = 4_000;

/**
 * Looks names up by `find`, once for each time that a secret is followed. After a value of `over$`
 * no secret is followed beyond the last of those who ask: a program in which an agent has ended is
 * kept alive by nothing of it. Such a value has to be replayed.
 */
export function secretBook(
  find: (name: string) => Found,
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
    { set$, kind }: Extract<Found, { ok: true }>,
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
      const known = followed.get(name);
      if (known !== undefined) return known.state$;
      if (followed.size >= mostSecrets) {
        const refused = `${mostSecrets} secrets are followed already, which is the limit`;
        return of(absentSecret(name, refused));
      }
      const found = find(name);
      if (!found.ok) return of(absentSecret(name, found.reason));
      const answers$ = new Subject<SecretAnswer>();
      const state$ = follow(name, found, answers$);
      followed.set(name, { state$, answers$ });
      return state$;
    },
    answered: (name, answer) => followed.get(name)?.answers$.next(answer),
    states: () => [...last.values()],
    changes$: changes$.asObservable(),
  };
}

/** Where secrets come from. */
export interface SecretSources {
  /** The set that `default` and `ROOTCA` are of. Shared. */
  readonly workload$: Observable<SetReading>;
  /** The set in files. */
  files(paths: SecretPaths): Observable<SetReading>;
  /** Finds a gateway's secret; undefined for a name that can be none. */
  readonly gateway: (name: string) => Found | undefined;
}

/**
 * Finds a secret by its name: `default`, `ROOTCA`, `file-cert:<chain>~<key>`, `file-root:<path>`.
 * Names are those of the Go agent.
 */
export function findSecret({ workload$, ...sources }: SecretSources): (name: string) => Found {
  const isSystem = (path: string) => /^\/(?:proc|sys)\//.test(resolve(path));
  const inFiles = (kind: 'pair' | 'roots', paths: SecretPaths): Found =>
    Object.values(paths).some(isSystem)
      ? { ok: false, reason: 'no secret is read from /proc or /sys' }
      : { ok: true, kind, set$: sources.files(paths) };
  return (name) => {
    const asked = secretNameOf(name);
    if (typeof asked === 'string') return { ok: false, reason: asked };
    switch (asked.kind) {
      case 'certificate':
        return { ok: true, kind: 'pair', set$: workload$ };
      case 'roots':
        return { ok: true, kind: 'roots', set$: workload$ };
      case 'certificate-in-files':
        return inFiles('pair', { chain: asked.chain, key: asked.key, root: '' });
      case 'roots-in-file':
        return inFiles('roots', { chain: '', key: '', root: asked.path });
      case 'other': {
        const reason =
          'there is no secret of this name: there are default, ROOTCA, file-cert:<certificate>~<key>, file-root:<path>';
        return sources.gateway(name) ?? { ok: false, reason };
      }
    }
  };
}
