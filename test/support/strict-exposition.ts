/** A row as a strict reader reads it. */
interface StrictRow {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

export interface StrictFamily {
  readonly type: string;
  readonly help: string | undefined;
  readonly rows: readonly StrictRow[];
}

const suffixes: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total', '_created'],
  gauge: [''],
  unknown: [''],
  stateset: [''],
  info: ['_info'],
  histogram: ['_bucket', '_count', '_sum', '_created'],
  gaugehistogram: ['_bucket', '_gcount', '_gsum'],
  summary: ['', '_count', '_sum', '_created'],
};
const textTypes = ['counter', 'gauge', 'histogram', 'summary', 'untyped'];
const value = /^(?:[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|[-+]?\.\d+(?:[eE][-+]?\d+)?|NaN|[-+]Inf)$/;

/**
 * Reads an exposition strictly, and throws at the first error; with the line, if it is in one line.
 * It is written from the two formats, not from the code that merges expositions: it has the whole
 * text at once, and compares texts, not hashes.
 */
export function strictExposition(
  body: string,
  format: 'text' | 'openmetrics',
): ReadonlyMap<string, StrictFamily> {
  const families = new Map<
    string,
    { type: string; help: string | undefined; rows: StrictRow[]; typed: boolean }
  >();
  const claimed = new Set<string>();
  const series = new Set<string>();
  let current = '';
  if (body !== '' && !body.endsWith('\n')) throw new Error('the last line has no end');
  const lines = body.split('\n').slice(0, -1);
  if (format === 'openmetrics' && lines.pop() !== '# EOF')
    throw new Error('it does not end with # EOF');

  const enter = (name: string) => {
    if (current === name) return;
    current = name;
    if (families.has(name)) return; // Prometheus accepts rows of a family after those of another
    families.set(name, {
      type: format === 'text' ? 'untyped' : 'unknown',
      help: undefined,
      rows: [],
      typed: false,
    });
  };
  for (const line of lines) {
    try {
      if (line.startsWith('#')) {
        const [, word, name, rest] =
          /^# (HELP|TYPE|UNIT) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/s.exec(line) ?? [];
        if (word === undefined || name === undefined || rest === undefined)
          throw new Error('no comment that means something');
        enter(name);
        const family = families.get(name);
        if (family === undefined || family.rows.length > 0) throw new Error('after the rows');
        if (word === 'HELP') {
          if (family.help !== undefined) throw new Error('a second HELP');
          if (!(format === 'text' ? /^(?:[^\\]|\\[\\n])*$/ : /^(?:[^\\"]|\\[\\n"])*$/).test(rest))
            throw new Error('an escape that is none');
          family.help = rest;
        } else if (word === 'TYPE') {
          if (family.typed) throw new Error('a second TYPE');
          if (!(format === 'text' ? textTypes : Object.keys(suffixes)).includes(rest))
            throw new Error('no type');
          family.type = rest;
          family.typed = true;
        } else if (format === 'text' || !name.endsWith(`_${rest}`) || rest === '')
          throw new Error('no unit of this name');
        continue;
      }
      const row = readRow(line, format);
      const family = families.get(current);
      const isOfFamily =
        family !== undefined && rowNames(current, family.type, format).includes(row.name);
      const isOwner = (name: string) => {
        const type = families.get(name)?.type;
        return type !== undefined && rowNames(name, type, format).includes(row.name);
      };
      if (!isOfFamily) enter(familyNames(row.name).find(isOwner) ?? row.name);
      const target = families.get(current);
      if (target === undefined) throw new Error('no family');
      const key = `${row.name}{${[...row.labels]
        .map(([name, text]) => `${name}=${JSON.stringify(text)}`)
        .sort()
        .join()}}`;
      if (series.has(key)) throw new Error('a series twice');
      series.add(key);
      checkRow(row, current, target.type, format);
      target.rows.push(row);
    } catch (error) {
      throw new Error(`${(error as Error).message}: ${line}`, { cause: error });
    }
  }
  for (const [name, { type, rows }] of families) {
    const names =
      format === 'text'
        ? [name]
        : new Set([name, ...(suffixes[type] ?? []).map((suffix) => name + suffix)]);
    for (const other of names) {
      if (claimed.has(other)) throw new Error(`the name ${other} is in two families`);
      claimed.add(other);
    }
    if (format === 'openmetrics') checkMetrics(name, type, rows);
  }
  return families;
}

const rowSuffixes = [...new Set(Object.values(suffixes).flat())];

/** Returns the names of the families that a row of this name can belong to. */
function familyNames(name: string): readonly string[] {
  return rowSuffixes
    .filter((suffix) => name.endsWith(suffix))
    .map((suffix) => name.slice(0, name.length - suffix.length));
}

function rowNames(name: string, type: string, format: 'text' | 'openmetrics'): readonly string[] {
  if (format === 'openmetrics') return (suffixes[type] ?? []).map((suffix) => name + suffix);
  if (type === 'histogram') return [`${name}_bucket`, `${name}_sum`, `${name}_count`];
  return type === 'summary' ? [name, `${name}_sum`, `${name}_count`] : [name];
}

function readRow(line: string, format: 'text' | 'openmetrics'): StrictRow {
  const [plain = '', exemplar, ...more] = splitExemplar(line);
  const [, name = '', braces, text = '', time] =
    /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)(?: (\S+))?$/s.exec(plain) ?? [];
  if (name === '' || !value.test(text) || more.length > 0) throw new Error('no row');
  if (!Number.isFinite(Number(text)) && /\d/.test(text)) throw new Error('a number out of range');
  if (time !== undefined && !(format === 'text' ? /^\d+$/ : /^-?\d+(?:\.\d+)?$/).test(time))
    throw new Error('no time');
  if (exemplar !== undefined) {
    if (format === 'text' || !/_(?:bucket|total)$/.test(name))
      throw new Error('no place for an exemplar');
    const [, pairs, sample = '', timestamp] = /^\{(.*)\} (\S+)(?: (\S+))?$/.exec(exemplar) ?? [];
    if (
      pairs === undefined ||
      !value.test(sample) ||
      (timestamp !== undefined && !/^\d+(?:\.\d+)?$/.test(timestamp))
    )
      throw new Error('no exemplar');
    if ([...readLabels(pairs)].join('').replaceAll(',', '').length > 128)
      throw new Error('an exemplar that is too long');
  }
  return { name, labels: readLabels(braces ?? ''), value: Number(text.replace('Inf', 'Infinity')) };
}

/** Splits a line at the first ` # ` that is not within quotes. */
function splitExemplar(line: string): readonly string[] {
  let quoted = false;
  for (let offset = 0; offset < line.length; offset++) {
    if (line[offset] === '\\' && quoted) offset += 1;
    else if (line[offset] === '"') quoted = !quoted;
    else if (!quoted && line.startsWith(' # ', offset))
      return [line.slice(0, offset), line.slice(offset + 3)];
  }
  return [line];
}

function readLabels(text: string): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  let rest = text;
  while (rest !== '') {
    const [all = '', name = '', quoted = ''] =
      /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\n"])*)"(?:,(?=.)|$)/s.exec(rest) ?? [];
    if (all === '') throw new Error('no label');
    if (labels.has(name)) throw new Error('a label twice');
    labels.set(name, quoted);
    rest = rest.slice(all.length);
  }
  return labels;
}

function checkRow(
  { name, labels, value: amount }: StrictRow,
  family: string,
  type: string,
  format: 'text' | 'openmetrics',
): void {
  const suffix = name.slice(family.length);
  if (format === 'text') {
    const labelValue =
      type === 'histogram'
        ? labels.get('le')
        : type === 'summary'
          ? labels.get('quantile')
          : undefined;
    if (labelValue !== undefined && !value.test(labelValue) && labelValue !== 'NaN')
      throw new Error('a bound that is not a number');
    return;
  }
  if (['histogram', 'gaugehistogram'].includes(type) && suffix === '_bucket')
    bound(labels.get('le'), format);
  if (type === 'summary' && suffix === '') {
    const quantile = bound(labels.get('quantile'), format);
    if (!(quantile >= 0 && quantile <= 1)) throw new Error('no quantile');
  }
  if (
    ['_total', '_count', '_bucket', '_gcount', '_sum'].includes(suffix) &&
    type !== 'unknown' &&
    !(amount >= 0)
  )
    throw new Error('a negative count');
  if (type === 'info' && amount !== 1) throw new Error('an info that is not 1');
  if (type === 'stateset' && (!labels.has(family) || ![0, 1].includes(amount)))
    throw new Error('no state');
}

function bound(text: string | undefined, format: 'text' | 'openmetrics'): number {
  if (text === undefined || !value.test(text) || text === 'NaN') throw new Error('no bound');
  if (format === 'openmetrics' && /^[-+]?\d+$/.test(text))
    throw new Error('a bound that is not canonical');
  return Number(text.replace('Inf', 'Infinity'));
}

/**
 * Throws if the rows of a family break the rules of OpenMetrics for metrics: the rows of one metric
 * must be contiguous, and a histogram must be complete.
 */
function checkMetrics(family: string, type: string, rows: readonly StrictRow[]): void {
  const metrics = new Map<string, StrictRow[]>();
  let last = '';
  for (const row of rows) {
    const ownLabel = type.endsWith('histogram')
      ? 'le'
      : type === 'summary'
        ? 'quantile'
        : type === 'stateset'
          ? family
          : '';
    const key = JSON.stringify([...row.labels].filter(([name]) => name !== ownLabel).sort());
    if (key !== last && metrics.has(key))
      throw new Error(`the rows of a metric of ${family} do not stand together`);
    last = key;
    metrics.set(key, [...(metrics.get(key) ?? []), row]);
  }
  if (!type.endsWith('histogram')) return;
  for (const metric of metrics.values()) {
    const buckets = metric
      .filter(({ name }) => name === `${family}_bucket`)
      .map(({ labels, value: amount }) => ({
        le: Number((labels.get('le') ?? '').replace('Inf', 'Infinity')),
        amount,
      }));
    const count = metric.find(({ name }) => /_g?count$/.test(name));
    const sum = metric.find(({ name }) => /_g?sum$/.test(name));
    const rising = buckets.every(
      ({ le, amount }, index) =>
        index === 0 ||
        (le > (buckets[index - 1]?.le ?? NaN) && amount >= (buckets[index - 1]?.amount ?? NaN)),
    );
    if (
      !rising ||
      buckets.at(-1)?.le !== Infinity ||
      buckets.some(({ amount }) => !Number.isInteger(amount))
    )
      throw new Error(`buckets of ${family}`);
    if ((count === undefined) !== (sum === undefined))
      throw new Error(`${family} has a count or a sum without the other`);
    if (count !== undefined && count.value !== buckets.at(-1)?.amount)
      throw new Error(`the count of ${family}`);
  }
}
