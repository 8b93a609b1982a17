import { isIP } from 'node:net';
import { canonicalAddress } from './canonical.ts';
import { type Place, type ReadMember, text, wrong } from './members.ts';

/** Reads an IP address in its canonical spelling; '' if there is none, or if it is wrong. */
export const ipAddress: ReadMember<string> = (value, place) => {
  const read = text(value, place);
  checkIpAddress(read, place);
  return isIP(read) === 0 ? '' : canonicalAddress(read);
};

/** Reports a text that is neither empty nor an IP address. */
export function checkIpAddress(written: string, place: Place): void {
  if (written !== '' && isIP(written) === 0) wrong(place, `'${written}' is not an IP address`);
}
