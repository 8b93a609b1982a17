/** The widest line of the source, as mandoc counts. Only a word may be wider. */
const width = 78;

/**
 * Turns Markdown into roff. Code becomes bold, and a link becomes its text. No line becomes a
 * request.
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

/** A term, which is roff already, and its meaning. */
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

/** Escapes a line that begins with a dot or an apostrophe, which would be a request. */
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
