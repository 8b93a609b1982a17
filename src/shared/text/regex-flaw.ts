// Why: docs/decisions/032-expressions-are-checked-here.md
/** The accepted parts of an expression, most special first. */
const parts = {
  open: String.raw`\((?:\?P?<\w+>|\?(?:[imsU]+(?:-[imsU]+)?|-[imsU]+)?:)?(?!\?)`,
  close: String.raw`\)`,
  flags: String.raw`\(\?(?:[imsU]+(?:-[imsU]+)?|-[imsU]+)\)`,
  bar: String.raw`\|`,
  repetition: String.raw`(?:[*+?]|\{(?<least>\d+)(?:,(?<most>\d*))?\})\??`,
  category: String.raw`\\[pP](?:[CLMNPSZ]|\{\^?(?:C[cfos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)\})`,
  set: String.raw`\.|\\[dDsSwW]|\[(?:\^|(?!\^))(?<members>(?:\]|\[:\^?\w+:\]|\\.|[^\]\\])(?:\[:\^?\w+:\]|\\.|[^\]\\])*)\]`,
  character: String.raw`\\(?:[aftnrvAbBz_]|[^\w\P{ASCII}]|0[0-7]{0,2}|[1-3][0-7]{2}|x[\da-fA-F]{2}|x\{[\da-fA-F]{1,4}\})|[^\\[(]`,
};
const part = new RegExp(
  Object.entries(parts)
    .map(([name, pattern]) => `(?<${name}>${pattern})`)
    .join('|'),
  'gsuy',
);

const posix = 'alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit';
const single = String.raw`\\(?:[^\w\P{ASCII}]|_)|\[(?!:)|[^\\[`;
/** A member of a set: a class, an escaped control character, a character, or a range of two. */
const member = new RegExp(
  String.raw`\[:\^?(?:${posix}):\]|\\[dDsSwW](?!-[^\]])|\\[aftnrv](?!-[^\]])|(?<from>${single}])(?:-(?<to>${single}\]])|(?!-[^\]]))`,
  'gsuy',
);

/** RE2 refuses more repetitions than this. */
const mostRepeats = 1000;
/**
 * The largest rough number of instructions of a compiled expression; RE2 has room for some 350,000.
 */
const largest = 50_000;
const costs = { character: 4, set: 12, category: 2_000 };

/**
 * A part that can be repeated: its cost, its number of repetitions, and whether it is a repetition
 * already.
 */
interface Piece {
  readonly cost: number;
  readonly repeats: number;
  readonly repeated: boolean;
}

const nothing: Piece = { cost: 0, repeats: 1, repeated: false };

/**
 * Returns why RE2 would refuse an expression; undefined if it would not. Pure.
 *
 * The check cannot be left to Envoy: `--mode validate` of 1.36 does not compile the expressions of
 * its statistics, and a real start ends with exit 1. Some rare forms that RE2 accepts are refused
 * too (`\Q…\E`, scripts such as `\p{Greek}`): an expression that is left out is better than an
 * Envoy that does not start.
 */
export function regexFlaw(expression: string): string | undefined {
  if (expression === '') return 'it is empty';
  const outer: Piece[] = [];
  let sum = nothing;
  let last: Piece | undefined;
  let end = 0;
  const settle = (next?: Piece) => {
    if (last !== undefined)
      sum = { ...sum, cost: sum.cost + last.cost, repeats: Math.max(sum.repeats, last.repeats) };
    last = next;
  };
  for (const { 0: text, groups = {} } of expression.matchAll(part)) {
    end += text.length;
    const { open, close, repetition, category, set, character, least, most, members } = groups;
    if (open !== undefined) {
      settle();
      outer.push({ ...sum, cost: sum.cost + costs.character });
      sum = nothing;
    } else if (close !== undefined) {
      settle();
      const around = outer.pop();
      if (around === undefined) return 'a ( is missing';
      [last, sum] = [sum, around];
    } else if (repetition !== undefined) {
      if (last === undefined) return 'a repetition has nothing to repeat';
      if (last.repeated) return 'a repetition is repeated';
      const [from, to] = [
        Number(least ?? 1),
        Number(most === undefined || most === '' ? (least ?? 1) : most),
      ];
      if (to < from) return 'a repetition ends before it begins';
      const times = Math.max(to, 1);
      last = { cost: last.cost * times, repeats: last.repeats * times, repeated: true };
      if (last.repeats > mostRepeats) return `it repeats more than ${mostRepeats} times`;
    } else if (category !== undefined) settle({ ...nothing, cost: costs.category });
    else if (set !== undefined) {
      const flaw = members === undefined ? undefined : setFlaw(members);
      if (flaw !== undefined) return flaw;
      settle({ ...nothing, cost: costs.set * (1 + (members?.length ?? 0)) });
    } else settle(character === undefined ? undefined : { ...nothing, cost: costs.character });
    if (sum.cost + (last?.cost ?? 0) > largest) return 'it is too large';
    if (outer.length > 100) return 'it is nested too deeply';
  }
  if (end < expression.length) return `'${expression.slice(end, end + 4)}' is not known to RE2`;
  return outer.length > 0 ? 'a ) is missing' : undefined;
}

function setFlaw(members: string): string | undefined {
  let end = 0;
  for (const { 0: text, groups = {} } of members.matchAll(member)) {
    end += text.length;
    const [from, to] = [groups['from'], groups['to']].map((bound) =>
      bound?.replace(/^\\/, '').codePointAt(0),
    );
    if (from !== undefined && to !== undefined && to < from)
      return `the range ${text} ends before it begins`;
  }
  return end < members.length
    ? `'${members.slice(end, end + 4)}' in [] is not known to RE2`
    : undefined;
}
