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
import { type KnownCertificate, knownCertificate, lastingCertificate } from './certificates.ts';
import type { Secret } from './secret.ts';

/** A certificate that is served. Times in ms since 1970. */
export interface ServedCertificate {
  /** Of the secret that it belongs to. */
  readonly name: string;
  /** Of the file that Envoy itself reads it from; undefined for one that is pushed. */
  readonly path?: string;
  readonly serial: string;
  readonly begins: number;
  readonly expires: number;
  /** The agent itself gets a new one in time. */
  readonly isRenewed: boolean;
}

export type ExpirySign = {
  readonly type: 'certificate-expiring' | 'certificate-expired';
  readonly certificate: ServedCertificate;
};

/** A file that Envoy reads, by the name that its secret would have. */
export interface CertificateFile {
  readonly name: string;
  readonly kind: Secret['kind'];
  readonly path: string;
}

export type CertificateSign =
  | ExpirySign
  /** Those in the files that Envoy reads itself. */
  | { readonly type: 'certificates-read'; readonly certificates: readonly KnownCertificate[] };

/** Between two looks at the clock, at most. In ms. */
const look = 60_000;
const day = 86_400_000;

/**
 * How long before its end a certificate is to be replaced: a quarter of its life, and a day at
 * least where that is no more than half of it. In ms. Pure.
 */
export function expiryLead({
  begins,
  expires,
}: Pick<ServedCertificate, 'begins' | 'expires'>): number {
  const life = expires - begins;
  return life >= 2 * day ? Math.max(life / 4, day) : life / 4;
}

/**
 * What there is to warn of at a time: nothing, that it has expired, or that it is about to: then
 * how often half of the time that was left has gone since, until half a day is left. Pure.
 */
function stageOf(certificate: ServedCertificate, now: number): 'expired' | number | undefined {
  const left = certificate.expires - now;
  if (left <= 0) return 'expired';
  const lead = expiryLead(certificate);
  if (certificate.isRenewed || left > lead) return undefined;
  return Math.max(0, Math.floor(Math.log2(lead / Math.max(left, day / 2))));
}

/**
 * Emits for each of the certificates that are served, which `certificates$` lists anew whenever
 * that changes: within a minute when it is about to expire, and again each time half of what was
 * left then has gone; at once when it has expired. Each comes once. As hot, and as endless, as
 * `certificates$`.
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
      ({ all: before }, all): Due => ({
        all,
        news: [...all].flatMap(([key, sign]) => (before.has(key) ? [] : [sign])),
      }),
      none,
    ),
    concatMap(({ news }) => news),
  );
}

/** Until the clock is looked at again: at once where a certificate expires, else in a minute. */
function pause(certificates: readonly ServedCertificate[], now: number): number {
  return Math.min(
    look,
    ...certificates.map(({ expires }) => expires - now).filter((left) => left > 0),
  );
}

/** Each sign that is due, by what it says. */
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
 * Reads the certificates in `files` whenever an Envoy is about to serve them, which a value of
 * `served$` says, emits when each of them expires, and then what {@link expirySigns} says of them.
 * Hot and endless as `served$`; never errors: what does not parse is left out.
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
            certificates: read.map(({ known }) => known),
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
  const known = knownCertificate(name, path, secret);
  return served === undefined || known === undefined ? [] : [{ known, served }];
}

/** The certificate of a secret that decides how long it lasts; undefined if it has none. Pure. */
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
