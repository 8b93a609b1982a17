import type { LogLine } from '../log/log-line.ts';
import { describeCertificates } from './describe-certificates.ts';
import type { SecretState } from './secret-state.ts';

/** What there is to say of a new state of a secret: whose certificate it is now, or why what came is not served. Pure. */
export function narrateSecret({ name, source, served, refused }: SecretState): LogLine {
  if (refused !== undefined) {
    const msg = served === undefined ? 'secret refused: there is none to serve' : 'secret refused: the one before is served on';
    return { level: 'error', msg, secret: name, reason: refused };
  }
  const [leaf] = served === undefined ? [] : describeCertificates(served.secret);
  const until = leaf === undefined ? {} : { serial: leaf.serialNumber, notAfter: new Date(leaf.notAfter).toISOString() };
  return { level: 'info', msg: 'secret read', secret: name, version: served?.version, source, ...until };
}
