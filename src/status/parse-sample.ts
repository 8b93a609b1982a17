/** One row of an exposition. All texts are as they may be written in either format. */
export interface Sample {
  readonly name: string;
  /** Between the braces, without spaces, and without `bound`. */
  readonly labels: string;
  /** `le` or `quantile`, and its value. */
  readonly bound: readonly [label: 'le' | 'quantile', value: string] | undefined;
  /** The same for two rows exactly when their labels are, in whatever order, `bound` left out. */
  readonly metric: number;
  /** The same for two rows exactly when name and all labels are. */
  readonly series: number;
  readonly value: string;
  /** In ms in the text format, in seconds in OpenMetrics. */
  readonly timestamp: string | undefined;
  /** From its `#` on; empty for none. */
  readonly exemplar: string;
}

const nameAt = /[a-zA-Z_:][a-zA-Z0-9_:]*/y;
const labelAt = /[ \t]*([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"((?:[^"\\]|\\[\\n"])*)"[ \t]*(,?)/y;
const restAt = /[ \t]+([^ \t]+)(?:[ \t]+([^ \t#]+))?(?:[ \t]+(#[ \t]*\{.*))?[ \t]*$/y;
const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const exemplarForm =
  /^# \{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\[\\n"])*"(?:,(?=[a-zA-Z_]))?)*)\} [+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?: \d+\.?\d*)?$/;
/** Characters of an exemplar's label names and values together (OpenMetrics 1.0). */
const longestExemplar = 128;

/** A row, or undefined if it is none. An exemplar that does not hold to its rules is left out. Pure. */
export function parseSample(line: string): Sample | undefined {
  nameAt.lastIndex = 0;
  const name = nameAt.exec(line)?.[0];
  if (name === undefined) return undefined;
  let at = name.length;
  let [labels, metric, series] = ['', 0, hash('', name)];
  let bound: Sample['bound'];
  if (line[at] === ' ' && /^[ \t]+\{/.test(line.slice(at))) at = line.indexOf('{', at);
  if (line[at] === '{') {
    at += 1;
    const names: string[] = [];
    for (let comma = true; ;) {
      labelAt.lastIndex = at;
      const found: readonly string[] = (comma ? labelAt.exec(line) : undefined) ?? [];
      const [all, label = '', value = '', separator] = found;
      if (all === undefined) break;
      if (names.includes(label)) return undefined;
      names.push(label);
      at += all.length;
      comma = separator === ',';
      if (label === 'le' || label === 'quantile') {
        bound = [label, value];
        series += hash(label, value);
      } else {
        labels += labels === '' ? `${label}="${value}"` : `,${label}="${value}"`;
        metric += hash(label, value);
      }
    }
    if (names.includes('le') && names.includes('quantile')) return undefined;
    while (line[at] === ' ') at += 1;
    if (line[at] !== '}') return undefined;
    at += 1;
  }
  restAt.lastIndex = at;
  const [all, raw = '', timestamp, tail = ''] = restAt.exec(line) ?? [];
  if (all === undefined) return undefined;
  const value = number.test(raw) ? raw : special(raw);
  if (value === undefined || (timestamp !== undefined && !number.test(timestamp))) return undefined;
  return { name, labels, bound, metric, series: series + metric, value, timestamp, exemplar: tail === '' ? '' : soundExemplar(tail) };
}

function soundExemplar(tail: string): string {
  const pairs = exemplarForm.exec(tail)?.[1];
  return pairs === undefined || pairs.replace(/["=,]/g, '').length > longestExemplar ? '' : tail;
}

function special(value: string): string | undefined {
  switch (value.toLowerCase()) {
    case 'nan':
      return 'NaN';
    case 'inf':
    case '+inf':
    case 'infinity':
    case '+infinity':
      return '+Inf';
    case '-inf':
    case '-infinity':
      return '-Inf';
    default:
      return undefined;
  }
}

/** 48 bits, so that two of 100,000 rows meet by chance in 2 of 100,000 cases; a text would have to be held on to. Sums do not mind an order. */
function hash(label: string, value: string): number {
  let [low, high] = [0x811c9dc5, 0x2545f491];
  const text = `${label}=${value}`;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x5bd1e995) ^ (high >>> 15);
  }
  return (high & 0xffff) * 0x100000000 + (low >>> 0);
}
