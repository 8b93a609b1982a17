import { formatFlaw } from '../fields/header-format.ts';
import type { JsonFields, JsonValue } from './extension-provider.ts';
import { below, type ReadMember, text, wrong } from '../fields/members.ts';
import { isObject } from '../../../shared/text/is-object.ts';

/** Most levels of fields within fields. */
const deepest = 10;

/** Returns why Envoy refuses a log format. It has one command more than formats of headers. */
const logFormatFlaw = (format: string): string | undefined =>
  formatFlaw(format.replaceAll('%REQ_WITHOUT_QUERY(', '%REQ('));

/** Reads a line of text, or the fields of JSON. Both have the same commands. */
export const logFormat: ReadMember<string> = (value, place) => {
  const read = text(value, place);
  const flaw = logFormatFlaw(read);
  if (flaw !== undefined) wrong(place, flaw);
  return read;
};

/** Reads the fields of a log in JSON. Texts in them are formats. */
export const logFields: ReadMember<JsonFields> = (value, place) => {
  if (value === undefined) return {};
  const read = jsonValue(deepest)(value, place);
  if (isObject(read)) return read;
  wrong(place, 'it is not an object');
  return {};
};

function jsonValue(levels: number): ReadMember<JsonValue> {
  return (value, place) => {
    if (typeof value === 'string') return logFormat(value, place);
    if (typeof value === 'boolean') return value;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    if (typeof value !== 'object' || value === null) return null;
    if (levels === 0) {
      wrong(place, `it is more than ${deepest} levels deep`);
      return null;
    }
    const inner = jsonValue(levels - 1);
    return Array.isArray(value)
      ? value.map((item: unknown, index) => inner(item, below(place, `[${index}]`)))
      : Object.fromEntries(
          Object.entries(value).map(([name, field]: [string, unknown]) => [
            name,
            inner(field, below(place, name)),
          ]),
        );
  };
}
