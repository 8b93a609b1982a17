import type { PeerCertificate } from 'node:tls';
import { asyncScheduler, lastValueFrom } from 'rxjs';
import { parseHostPort } from '../../shared/text/host-port.ts';
import {
  largest,
  type OutsideFile,
  readOutside,
  unreadReason,
} from '../../shared/files/outside-file.ts';
import { span } from '../../shared/log/span.ts';
import { reach, type Reached, type ShownCertificate } from './endpoint.ts';
import { type Finding, findingsOf } from './finding.ts';

/** A server that the configuration needs. */
export interface Server {
  /** The name of the check. */
  readonly check: string;
  /** `host:port`, and the setting that names it. */
  readonly address: string;
  readonly change: string;
  /** Undefined for plaintext. */
  readonly tls:
    | {
        /** The file of the roots that vouch for the server; undefined for the roots of Node. */
        readonly roots: string | undefined;
        /** The client's pair; undefined if the client presents none. */
        readonly pair: { readonly chain: string; readonly key: string } | undefined;
        readonly serverName: string;
        /** Returns why a certificate is not for this server. */
        readonly nameFlaw: (certificate: PeerCertificate) => string | undefined;
      }
    | undefined;
  /** The remedy if the server wants TLS, or does not speak it. */
  readonly speak: string;
}

/** How far two clocks may differ, in ms. */
const drift = 60_000;

/**
 * Checks that a server answers, by name, TCP, TLS and HTTP/2, and that its clock agrees with ours.
 */
export async function checkServer(server: Server): Promise<readonly Finding[]> {
  const { check, address, tls } = server;
  const { fail } = findingsOf(check);
  const { host, port } = parseHostPort(address) ?? { host: '', port: '' };
  const roots = tls?.roots === undefined ? undefined : await readOutside(tls.roots, largest.pem);
  if (tls !== undefined && roots !== undefined && roots.kind !== 'read') {
    const what = `the roots that vouch for ${address} cannot be read: ${tls.roots ?? ''}: ${unreadReason(roots)}`;
    return [fail('certificate missing', what, 'mount or write the file')];
  }
  const pairPaths = tls?.pair === undefined ? [] : [tls.pair.chain, tls.pair.key];
  const pairFiles = await Promise.all(
    pairPaths.map(async (path): Promise<PairFile> => ({
      path,
      file: await readOutside(path, largest.pem),
    })),
  );
  const [chain, key] = pairFiles.map(({ file }) => file);
  const reached = await lastValueFrom<Reached, Reached>(
    reach({
      ...{ host, port: Number(port) },
      tls: tls && {
        roots: roots?.kind === 'read' ? roots.bytes : undefined,
        pair:
          chain?.kind === 'read' && key?.kind === 'read'
            ? { chain: chain.bytes, key: key.bytes }
            : undefined,
        serverName: tls.serverName,
      },
    }),
    { defaultValue: { stage: 'name', reason: 'no request was sent' } },
  );
  const shown = shownBy(reached);
  return [
    ...far(server, reached, sentOf(pairFiles)),
    ...(tls === undefined || shown === undefined ? [] : certificateFindings(server, shown)),
    ...clock(address, reached, asyncScheduler.now()),
  ];
}

function shownBy(reached: Reached): ShownCertificate | undefined {
  return 'shown' in reached ? reached.shown : undefined;
}

/** A file of the client's pair, and the result of reading it. */
interface PairFile {
  readonly path: string;
  readonly file: OutsideFile;
}

/** The certificate that the server gets, or why it gets none, and the remedy if it refuses that. */
interface Sent {
  readonly text: string;
  readonly remedy: string;
}

function sentOf(files: readonly PairFile[]): Sent {
  for (const { path, file } of files)
    if (file.kind !== 'read')
      return {
        text: `it gets no certificate, because ${path} cannot be read: ${unreadReason(file)}`,
        remedy: 'mount or write the file',
      };
  const [chain] = files;
  return {
    text: chain === undefined ? 'it gets no certificate' : `it gets ${chain.path}`,
    remedy: 'give it a certificate of an issuer that it trusts',
  };
}

function far(
  { check, address, change, tls, speak }: Server,
  reached: Reached,
  sent: Sent,
): readonly Finding[] {
  const { ok, fail } = findingsOf(check);
  switch (reached.stage) {
    case 'name':
      return [
        fail(
          'address unresolved',
          `${address}: ${reached.reason}`,
          `correct ${change}, or see whether DNS answers here`,
        ),
      ];
    case 'connection':
      return [
        fail(
          'address unreachable',
          `${address}: ${reached.reason}`,
          `correct ${change}, or see whether it runs and may be reached from here`,
        ),
      ];
    case 'entry':
      return [
        fail(
          'tls refused',
          `${address} closes the connection after TLS (${sent.text}): ${reached.reason}`,
          sent.remedy,
        ),
      ];
    case 'tls':
    case 'protocol':
      return [fail('protocol wrong', `${address}: ${reached.reason}`, speak)];
    case 'all': {
      const names =
        reached.shown === undefined
          ? []
          : [`its certificate is for ${reached.shown.certificate.subjectaltname ?? 'no name'}`];
      const how = tls === undefined ? 'without TLS' : 'with TLS';
      return [
        ok([`${address} (${reached.addresses.join(', ')}) answers ${how}`, ...names].join('; ')),
      ];
    }
  }
}

function certificateFindings(
  { check, address, change, tls }: Server,
  { certificate, untrusted }: ShownCertificate,
): readonly Finding[] {
  const { fail } = findingsOf(check);
  const flaw = tls?.nameFlaw(certificate);
  const roots = tls?.roots ?? "the machine's store of roots";
  return [
    ...(untrusted === undefined
      ? []
      : [
          fail(
            'tls untrusted',
            `${address}: ${roots} does not vouch for it: ${untrusted}`,
            `put the root that has issued its certificate into ${roots}`,
          ),
        ]),
    ...(flaw === undefined
      ? []
      : [
          fail(
            'tls name',
            `${address}: ${flaw}`,
            `correct ${change}, or have the certificate issued for that name`,
          ),
        ]),
  ];
}

/**
 * Compares the clocks. Which one is wrong cannot be known here, so the finding shows both times.
 */
function clock(address: string, reached: Reached, now: number): readonly Finding[] {
  const { ok, warn } = findingsOf('clock');
  const date = reached.stage === 'all' ? reached.date : undefined;
  const certificate = shownBy(reached)?.certificate;
  const fix = 'set the clock of this machine (NTP), or that of the other one';
  const here = new Date(now).toISOString();
  if (date !== undefined) {
    const off = Math.abs(now - date);
    if (off <= drift) return [ok(`it agrees with that of ${address}`)];
    return [
      warn(
        'clock off',
        `it is ${here} here and ${new Date(date).toISOString()} at ${address}: ${span(off)} apart`,
        fix,
      ),
    ];
  }
  if (certificate === undefined) return [];
  const [from, to] = [Date.parse(certificate.valid_from), Date.parse(certificate.valid_to)];
  if (now >= from && now < to) return [];
  const valid = `from ${new Date(from).toISOString()} to ${new Date(to).toISOString()}`;
  return [
    warn(
      'clock off',
      `it is ${here} here, and the certificate of ${address} is valid ${valid}`,
      fix,
    ),
  ];
}
