import type { X509Certificate } from 'node:crypto';
import { basename } from 'node:path';
import { asyncScheduler } from 'rxjs';
import { largest, type OutsideFile, readOutside } from '../../shared/files/outside-file.ts';
import { expiryLead } from '../secrets/certificate-expiry.ts';
import { describeCertificates } from '../secrets/certificates.ts';
import { isIssuer } from '../../shared/certificates/is-issuer.ts';
import { keyPairFlaw, pemCertificates } from '../../shared/certificates/key-pair-flaw.ts';
import { pairFlaw } from '../../shared/certificates/pair-flaw.ts';
import type { SecretPaths } from '../secrets/file-secrets.ts';
import { span } from '../../shared/log/span.ts';
import type { Around } from './around.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn, fail } = findingsOf('certificates');

/** Checks that the certificates in files can be served: pair, chain, times, roots. */
export async function checkCertificates({ plan }: Around): Promise<readonly Finding[]> {
  const { workload, running } = plan;
  const workloadPairs = workload.kind === 'files' ? [workload.paths] : [];
  const readPairs = [...workloadPairs, ...running.certificates];
  const read = new Map(
    readPairs.map((paths): readonly [string, PairFile] => [idOf(paths), { ...paths, by: 'file' }]),
  );
  const pushed = plan.rotation.way === 'sds' ? workloadPairs : [];
  const pairs = [
    ...new Map([
      ...read,
      ...pushed.map((paths): readonly [string, PairFile] => [
        idOf(paths),
        { ...paths, by: 'push' },
      ]),
    ]).values(),
  ];
  const roots = [...new Set(readPairs.map(({ root }) => root))].filter((path) => path !== '');
  const awaited = new Set(running.awaited);
  const findings = (
    await Promise.all([
      ...pairs.map((paths) => checkPair(paths, awaited)),
      ...roots.map((path) => checkRoots(path, awaited)),
    ])
  ).flat();
  return findings.length > 0 ? findings : [ok('none is in a file')];
}

/**
 * A pair, and how Envoy gets it. Over SDS the agent sends no password, so the key must not be
 * encrypted.
 */
interface PairFile extends SecretPaths {
  readonly by: 'file' | 'push';
}

function idOf({ chain, key }: SecretPaths): string {
  return `${chain} ${key}`;
}

async function checkPair(
  { chain, key, by }: PairFile,
  awaited: ReadonlySet<string>,
): Promise<readonly Finding[]> {
  const files = await Promise.all(
    [chain, key].map(async (path) => ({ path, file: await readOutside(path, largest.pem) })),
  );
  const absent = files.filter(({ file }) => file.kind === 'absent').map(({ path }) => path);
  if (absent.length === 2 && !absent.some((path) => awaited.has(path))) return [];
  if (absent.length > 0)
    return absent.map((path) => missing(path, absent.length === 1 ? 'half' : 'all'));
  const unreadable = files.flatMap(({ path, file }) => unreadableFlaw(path, file));
  if (unreadable.length > 0) return unreadable;
  const [chainText = '', keyBytes = Buffer.alloc(0)] = files.map(({ file }, index) =>
    index === 0 ? bytesOf(file).toString() : bytesOf(file),
  );
  const certificates = pemCertificates(String(chainText)) ?? [];
  const now = asyncScheduler.now();
  const [leaf] = describeCertificates({
    kind: 'pair',
    chain: String(chainText),
    key: Buffer.alloc(0),
  });
  const flawOf = by === 'push' ? pairFlaw : keyPairFlaw;
  const flaw = flawOf(String(chainText), Buffer.from(keyBytes), leaf?.notBefore ?? now);
  if (flaw !== undefined || leaf === undefined)
    return [
      fail(
        'certificate unusable',
        `${chain}, ${key}: ${flaw ?? 'a certificate does not parse'}`,
        'issue a new pair, and write both files',
      ),
    ];
  const who = `${chain} (${leaf.subject || leaf.subjectAltNames}, serial ${leaf.serialNumber})`;
  return [...times(who, leaf, now), ...(isChain(certificates) ? [] : [broken(chain)])];
}

async function checkRoots(path: string, awaited: ReadonlySet<string>): Promise<readonly Finding[]> {
  const file = await readOutside(path, largest.pem);
  if (file.kind === 'absent') return awaited.has(path) ? [missing(path, 'all')] : [];
  const unreadable = unreadableFlaw(path, file);
  if (unreadable.length > 0) return unreadable;
  const certificates = describeCertificates({ kind: 'roots', roots: bytesOf(file).toString() });
  const last = [...certificates].sort((left, right) => right.notAfter - left.notAfter)[0];
  if (last === undefined)
    return [
      fail(
        'certificate unusable',
        `${path}: it has no root certificate that can be parsed`,
        'write the roots as PEM',
      ),
    ];
  const who = `${path} (${certificates.length === 1 ? last.subject : `${certificates.length} roots`})`;
  return times(who, last, asyncScheduler.now());
}

function missing(path: string, what: 'half' | 'all'): Finding {
  const [problem, fix] = [`${path} is missing`, 'mount or write the file, or name another one'];
  return what === 'half'
    ? fail('certificate missing', `${problem}, and the other half of the pair is there`, fix)
    : warn('certificate missing', `${problem}: the first Envoy waits for it, up to 2 minutes`, fix);
}

function unreadableFlaw(path: string, file: OutsideFile): readonly Finding[] {
  if (file.kind !== 'unreadable') return [];
  return [
    fail(
      'certificate unusable',
      `${path} cannot be read: ${file.reason}`,
      `let user ${String(process.geteuid?.())} read the file`,
    ),
  ];
}

function bytesOf(file: OutsideFile): Buffer {
  return file.kind === 'read' ? file.bytes : Buffer.alloc(0);
}

/** Judges the validity of a certificate. Times are in ms since 1970. Pure. */
function times(
  who: string,
  { notBefore, notAfter }: { readonly notBefore: number; readonly notAfter: number },
  now: number,
): readonly Finding[] {
  const left = notAfter - now;
  const [from, to] = [notBefore, notAfter].map((ms) => new Date(ms).toISOString());
  if (now < notBefore)
    return [
      fail(
        'certificate early',
        `${who} is not valid before ${from}, and it is ${new Date(now).toISOString()}`,
        'set the clock, or issue a new certificate',
      ),
    ];
  if (left <= 0)
    return [fail('certificate.expired', `${who} has expired at ${to}`, 'issue a new certificate')];
  const isNear = left <= expiryLead({ begins: notBefore, expires: notAfter });
  return [
    isNear
      ? warn(
          'certificate.expiring',
          `${who} expires in ${span(left)}, at ${to}`,
          'issue a new certificate',
        )
      : ok(`${who} is valid for ${span(left)}`),
  ];
}

/** Returns whether each certificate is signed by the next one. */
function isChain(certificates: readonly X509Certificate[]): boolean {
  return certificates.every((certificate, index) => {
    const issuer = certificates[index + 1];
    return issuer === undefined || isIssuer(issuer, certificate);
  });
}

function broken(chain: string): Finding {
  return warn(
    'certificate chain broken',
    `${chain}: a certificate of the chain is not signed by the one that follows it`,
    `put the certificates of ${basename(chain)} in order, the leaf first`,
  );
}
