// Why: docs/decisions/048-the-expiry-warning-follows-the-life.md
import {
  asyncScheduler,
  concat,
  concatMap,
  connect,
  defer,
  map,
  merge,
  type Observable,
  repeat,
  scan,
  type SchedulerLike,
  switchMap,
  timer,
} from 'rxjs';
import { largest, readOutside } from '../../shared/files/outside-file.ts';
import { type SecretExpiry, secretExpiry, lastingCertificate } from './certificates.ts';
import type { Secret } from './secret.ts';

/** A certificate that is served. Times in ms since 1970. */
export interface ServedCertificate {
  /** The name of its secret. */
  readonly name: string;
  /** The path of the file that Envoy reads; undefined for a pushed certificate. */
  readonly path?: string;
  readonly serial: string;
  readonly begins: number;
  readonly expires: number;
  /** The agent renews it in time. */
  readonly isRenewed: boolean;
}

export type ExpirySign = {
  readonly type: 'certificate-expiring' | 'certificate-expired';
  readonly certificate: ServedCertificate;
};

/** A file that Envoy reads, with the name that its secret would have. */
export interface CertificateFile {
  readonly name: string;
  readonly kind: Secret['kind'];
  readonly path: string;
}

export type CertificateSign =
  | ExpirySign
  /** The certificates in the files that Envoy reads. */
  | { readonly type: 'certificates-read'; readonly certificates: readonly SecretExpiry[] };

/** The longest time between two looks at the clock. In ms. */
const look = 60_000;
const day = 86_400_000;

/**
 * Returns how long before its end a certificate should be replaced: a quarter of its life, and at
 * least a day if that is at most half of its life. In ms. Pure.
 */
export function expiryLead({
  begins,
  expires,
}: Pick<ServedCertificate, 'begins' | 'expires'>): number {
  const life = expires - begins;
  return life >= 2 * day ? Math.max(life / 4, day) : life / 4;
}

/**
 * Returns the warning that is due: `expired`, or a number if the certificate is about to expire;
 * undefined for none. The number says how often the remaining time has halved since the first
 * warning; it stops at half a day. Pure.
 */
function stageOf(certificate: ServedCertificate, now: number): 'expired' | number | undefined {
  const left = certificate.expires - now;
  if (left <= 0) return 'expired';
  const lead = expiryLead(certificate);
  if (certificate.isRenewed || left > lead) return undefined;
  return Math.max(0, Math.floor(Math.log2(lead / Math.max(left, day / 2))));
}

/**
 * Emits signs for the served certificates; `certificates$` emits a new list at each change. A sign
 * comes within a minute when a certificate is about to expire, and again each time half of the time
 * left has passed; at once when it has expired. Each sign comes once. Hot if `certificates$` is.
 * Does not complete.
 */
export function expirySigns(
  certificates$: Observable<readonly ServedCertificate[]>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<ExpirySign> {
  interface Due {
    readonly all: ReadonlyMap<string, ExpirySign>;
    readonly news: readonly ExpirySign[];
  }
  const none: Due = { all: new Map(), news: [] };
  return certificates$.pipe(
    switchMap((certificates) =>
      concat(
        timer(0, scheduler),
        defer(() => timer(pause(certificates, scheduler.now()), scheduler)).pipe(repeat()),
      ).pipe(map(() => due(certificates, scheduler.now()))),
    ),
    scan(
      ({ all: before }, current): Due => ({
        all: current,
        news: [...current].flatMap(([key, sign]) => (before.has(key) ? [] : [sign])),
      }),
      none,
    ),
    concatMap(({ news }) => news),
  );
}

/**
 * Returns the time until the next look at the clock: until the next expiry, but at most a minute.
 */
function pause(certificates: readonly ServedCertificate[], now: number): number {
  return Math.min(
    look,
    ...certificates.map(({ expires }) => expires - now).filter((left) => left > 0),
  );
}

/** Returns the signs that are due, by their content. */
function due(
  certificates: readonly ServedCertificate[],
  now: number,
): ReadonlyMap<string, ExpirySign> {
  return new Map(
    certificates.flatMap((certificate) => {
      const stage = stageOf(certificate, now);
      const { name, serial, expires } = certificate;
      const type = stage === 'expired' ? 'certificate-expired' : 'certificate-expiring';
      return stage === undefined
        ? []
        : [[`${name} ${serial} ${expires} ${stage}`, { type, certificate }] as const];
    }),
  );
}

/**
 * Reads the certificates in `files` at each value of `served$`, which means that an Envoy is about
 * to serve them. Emits these certificates with their expiry, and then the signs of
 * {@link expirySigns}. Hot if `served$` is. Does not complete; never errors: a file that does not
 * parse is left out.
 */
export function certificateExpiry(
  files: readonly CertificateFile[],
  served$: Observable<unknown>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<CertificateSign> {
  return served$.pipe(
    switchMap(() => Promise.all(files.map(readCertificates))),
    map((read) => read.flat()),
    connect((read$) =>
      merge(
        read$.pipe(
          map((read): CertificateSign => ({
            type: 'certificates-read',
            certificates: read.map(({ certificate }) => certificate),
          })),
        ),
        expirySigns(read$.pipe(map((read) => read.map(({ served }) => served))), scheduler),
      ),
    ),
  );
}

async function readCertificates({ name, kind, path }: CertificateFile) {
  const file = await readOutside(path, largest.pem);
  const text = file.kind === 'read' ? file.bytes.toString() : '';
  const secret: Secret =
    kind === 'pair' ? { kind, chain: text, key: Buffer.alloc(0) } : { kind, roots: text };
  const served = servedCertificate(name, secret, { path, isRenewed: false });
  const certificate = secretExpiry(name, path, secret);
  return served === undefined || certificate === undefined ? [] : [{ certificate, served }];
}

/** Returns the certificate that decides how long a secret lasts; undefined if it has none. Pure. */
export function servedCertificate(
  name: string,
  secret: Secret,
  more: Pick<ServedCertificate, 'path' | 'isRenewed'>,
): ServedCertificate | undefined {
  const lasting = lastingCertificate(secret);
  return (
    lasting && {
      name,
      ...more,
      serial: lasting.serialNumber,
      begins: lasting.notBefore,
      expires: lasting.notAfter,
    }
  );
}
