import type { TextPosition } from '../../shared/text/text-position.ts';

/**
 * The parts of a refusal by Envoy. They are the same in each run, unlike the places that Envoy
 * names in its own JSON of a file.
 */
export interface RefusalWords {
  readonly problem: string;
  /** The field, such as `static_resources.clusters[0].type`; '' if Envoy does not name it. */
  readonly path: string;
  /** The message in which the path begins; undefined for the bootstrap. */
  readonly root?: string;
  /** The path ends with a name that Envoy does not know. */
  readonly isUnknown?: true;
  /** The message that does not have this name. */
  readonly message?: string;
  /** Values, or parts of them, that help to find the field, the best one first. */
  readonly values?: readonly string[];
  /** The place in the text that Envoy was given, if that was a file of the user. */
  readonly position?: TextPosition;
}

const inJson =
  /^invalid JSON in (?<whole>\S+?)(?: @ (?<path>.+?): (?:message )?(?<type>\S+))?, near (?<line>\d+):(?<column>\d+) \(offset \d+\): (?<what>.*)$/;

/** Envoy's phrases about a user's text, with plainer ones. */
const plainer: readonly (readonly [envoy: RegExp, plain: string])[] = [
  [/^embedded message failed validation$/, 'is not valid'],
  [/^value length must be at least 1 (?:characters|bytes)$/, 'is missing or empty'],
  [/^value must contain at least 1 item\(s\)$/, 'is missing or empty'],
  [/^(?:value )?is required$/, 'is missing'],
  [
    /^duration must end with a single 's'$/,
    "is not a duration in seconds, such as '1s' or '0.25s'",
  ],
  // Envoy 1.36, and 1.40.
  [/^non-number characters in quoted number$/, 'is not a number'],
  [/^invalid number: '.*'$/, 'is not a number'],
  [/^expected integer, but JSON number had fractional part$/, 'is not a whole number'],
  [/^JSON number out of range for int$/, 'is out of the range of its numbers'],
  [/^expected 'true' or 'false'$/, 'is neither true nor false'],
  [
    /^in legacy mode, missing @type in Any is only allowed for an empty object$/,
    "has no '@type', which says what it is",
  ],
  [/^unexpected EOF$/, 'ends before it is whole'],
  [/^(?:route|cluster manager|Error): (.*?)\.?$/, '$1'],
  [/^error adding listener: (.*? as existing listener), to check if .*$/, '$1'],
];

const kinds: readonly (readonly [begins: RegExp, kind: string])[] = [
  [/^"/, 'a text'],
  [/^\{/, 'a map'],
  [/^\[/, 'a list'],
  [/^[-\d]/, 'a number'],
  [/^[tf]/, 'true or false'],
  [/^n/, 'null'],
];

/**
 * Parses the reason why Envoy 1.36 refuses its configuration, as `refusalOf` returns it. An unknown
 * form stays as it is. Pure.
 */
export function refusalWords(reason: string): RefusalWords {
  const [, wrong, unparsed] =
    /^(?:Protobuf message \(type \S+ reason INVALID_ARGUMENT: (.*)\) has unknown fields|Unable to parse JSON as proto \(INVALID_ARGUMENT: (.*)\))$/s.exec(
      reason,
    ) ?? [];
  const broken = /^Proto constraint validation failed \((.*)\)$/s.exec(reason)?.[1];
  const yaml = /^yaml-cpp: error at line (\d+), column (\d+): (.*)$/.exec(reason);
  if (broken !== undefined) return brokenRule(broken);
  if (yaml !== null)
    return {
      problem: `is not YAML: ${yaml[3] ?? ''}`,
      path: '',
      position: { line: Number(yaml[1]), column: Number(yaml[2]) },
    };
  if (reason.startsWith('Unable to convert YAML as JSON'))
    return { problem: 'is empty, or has no fields', path: '' };
  const parsed = wrong ?? unparsed;
  return parsed === undefined
    ? { problem: plain(reason), path: '', values: named(reason) }
    : unreadable(parsed);
}

function unreadable(words: string): RefusalWords {
  const {
    path = '',
    whole = '',
    type = whole,
    line,
    column,
    what = words,
  } = inJson.exec(words)?.groups ?? {};
  const position = line === undefined ? undefined : { line: Number(line), column: Number(column) };
  const field = /^no such field: '(.*)'$/.exec(what)?.[1];
  if (field !== undefined)
    return {
      problem: what,
      path: path === '' ? field : `${path}.${field}`,
      isUnknown: true,
      message: type,
      ...(position !== undefined && { position }),
    };
  const [, kind, value] = /^(unknown enum value: |could not find @type )'(.*)'$/.exec(what) ?? [];
  if (kind !== undefined && value !== undefined)
    return {
      problem: kind.startsWith('could') ? `'${value}' is not a type that this Envoy knows` : what,
      path,
      values: [value],
    };
  // Envoy reads the two fields in random order, so the path is that of the message around them.
  if (/^'.*' has already been set \(/.test(what))
    return {
      problem: 'has a field twice, or two fields that exclude each other',
      path: path.replace(/\.?[^.]+$/, ''),
    };
  return { problem: plain(what, type), path, ...(position !== undefined && { position }) };
}

function plain(what: string, type = ''): string {
  const [, actual = '', expected = ''] =
    /^unexpected character: '(.)'; expected '(.)'$/.exec(what) ?? [];
  const [isA, shouldBe] = [
    kindOf(actual),
    type.endsWith('.Duration') ? "a duration, such as '1s'," : kindOf(expected),
  ];
  if (isA !== undefined && shouldBe !== undefined) return `is ${isA}, and ${shouldBe} is wanted`;
  const [envoy, words] = plainer.find(([form]) => form.test(what)) ?? [];
  return envoy === undefined || words === undefined ? what : what.replace(envoy, words);
}

function kindOf(character: string): string | undefined {
  return kinds.find(([begins]) => begins.test(character))?.[1];
}

/** Parses a chain of messages, from the outermost one to the rule that is broken. */
function brokenRule(chain: string): RefusalWords {
  const links = chain.split(' | caused by ');
  const steps = links.map((link) => {
    const [, message, name, key = '', what] =
      /^(\w+)ValidationError\.(\w+)(\[.*?\])?: (.*)$/.exec(link) ?? [];
    const [, field, why] = /^field: "?(\w+)"?, reason: (.*)$/.exec(link) ?? [];
    return {
      message,
      name: name === undefined ? field : `${snake(name)}${key}`,
      what: what ?? why,
    };
  });
  const last = steps.at(-1);
  if (last?.what === undefined || steps.some(({ name }) => name === undefined))
    return { problem: chain, path: '' };
  const [{ message } = {}] = steps;
  const path = steps.map(({ name }) => name).join('.');
  return {
    problem: plain(last.what),
    path,
    ...(message !== undefined && message !== 'Bootstrap' && { root: message }),
  };
}

function snake(name: string): string {
  return name.replace(
    /[A-Z]/g,
    (letter, place: number) => `${place === 0 ? '' : '_'}${letter.toLowerCase()}`,
  );
}

/** Returns the texts that a sentence of Envoy quotes, or names at its end. */
function named(sentence: string): readonly string[] {
  const quoted = [...sentence.matchAll(/'([^']+)'/g)].map(([, text = '']) => text);
  const unquoted = [...sentence.matchAll(/(?::|named) (\S+?)[.,]?(?=\s|$)/g)].map(
    ([, text = '']) => text,
  );
  return [...quoted, ...unquoted];
}
