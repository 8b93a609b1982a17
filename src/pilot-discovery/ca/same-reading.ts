import type { AuthorityReading } from './authority-files.ts';

/** Whether two readings of an authority have the same content. Pure. */
export function isSameReading(before: AuthorityReading, after: AuthorityReading): boolean {
  return isSameAuthority(before, after) && crlOf(before) === crlOf(after);
}

/** Whether two readings have the same content, apart from their CRLs. Pure. */
export function isSameAuthority(before: AuthorityReading, after: AuthorityReading): boolean {
  return JSON.stringify(identityOf(before)) === JSON.stringify(identityOf(after));
}

/** Returns everything that tells a reading from another one, apart from its CRLs. */
function identityOf(reading: AuthorityReading): readonly string[] {
  switch (reading.type) {
    case 'authority':
      return [reading.type, reading.path, reading.authority.fingerprint];
    case 'refused':
      return [reading.type, reading.reason];
    case 'absent':
      return [reading.type];
  }
}

const crlOf = (reading: AuthorityReading): string =>
  reading.type === 'authority' ? JSON.stringify(reading.crl) : '';
