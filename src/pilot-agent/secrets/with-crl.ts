// Why: docs/decisions/112-an-incomplete-crl-is-not-served.md
import type { X509Certificate } from 'node:crypto';
import {
  asyncScheduler,
  combineLatest,
  concat,
  map,
  mergeMap,
  type MonoTypeOperatorFunction,
  NEVER,
  type Observable,
  of,
  ReplaySubject,
  scan,
  type SchedulerLike,
  share,
  switchMap,
} from 'rxjs';
import { crlContent } from '../../shared/certificates/crl-content.ts';
import { concernsAny } from '../../shared/certificates/crl-verdict.ts';
import { pemCertificates } from '../../shared/certificates/key-pair-flaw.ts';
import { parseCrls, type ParsedCrls } from '../../shared/certificates/parse-crls.ts';
import { type CarriedCrl, serveCrl } from '../../shared/certificates/serve-crl.ts';
import { largest, readOutside } from '../../shared/files/outside-file.ts';
import { fileSource } from '../../streams/file-source.ts';
import { readings } from '../../streams/readings.ts';
import type { SetReading } from './secret.ts';

/** The content of a file with CRLs, and its place for a person. */
export interface CrlFile {
  readonly place: string;
  readonly content$: Observable<ParsedCrls>;
}

/**
 * Roots of the mesh need CRLs, if there is a file. Roots of others get the CRLs if one of the CRLs
 * is theirs.
 */
type RootsAre = 'of the mesh' | 'of others';

/** Envoy takes no CRLs beside roots by trust domain. */
const byTrustDomain = 'by trust domain';

const noContent: ParsedCrls = { kind: 'absent' };

/** In ms, from the first change to the reading. */
const settle = 20;

/**
 * Returns the file with CRLs at `path`; '' for none. Its content is emitted at once, and after each
 * change. All subscriptions share a watcher. Never ends, never errors.
 */
export function crlFile(path: string, scheduler: SchedulerLike = asyncScheduler): CrlFile {
  if (path === '') return { place: '', content$: concat(of(noContent), NEVER) };
  const content$ = readings(fileSource([path], scheduler), { minDelay: settle }, scheduler).pipe(
    switchMap(() => readOutside(path, largest.pem)),
    map((file) => parseCrls(crlContent(file))),
    share({ connector: () => new ReplaySubject(1) }),
  );
  return { place: path, content$ };
}

/** The readings of a set: the newest, and the last one with roots. */
interface LastReadings {
  readonly newest: SetReading;
  readonly rooted: Extract<SetReading, { readonly type: 'set' }> | undefined;
}

/**
 * Adds the CRLs to the roots of each reading, if Envoy can use them; otherwise the reason. Emits
 * the last roots again when the CRLs change. Cold; errors and completes with its sources.
 */
export function withCrl(
  { place, content$ }: CrlFile,
  rootsAre: RootsAre,
  scheduler: SchedulerLike = asyncScheduler,
): MonoTypeOperatorFunction<SetReading> {
  return (set$) =>
    combineLatest([
      set$.pipe(scan<SetReading, LastReadings, undefined>(afterReading, undefined)),
      content$,
    ]).pipe(
      map(([readings, content]) => {
        const authorities = authoritiesOf(readings);
        return {
          content: usable(content, authorities, rootsIn(readings) ?? rootsAre),
          ...{ authorities, carried: readings },
        };
      }),
      serveCrl<LastReadings>(scheduler),
      scan(
        ({ before }: Emission, now: CarriedCrl<LastReadings>): Emission => ({
          before: now,
          readings: readingsAfter(before, now, place),
        }),
        { before: undefined, readings: [] },
      ),
      mergeMap(({ readings: emitted }) => emitted),
    );
}

interface Emission {
  readonly before: CarriedCrl<LastReadings> | undefined;
  readonly readings: readonly SetReading[];
}

function afterReading(before: LastReadings | undefined, newest: SetReading): LastReadings {
  const hasRoots = newest.type === 'set' && newest.set.roots !== undefined;
  return { newest, rooted: hasRoots ? newest : before?.rooted };
}

const rootsIn = ({ rooted }: LastReadings): typeof byTrustDomain | undefined =>
  rooted?.set.trustDomains === undefined ? undefined : byTrustDomain;

/** Returns the content that counts for roots; or why it cannot be used for them. */
function usable(
  content: ParsedCrls,
  authorities: readonly X509Certificate[],
  rootsAre: RootsAre | typeof byTrustDomain,
): ParsedCrls {
  if (rootsAre === 'of the mesh') return content;
  if (content.kind !== 'crls' || !concernsAny(content.crls, authorities)) return noContent;
  return rootsAre === 'of others' ? content : { kind: 'unreadable', reason: unusable };
}

const unusable = 'Envoy takes no CRL beside roots by trust domain (SPIRE)';

function authoritiesOf({ rooted }: LastReadings): readonly X509Certificate[] {
  const { roots = '', pair } = rooted?.set ?? {};
  const chain = (pemCertificates(pair?.chain ?? '') ?? []).slice(1);
  return [...(pemCertificates(roots) ?? []), ...chain];
}

/** Returns what is new: the newest reading; and the last roots, if their CRLs have changed. */
function readingsAfter(
  before: CarriedCrl<LastReadings> | undefined,
  { carried: { newest, rooted }, text, flaw }: CarriedCrl<LastReadings>,
  place: string,
): readonly SetReading[] {
  const reason = flaw === undefined ? undefined : `${place}: ${flaw}${effectOf(text)}`;
  const whole: SetReading | undefined = rooted && {
    ...rooted,
    set: { ...rooted.set, ...(text !== '' && { crl: text }) },
    ...(reason !== undefined && { crlFlaw: reason }),
  };
  if (whole === undefined || newest === rooted) return [whole ?? newest];
  const isChanged = before?.text !== text || before.flaw !== flaw;
  return isChanged ? [whole, newest] : [newest];
}

const effectOf = (text: string): string =>
  text === '' ? '; no certificate counts as revoked' : '; the previous CRLs stay in use';
