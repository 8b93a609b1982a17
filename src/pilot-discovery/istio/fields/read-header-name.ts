import { isHeaderName } from './header-format.ts';
import { needed, type ReadMember, wrong } from './members.ts';

/** Reads the name of a header, which must be given. */
export const headerName: ReadMember<string> = (value, place) => {
  const read = needed(value, place);
  if (read !== '' && !isHeaderName(read)) wrong(place, `'${read}' is not a valid name of a header`);
  return read;
};
