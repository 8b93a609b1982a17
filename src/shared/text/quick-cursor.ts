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
  at = 0;
  /** The place at which the line begins. */
  lineStart = 0;
  /** The column of the first sign of this line; -1 after the last line. */
  column = -1;

  constructor(text: string) {
    this.text = text;
  }

  /** NaN after the end. */
  code(): number {
    return this.text.charCodeAt(this.at);
  }

  /** Whether a key, or a dash, ends at this place. */
  isEnd(place: number): boolean {
    const code = this.text.charCodeAt(place);
    return place >= this.text.length || code === space || code === newLine;
  }

  isItem(): boolean {
    return this.code() === dash && this.isEnd(this.at + 1);
  }

  /** Whether nothing but a comment is left of the line. */
  isBare(): boolean {
    const code = this.code();
    return this.at >= this.text.length || code === newLine || code === hash;
  }

  skipSpaces(): void {
    while (this.code() === space) this.at += 1;
  }

  /** Moves from the start of a line to the first character that is not in a comment. */
  toLine(start: number): void {
    const { length } = this.text;
    for (this.lineStart = start; this.lineStart < length;) {
      this.at = this.lineStart;
      this.skipSpaces();
      this.column = this.at - this.lineStart;
      if (!this.isBare()) return;
      this.lineStart = this.#afterLine();
    }
    [this.at, this.column] = [length, -1];
  }

  toNextLine(): void {
    this.toLine(this.#afterLine());
  }

  #afterLine(): number {
    const end = this.text.indexOf('\n', this.at);
    return end === -1 ? this.text.length : end + 1;
  }

  /** Moves past blanks and a comment to the next line. Returns false if more is in the line. */
  endLine(): boolean {
    const before = this.at;
    this.skipSpaces();
    if (!this.isBare() || (this.code() === hash && this.at === before)) return false;
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
      this.lineStart = this.at + 1;
      this.at = this.lineStart;
      this.skipSpaces();
    }
    const column = this.at - this.lineStart;
    return column > around && (column > 0 || this.code() !== dot); // '...' ends a document
  }

  isQuote(): boolean {
    const code = this.code();
    return code === doubleQuote || code === singleQuote;
  }

  quoted(): string | Unsure {
    const { text } = this;
    const quotes = this.code() === singleQuote ? 'single' : 'double';
    const from = this.at + 1;
    if (quotes === 'single') {
      for (this.at = from; ; this.at += 2) {
        this.at = text.indexOf("'", this.at);
        if (this.at === -1) return unsure;
        if (text.charCodeAt(this.at + 1) !== singleQuote) break;
      }
    } else {
      for (this.at = from; this.code() !== doubleQuote; this.at += 1) {
        if (this.code() === backslash) this.at += 1;
        if (this.at >= text.length) return unsure;
      }
    }
    const inner = text.slice(from, this.at);
    this.at += 1;
    return quotedScalar(inner, quotes);
  }

  /** Reads the key that begins here, past its colon. Undefined if no key begins here. */
  key(within: 'flow' | 'block'): string | undefined | Unsure {
    const from = this.at;
    const isQuoted = this.isQuote();
    if (!isQuoted && keyStart[this.code()] !== 1) return undefined;
    const key = isQuoted ? this.quoted() : this.#plainKey();
    if (this.code() !== colon || !(this.isEnd(this.at + 1) || (within === 'flow' && isQuoted))) {
      this.at = from;
      return key === unsure ? unsure : undefined;
    }
    this.at += 1;
    const isOdd =
      key === unsure ||
      key.length > longestKey ||
      key === '__proto__' ||
      (!isQuoted && isOther(key));
    return isOdd ? unsure : key;
  }

  #plainKey(): string {
    const from = this.at;
    while (inKey[this.code()] === 1) this.at += 1;
    return this.text.slice(from, this.at);
  }

  /** Reads a scalar without quotes, to the end of its line. */
  plain(): unknown {
    const { text } = this;
    const from = this.at;
    for (; this.at < text.length && this.code() !== newLine; this.at += 1) {
      const code = this.code();
      if (code === colon && this.isEnd(this.at + 1)) return unsure;
      if (code === hash && text.charCodeAt(this.at - 1) === space) break;
    }
    return this.#scalarFrom(from);
  }

  /** Reads a scalar without quotes among brackets. */
  plainInFlow(): unknown {
    const from = this.at;
    while (
      inFlow[this.code()] === 1 ||
      (this.code() === colon && inKey[this.text.charCodeAt(this.at + 1)] === 1)
    )
      this.at += 1;
    return this.#scalarFrom(from);
  }

  #scalarFrom(from: number): unknown {
    let end = this.at;
    while (end > from && this.text.charCodeAt(end - 1) === space) end -= 1;
    this.at = end;
    return plainScalar(this.text.slice(from, end));
  }
}
