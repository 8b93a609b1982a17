import { resolve } from 'node:path';
import { asyncScheduler, finalize, type Observable, of, ReplaySubject, type SchedulerLike, share, Subject, tap, timer } from 'rxjs';
import type { SecretPaths } from './file-secrets.ts';
import { keepServed } from './keep-served.ts';
import type { Secret, SecretState, SetReading } from './secret.ts';

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

/** Looks names up by `find`, once for each time that a secret is followed. */
export function secretBook(find: (name: string) => Found, scheduler: SchedulerLike = asyncScheduler): SecretBook {
  const followed = new Map<string, Observable<SecretState>>();
  const last = new Map<string, SecretState>();
  const changes$ = new Subject<SecretState>();

  function follow(name: string, set$: Observable<SetReading>, kind: Secret['kind']): Observable<SecretState> {
    return set$.pipe(
      keepServed(name, kind),
      tap((state) => {
        last.set(name, state);
        changes$.next(state);
      }),
      finalize(() => {
        followed.delete(name);
        last.delete(name);
        changes$.next({ name, source: '', served: undefined, refused: undefined });
      }),
      share({ connector: () => new ReplaySubject(1), resetOnRefCountZero: () => timer(lingering, scheduler) }),
    );
  }
  return {
    get(name) {
      const known$ = followed.get(name);
      if (known$ !== undefined) return known$;
      if (followed.size >= mostSecrets) {
        const refused = `${mostSecrets} secrets are followed already, which is the limit`;
        return of({ name, source: '', served: undefined, refused });
      }
      const found = find(name);
      if (!found.ok) return of({ name, source: '', served: undefined, refused: found.reason });
      const state$ = follow(name, found.set$, found.kind);
      followed.set(name, state$);
      return state$;
    },
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
  return (name) => {
    if (name === 'default') return { ok: true, kind: 'pair', set$: workload$ };
    if (name === 'ROOTCA') return { ok: true, kind: 'roots', set$: workload$ };
    const [, kind, paths = ''] = /^(file-cert|file-root):(.+)$/s.exec(name) ?? [];
    const [first = '', second = '', ...others] = paths.split('~');
    if ([first, second].some(isSystem)) return { ok: false, reason: 'no secret is read from /proc or /sys' };
    if (kind === 'file-cert') {
      if (first === '' || second === '' || others.length > 0) return { ok: false, reason: `${name} is not file-cert:<certificate>~<key>` };
      return { ok: true, kind: 'pair', set$: sources.files({ chain: first, key: second, root: '' }) };
    }
    if (kind === 'file-root') {
      if (paths.includes('~')) return { ok: false, reason: `${name} is not file-root:<path>` };
      return { ok: true, kind: 'roots', set$: sources.files({ chain: '', key: '', root: paths }) };
    }
    const reason = 'there is no secret of this name: there are default, ROOTCA, file-cert:<certificate>~<key>, file-root:<path>';
    return sources.gateway(name) ?? { ok: false, reason };
  };
}
