/** The widest line of the source, but for one with a word that is wider: as mandoc counts. */
const width = 78;

/**
 * Text as roff has it. What is code becomes bold, and of a link the words stay. No line is taken
 * for a request.
 */
export function roff(text: string): string {
  const plain = text.replace(/\[((?:`[^`]*`|[^\]`])*)\]\([^)]*\)/g, '$1').replaceAll('**', '');
  return plain
    .split(/(`[^`]*`)/)
    .map((piece) => (piece.startsWith('`') ? bold(piece.slice(1, -1)) : escaped(piece)))
    .join('')
    .split('\n')
    .map((line) => wrap(line))
    .join('\n');
}

export function bold(text: string): string {
  return `\\fB${escaped(text)}\\fR`;
}

/** Heading of a section. */
export function heading(title: string, ...blocks: readonly string[]): string {
  return [`.SH ${title.toUpperCase()}`, ...blocks].join('\n');
}

/** Heading below that of a section. */
export function subheading(title: string, ...blocks: readonly string[]): string {
  return [`.SS "${escaped(title)}"`, ...blocks].join('\n');
}

/** A term, which is roff already, and what it means. */
export function term(words: string, text: string): string {
  return `.TP\n${protectedLine(words)}\n${roff(text)}`;
}

export function paragraph(text: string): string {
  return `.PP\n${roff(text)}`;
}

/** Lines that stay as they are. */
export function literal(text: string): string {
  const lines = text.split('\n').map((line) => protectedLine(escaped(line)));
  return ['.PP', '.nf', ...lines, '.fi'].join('\n');
}

function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replaceAll('–', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replaceAll('`', '\\(ga');
}

/** A line that begins with a dot or an apostrophe would be a request. */
function protectedLine(line: string): string {
  return /^[.']/.test(line) ? `\\&${line}` : line;
}

function wrap(text: string): string {
  const lines = text
    .trim()
    .split(/ +/)
    .reduce<readonly string[]>((before, word) => {
      const line = before.at(-1) ?? '';
      const isNew =
        line === '' ||
        `${line} ${word}`.replace(/[^ -~]/g, '\\[u0000]').length > width ||
        /[.:]$/.test(line);
      return isNew ? [...before, word] : [...before.slice(0, -1), `${line} ${word}`];
    }, []);
  return lines.map(protectedLine).join('\n');
}
