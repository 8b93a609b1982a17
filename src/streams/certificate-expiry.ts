import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { asyncScheduler, concat, filter, map, type Observable, of, type SchedulerLike, switchMap, take, timer } from 'rxjs';

/** A certificate that is served, and when it expires: ms since 1970. */
interface ServedCertificate {
  readonly path: string;
  readonly expiresAt: number;
}

export type CertificateSign =
  | { readonly type: 'certificates-read'; readonly certificates: readonly ServedCertificate[] }
  | { readonly type: 'certificate-expired'; readonly certificate: ServedCertificate };

/** Between two looks at the clock. In ms. */
const look = 60_000;

/**
 * Reads the certificates at `paths` whenever an Envoy is about to serve them, which a value of
 * `served$` says, emits when each of them expires, and then, within a minute of that, the first one
 * that has, once. Hot and endless as `served$`; never errors: what does not parse is left out.
 */
export function certificateExpiry(
  paths: readonly string[],
  served$: Observable<unknown>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<CertificateSign> {
  return served$.pipe(
    switchMap(() => Promise.all([...new Set(paths)].map(read))),
    switchMap((read) => {
      const certificates = read.flat();
      const expired$ = timer(0, look, scheduler).pipe(
        map(() => certificates.find(({ expiresAt }) => expiresAt <= scheduler.now())),
        filter((certificate) => certificate !== undefined),
        take(1),
        map((certificate): CertificateSign => ({ type: 'certificate-expired', certificate })),
      );
      return concat(of<CertificateSign>({ type: 'certificates-read', certificates }), expired$);
    }),
  );
}

async function read(path: string): Promise<readonly ServedCertificate[]> {
  try {
    return [{ path, expiresAt: Date.parse(new X509Certificate(await readFile(path)).validTo) }];
  } catch {
    return [];
  }
}
