/**
 * Phrases that make a reader stumble, and what to write instead. They are also flaws in cells of
 * tables.
 */
const markers = [
  [/\ball that what\b|\bof what may\b|\bof which nothing\b/i, 'name the thing'],
  [/\banew\b/i, "'again', or 'new'"],
  [/\b(?:not|no|nothing|nobody|never|longer)\b[^.;:]*\bany more\b/i, "'no longer'"],
  [/\bso many (?:ms|seconds|bytes|times)\b/i, 'name the number'],
  [/\bfor ever\b/i, "'forever', or the limit"],
  [/\b(?:is|are|was|were) (?:told|said)\b(?! to\b)/i, 'who reports, logs or sends it'],
  [/\btold (?:of|aside|once|apart)\b/i, "'reported', 'logged' or 'distinguished'"],
  [/\bby itself\b/i, "name who does it, or 'alone'"],
  [/\bwhoever\b/i, 'name the user, client or program'],
  [/\bbut for\b/i, "'except'"],
  [/\bare the limit\b/, "'the limit is'"],
  [/\bfor (?:that|want) of\b|\bby reason of\b/i, "'because', or 'without'"],
  [/\bin place of that of\b|\bthat is none\b|\bthere is none of\b/i, 'name the thing'],
  [
    /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b|other\b|such\b|one\b)/i,
    "'is not a', or 'is not'",
  ],
  [/\bwhichever way\b|\bfrom then on\b|\blikewise\b/i, 'say which'],
  [
    /\bwhere (?:it|they|one|this|nobody|nothing|no|there (?:is|are))\b(?! (?:comes?|is|are|begins?|ends?|goes?|leads?)\b(?: from)?[.,)]?(?:\s|$))/i,
    "'if' for a condition",
  ],
];

/** Beginnings of fragments, and of conditions with *where*. */
const beginnings = [
  [/^Of /, 'a sentence begins with its subject'],
  [/^What [^?]*$/, 'a sentence begins with its subject'],
  [/^Where [^?]*$/, "'if' for a condition"],
  [/^That (?:what|which)\b/, 'a sentence begins with its subject'],
];

/** In words. */
const longest = 45;
const tooLong = `more than ${longest} words`;

/**
 * The prose of a page. Code blocks, comments, headings and the heads of tables are not prose.
 * Code stands as the word `code`.
 */
function pieces(markdown) {
  const blank = (text) => text.replace(/[^\n]/g, '');
  const prose = markdown
    .replace(/^( *)```[^]*?^\1```$/gm, blank)
    .replace(/<!--[^]*?-->/g, blank)
    .replace(/^ *\|.*\|\n(?= *\|[ :|-]+\|$)/gm, blank)
    .replace(/^#+ .*$/gm, blank)
    .replace(/!\[[^\]]*\]\([^)]*\)/g, blank)
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/`[^`]*`/g, (code) => `code${blank(code)}`)
    .replace(/<[^>\n]*>/g, '')
    .replace(/[[\]*_]/g, '');
  const prosePieces = [];
  prose.split('\n').forEach((text, index) => {
    const line = index + 1;
    if (/^ *\|[ :|-]+\|$/.test(text)) return;
    if (/^ *\|/.test(text)) {
      prosePieces.push(
        ...text
          .trim()
          .slice(1, -1)
          .split('|')
          .map((cell) => ({ kind: 'cell', line, text: cell.trim() })),
      );
      return;
    }
    const last = prosePieces.at(-1);
    const begins = /^\s*(?:[-+]|\d+\.) /.test(text);
    if (last?.kind === 'text' && !begins && text.trim() !== '' && last.text !== '')
      prosePieces[prosePieces.length - 1] = { ...last, text: `${last.text} ${text.trim()}` };
    else
      prosePieces.push({
        kind: 'text',
        line,
        text: text.replace(/^\s*(?:[-+]|\d+\.) /, '').trim(),
      });
  });
  return prosePieces.filter(({ text }) => text !== '');
}

function sentences({ text }) {
  return text.split(/(?<=[.!?][")]?)\s+(?=["(]?(?:[A-Z]|code\b))/);
}

/** The words of a sentence without code, because code does not make a sentence harder to read. */
const wordsOf = (sentence) =>
  sentence.replace(/\bcode\b/g, '').match(/[\p{L}\p{N}][\p{L}\p{N}'’.,/%-]*/gu) ?? [];

/** Everything in a page that {@link markers} and the rules of a sentence forbid. */
export function proseFlaws(markdown) {
  return pieces(markdown).flatMap((piece) =>
    sentences(piece).flatMap((sentence) =>
      [
        ...(piece.kind === 'text' ? [...markers, ...beginnings] : markers)
          .filter(([expression]) => expression.test(sentence))
          .map(([, reason]) => reason),
        ...(wordsOf(sentence).length > longest ? [tooLong] : []),
      ].map((reason) => ({ line: piece.line, sentence, reason })),
    ),
  );
}

/** The median length of the sentences outside of tables, in words; 0 if there is none. */
export function medianWords(markdown) {
  const lengths = pieces(markdown)
    .filter(({ kind }) => kind === 'text')
    .flatMap(sentences)
    .map((sentence) => wordsOf(sentence).length)
    .sort((a, b) => a - b);
  return lengths[Math.floor(lengths.length / 2)] ?? 0;
}

/**
 * The prose of a comment: without its marks, its tags and its links.
 */
function proseOf({ type, value }) {
  const marks = type === 'Block' ? /^[ \t]*\*? ?/gm : /^ /;
  return value
    .replace(/^\*/, '')
    .replace(marks, '')
    .replace(/^@\w+ ?/gm, '- ')
    .replace(/\{@link ([^}]*)\}/g, '`$1`');
}

const plainMeta = {
  type: 'suggestion',
  schema: [],
  messages: { flaw: '{{ sentence }} Plain English: {{ reason }}.' },
};

/** A text with fewer blanks consists of names. */
const proseBlanks = 2;

/**
 * Finds the flaws of {@link proseFlaws} in the strings of a file: messages, help and errors. The
 * length of a sentence does not count, because scripts for a shell are strings too.
 */
export const plainStrings = {
  meta: plainMeta,
  create(context) {
    const check = (node, text) => {
      if (text.split(' ').length <= proseBlanks) return;
      for (const { sentence, reason } of proseFlaws(text.trim()))
        if (reason !== tooLong)
          context.report({ node, messageId: 'flaw', data: { sentence, reason } });
    };
    return {
      Literal: (node) => typeof node.value === 'string' && check(node, node.value),
      TemplateLiteral: (node) =>
        check(node, node.quasis.map(({ value }) => value.cooked ?? value.raw).join('`value`')),
    };
  },
};

/** Finds the flaws of {@link proseFlaws} in the comments of a file. */
export const plainComments = {
  meta: plainMeta,
  create(context) {
    const { sourceCode } = context;
    return {
      Program() {
        const paragraphs = [];
        for (const comment of sourceCode.getAllComments()) {
          const last = paragraphs.at(-1);
          const isSameParagraph =
            comment.type === 'Line' &&
            last?.type === 'Line' &&
            last.end === comment.loc.start.line - 1 &&
            last.column === comment.loc.start.column;
          const { line, column } = comment.loc.start;
          if (isSameParagraph) {
            last.prose += `\n${proseOf(comment)}`;
            last.end = line;
          } else
            paragraphs.push({
              type: comment.type,
              line,
              column,
              end: line,
              prose: proseOf(comment),
            });
        }
        for (const { line, column, prose } of paragraphs)
          for (const flaw of proseFlaws(prose))
            context.report({
              loc: { line: line + flaw.line - 1, column },
              messageId: 'flaw',
              data: { sentence: flaw.sentence, reason: flaw.reason },
            });
      },
    };
  },
};

/** Names that say nothing about the value that they hold. */
const emptyNames = new Set(
  'found known own told made one its at of taken held fresh settled asked said seen'.split(' '),
);

/** The names among them that a reader does not understand after a dot either. */
const emptyMembers = new Set('known told made asked said seen found fresh settled'.split(' '));

const kinds = new Set(['Variable', 'Parameter', 'FunctionName']);

/**
 * Finds variables, parameters and functions whose name says nothing, also with a `$`. The test
 * helper `at`, which draws times, is allowed. Members of types are flaws only if they are in
 * `emptyMembers`.
 */
export const sayingNames = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: { empty: "'{{ name }}' does not say what it holds." },
  },
  create({ report, sourceCode }) {
    const withoutMark = (name) => name.replace(/\$$/, '');
    return {
      TSPropertySignature({ key }) {
        if (key.type === 'Identifier' && emptyMembers.has(withoutMark(key.name)))
          report({ node: key, messageId: 'empty', data: { name: key.name } });
      },
      'Program:exit'() {
        for (const { name, defs } of sourceCode.scopeManager.scopes.flatMap(
          ({ variables }) => variables,
        ))
          for (const { type, name: node } of defs)
            if (
              kinds.has(type) &&
              emptyNames.has(withoutMark(name)) &&
              !(type === 'FunctionName' && name === 'at')
            )
              report({ node, messageId: 'empty', data: { name } });
      },
    };
  },
};
