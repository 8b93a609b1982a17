import { isIP } from 'node:net';
import { canonicalAddress } from './canonical.ts';
import { type ReadMember, text, wrong } from './members.ts';

/** Reads an IP address in its canonical spelling; '' if there is none, or if it is wrong. */
export const ipAddress: ReadMember<string> = (value, place) => {
  const read = text(value, place);
  if (isIP(read) !== 0) return canonicalAddress(read);
  if (read !== '') wrong(place, `'${read}' is not an IP address`);
  return '';
};
