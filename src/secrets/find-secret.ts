import type { Observable } from 'rxjs';
import type { SecretPaths } from './read-secret-files.ts';
import type { SetReading } from './secret.ts';
import type { Found } from './secret-book.ts';

/** Where secrets come from. */
export interface SecretSources {
  /** The set that `default` and `ROOTCA` are of. Shared. */
  readonly workload$: Observable<SetReading>;
  /** The set in files. */
  files(paths: SecretPaths): Observable<SetReading>;
  /** Finds a gateway's secret; undefined for a name that can be none. */
  readonly gateway: (name: string) => Found | undefined;
}

/** Finds a secret by its name: `default`, `ROOTCA`, `file-cert:<chain>~<key>`, `file-root:<path>`. Names are those of the Go agent. */
export function findSecret({ workload$, ...sources }: SecretSources): (name: string) => Found {
  return (name) => {
    if (name === 'default') return { ok: true, kind: 'pair', set$: workload$ };
    if (name === 'ROOTCA') return { ok: true, kind: 'roots', set$: workload$ };
    const [, kind, paths = ''] = /^(file-cert|file-root):(.+)$/s.exec(name) ?? [];
    const [first = '', second = '', ...others] = paths.split('~');
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
