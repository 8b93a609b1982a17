import {
  codes,
  inKey,
  isOther,
  plainScalar,
  quotedScalar,
  setOf,
  unsure,
  type Unsure,
} from './quick-scalar.ts';

/** The largest number of characters of a key. YAML allows 1,024 if no `?` announces the key. */
const longestKey = 256;

const [newLine, space, doubleQuote, hash, singleQuote, dash, dot, colon, backslash] =
  codes('\n "#\'-.:\\');
const keyStart = setOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_');
/** Characters of a scalar without quotes among brackets. */
const inFlow = setOf(' ~^$@%+*()<>;=!?&|', inKey);

/** A place in a text of YAML, which moves past what it reads. */
export class QuickCursor {
  readonly text: string;
  position = 0;
  /** The place at which the line begins. */
  lineStart = 0;
  /** The column of the first character of this line; -1 after the last line. */
  column = -1;

  constructor(text: string) {
    this.text = text;
  }

  /** Returns the code of the next character; NaN after the end. */
  code(): number {
    return this.text.charCodeAt(this.position);
  }

  /** Whether a key, or a dash, ends at this place. */
  isEnd(place: number): boolean {
    const code = this.text.charCodeAt(place);
    return place >= this.text.length || code === space || code === newLine;
  }

  isItem(): boolean {
    return this.code() === dash && this.isEnd(this.position + 1);
  }

  /** Whether the rest of the line is empty or a comment. */
  isBare(): boolean {
    const code = this.code();
    return this.position >= this.text.length || code === newLine || code === hash;
  }

  skipSpaces(): void {
    while (this.code() === space) this.position += 1;
  }

  /** Moves from the start of a line past spaces and comments to the next character. */
  toLine(start: number): void {
    const { length } = this.text;
    for (this.lineStart = start; this.lineStart < length;) {
      this.position = this.lineStart;
      this.skipSpaces();
      this.column = this.position - this.lineStart;
      if (!this.isBare()) return;
      this.lineStart = this.#afterLine();
    }
    [this.position, this.column] = [length, -1];
  }

  toNextLine(): void {
    this.toLine(this.#afterLine());
  }

  #afterLine(): number {
    const end = this.text.indexOf('\n', this.position);
    return end === -1 ? this.text.length : end + 1;
  }

  /** Moves past blanks and a comment to the next line. Returns false if the line has other text. */
  endLine(): boolean {
    const before = this.position;
    this.skipSpaces();
    if (!this.isBare() || (this.code() === hash && this.position === before)) return false;
    this.toNextLine();
    return true;
  }

  /**
   * Skips blanks among brackets. Returns false if a line begins too far left to be within the block
   * around them.
   */
  skipBlanks(around: number): boolean {
    this.skipSpaces();
    if (this.code() !== newLine) return true;
    while (this.code() === newLine) {
      this.lineStart = this.position + 1;
      this.position = this.lineStart;
      this.skipSpaces();
    }
    const column = this.position - this.lineStart;
    return column > around && (column > 0 || this.code() !== dot); // '...' ends a document
  }

  isQuote(): boolean {
    const code = this.code();
    return code === doubleQuote || code === singleQuote;
  }

  quoted(): string | Unsure {
    const { text } = this;
    const quotes = this.code() === singleQuote ? 'single' : 'double';
    const from = this.position + 1;
    if (quotes === 'single') {
      for (this.position = from; ; this.position += 2) {
        this.position = text.indexOf("'", this.position);
        if (this.position === -1) return unsure;
        if (text.charCodeAt(this.position + 1) !== singleQuote) break;
      }
    } else {
      for (this.position = from; this.code() !== doubleQuote; this.position += 1) {
        if (this.code() === backslash) this.position += 1;
        if (this.position >= text.length) return unsure;
      }
    }
    const inner = text.slice(from, this.position);
    this.position += 1;
    return quotedScalar(inner, quotes);
  }

  /** Reads the key that begins here, past its colon. Undefined if no key begins here. */
  key(within: 'flow' | 'block'): string | undefined | Unsure {
    const from = this.position;
    const isQuoted = this.isQuote();
    if (!isQuoted && keyStart[this.code()] !== 1) return undefined;
    const key = isQuoted ? this.quoted() : this.#plainKey();
    if (
      this.code() !== colon ||
      !(this.isEnd(this.position + 1) || (within === 'flow' && isQuoted))
    ) {
      this.position = from;
      return key === unsure ? unsure : undefined;
    }
    this.position += 1;
    const isOdd =
      key === unsure ||
      key.length > longestKey ||
      key === '__proto__' ||
      (!isQuoted && isOther(key));
    return isOdd ? unsure : key;
  }

  #plainKey(): string {
    const from = this.position;
    while (inKey[this.code()] === 1) this.position += 1;
    return this.text.slice(from, this.position);
  }

  /** Reads a scalar without quotes, to the end of its line. */
  plain(): unknown {
    const { text } = this;
    const from = this.position;
    for (; this.position < text.length && this.code() !== newLine; this.position += 1) {
      const code = this.code();
      if (code === colon && this.isEnd(this.position + 1)) return unsure;
      if (code === hash && text.charCodeAt(this.position - 1) === space) break;
    }
    return this.#scalarFrom(from);
  }

  /** Reads a scalar without quotes among brackets. */
  plainInFlow(): unknown {
    const from = this.position;
    while (
      inFlow[this.code()] === 1 ||
      (this.code() === colon && inKey[this.text.charCodeAt(this.position + 1)] === 1)
    )
      this.position += 1;
    return this.#scalarFrom(from);
  }

  #scalarFrom(from: number): unknown {
    let end = this.position;
    while (end > from && this.text.charCodeAt(end - 1) === space) end -= 1;
    this.position = end;
    return plainScalar(this.text.slice(from, end));
  }
}
