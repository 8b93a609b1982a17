// Why: docs/decisions/091-filters-of-access-logs-are-checked-here.md
import { regexFlaw } from '../../../shared/text/regex-flaw.ts';
import { type CelToken, celTokens } from './cel-tokens.ts';

/** The largest number of characters of an expression. */
const mostCharacters = 4_096;
/**
 * The largest number of levels of an expression. Envoy reads 32, and counts them a little
 * differently.
 */
const mostLevels = 24;

const reserved = new Set(
  `as break const continue else false for function if import in let loop namespace null package return true var void while`.split(
    ' ',
  ),
);
/** Words that are not valid names of fields. */
const words = new Set(['true', 'false', 'null', 'in']);

/** The functions of Envoy, and how each may be called. */
const functions: Readonly<Record<string, readonly ('global' | 'receiver')[]>> = {
  contains: ['global', 'receiver'],
  endsWith: ['global', 'receiver'],
  matches: ['global', 'receiver'],
  size: ['global', 'receiver'],
  startsWith: ['global', 'receiver'],
  bool: ['global'],
  bytes: ['global'],
  double: ['global'],
  duration: ['global'],
  dyn: ['global'],
  int: ['global'],
  timestamp: ['global'],
  type: ['global'],
  uint: ['global'],
};
const ofTwo = new Set(['contains', 'endsWith', 'matches', 'startsWith']);
const ofTimes = new Set(
  `getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear getHours getMilliseconds getMinutes getMonth getSeconds`.split(
    ' ',
  ),
);
const loops = new Set(['all', 'exists', 'exists_one', 'filter', 'map']);

/** Returns whether Envoy has a function with this name and number of arguments. */
function isFunction(name: string, call: 'global' | 'receiver', given: number): boolean {
  if (ofTimes.has(name)) return call === 'receiver' && given <= 1;
  const allowedCalls = Object.hasOwn(functions, name) ? functions[name] : undefined;
  const operands = given + (call === 'receiver' ? 1 : 0);
  return allowedCalls?.includes(call) === true && operands === (ofTwo.has(name) ? 2 : 1);
}

/** A part of an expression: its levels, and whether it is a field of something or a name. */
interface Part {
  readonly levels: number;
  readonly is: 'field' | 'name' | 'other';
  /** The content of a text literal without escapes. */
  readonly text?: string | undefined;
}

/** The result of reading: the first mistake, and the names that the expression looks up. */
export interface CelReading {
  /** Why Envoy refuses the expression; undefined if it does not. */
  readonly flaw: string | undefined;
  readonly roots: ReadonlySet<string>;
}

/** Reads a filter of an access log as Envoy does: an expression of CEL without loops. Pure. */
export function readCel(expression: string): CelReading {
  if (expression.length > mostCharacters)
    return { flaw: `it has more than ${mostCharacters} characters`, roots: new Set() };
  const reader = new CelReader(celTokens(expression));
  reader.whole();
  return { flaw: reader.flaw, roots: reader.roots };
}

const relations = ['==', '!=', '<', '<=', '>', '>=', 'in'];

type NumberSign = 'positive' | 'negative';

/** Reads the words once, up to the first flaw. */
class CelReader {
  flaw: string | undefined;
  readonly roots = new Set<string>();
  readonly #tokens: readonly CelToken[];
  #next = 0;
  #open = 0;

  constructor(tokens: readonly CelToken[]) {
    this.#tokens = tokens;
  }

  whole(): void {
    this.#expression();
    if (this.#token.kind !== 'end') this.#unexpected();
  }

  get #token(): CelToken {
    return this.#tokens[this.#next] ?? { kind: 'end', text: '', position: 0 };
  }

  #wrong(reason: string, { position } = this.#token): void {
    this.flaw ??= `at character ${position + 1}: ${reason}`;
    this.#next = this.#tokens.length;
  }

  #unexpected(): void {
    const { kind, text } = this.#token;
    if (this.#next >= this.#tokens.length) return;
    if (kind === 'end') this.#wrong('it ends too early');
    else this.#wrong(`${text} cannot be here`);
  }

  #takes(...signs: readonly string[]): boolean {
    const { kind, text } = this.#token;
    if ((kind !== 'sign' && text !== 'in') || kind === 'text' || !signs.includes(text))
      return false;
    this.#next += 1;
    return true;
  }

  #needs(sign: string): void {
    if (!this.#takes(sign)) this.#unexpected();
  }

  /** Adds a level around parts. */
  #around(...inner: readonly Part[]): Part {
    const levels = 1 + Math.max(0, ...inner.map((part) => part.levels));
    if (levels > mostLevels) this.#wrong(`it has more than ${mostLevels} levels`);
    return { levels, is: 'other' };
  }

  #expression(): Part {
    this.#open += 1;
    if (this.#open > mostLevels) this.#wrong(`it has more than ${mostLevels} levels`);
    const part = this.#choice();
    this.#open -= 1;
    return part;
  }

  #choice(): Part {
    const condition = this.#either();
    if (!this.#takes('?')) return condition;
    const then = this.#either();
    this.#needs(':');
    return this.#around(condition, then, this.#expression());
  }

  #either(): Part {
    return this.#balanced('||', () => this.#balanced('&&', () => this.#relation()));
  }

  /** Reads operands in a row, of which Envoy makes a balanced tree. */
  #balanced(sign: string, operand: () => Part): Part {
    const parts = [operand()];
    while (this.#takes(sign)) parts.push(operand());
    const [first] = parts;
    if (parts.length === 1 && first !== undefined) return first;
    const levels = Math.max(...parts.map((part) => part.levels));
    return this.#around({ levels: levels + Math.ceil(Math.log2(parts.length)) - 1, is: 'other' });
  }

  #relation(): Part {
    return this.#chain(relations, () =>
      this.#chain(['+', '-'], () => this.#chain(['*', '/', '%'], () => this.#unary())),
    );
  }

  #chain(signs: readonly string[], operand: () => Part): Part {
    let part = operand();
    while (this.#takes(...signs)) part = this.#around(part, operand());
    return part;
  }

  /** Reads a row of `!`, or of `-`. Only the sign of a number may follow a `!`. */
  #unary(): Part {
    if (this.#takes('!')) {
      while (this.#takes('!'));
      return this.#around(this.#takes('-') ? this.#negative() : this.#member());
    }
    if (!this.#takes('-')) return this.#member();
    while (this.#takes('-'));
    return this.#around(this.#token.kind === 'number' ? this.#negative() : this.#member());
  }

  /** Reads the number after a sign, and what follows it. */
  #negative(): Part {
    if (this.#token.kind === 'number') return this.#member('negative');
    this.#unexpected();
    return { levels: 1, is: 'other' };
  }

  #member(number: NumberSign = 'positive'): Part {
    let part = this.#primary(number);
    for (;;) {
      if (this.#takes('.')) part = this.#selected(part);
      else if (this.#takes('[')) {
        const index = this.#expression();
        this.#needs(']');
        part = this.#around(part, index);
      } else {
        const { kind, text } = this.#token;
        if (kind === 'sign' && text === '{' && part.is !== 'other')
          this.#wrong('a message cannot be made here');
        return part;
      }
    }
  }

  /** Reads a field of a part, or a call of one of its functions. */
  #selected(part: Part): Part {
    const name = this.#token;
    if (name.kind !== 'name' || words.has(name.text)) {
      this.#unexpected();
      return part;
    }
    this.#next += 1;
    if (!this.#takes('(')) return { ...this.#around(part), is: 'field' };
    const given = this.#list(')');
    this.#call(name, 'receiver', given);
    return this.#around(part, ...given);
  }

  #primary(number: NumberSign): Part {
    const { kind, text } = this.#token;
    if (kind === 'number' || kind === 'text') return this.#literal(number);
    if (this.#takes('(')) {
      const part = this.#expression();
      this.#needs(')');
      return this.#around(part);
    }
    if (this.#takes('[')) return this.#around(...this.#list(']'));
    if (this.#takes('{')) return this.#around(...this.#entries());
    this.#takes('.');
    const name = this.#token;
    if (kind === 'name' && ['true', 'false', 'null'].includes(text)) {
      this.#next += 1;
      return { levels: 1, is: 'other' };
    }
    if (name.kind !== 'name' || words.has(name.text)) {
      this.#unexpected();
      return { levels: 1, is: 'other' };
    }
    this.#next += 1;
    if (this.#takes('(')) return this.#global(name);
    if (reserved.has(name.text)) this.#wrong(`${name.text} is a reserved word of CEL`, name);
    this.roots.add(name.text);
    return { levels: 1, is: 'name' };
  }

  #global(name: CelToken): Part {
    const given = this.#list(')');
    if (name.text !== 'has' || given.length !== 1) this.#call(name, 'global', given);
    else if (given[0]?.is !== 'field')
      this.#wrong('has() takes a field: has(request.headers.name)', name);
    return this.#around(...given);
  }

  #call(name: CelToken, call: 'global' | 'receiver', given: readonly Part[]): void {
    if (this.flaw !== undefined) return;
    if (!isFunction(name.text, call, given.length)) {
      const why = loops.has(name.text)
        ? `Envoy has no loops such as ${name.text}()`
        : `Envoy has no ${call === 'receiver' ? '.' : ''}${name.text}() of ${given.length} arguments`;
      this.#wrong(why, name);
    }
    const expression = name.text === 'matches' ? given.at(-1)?.text : undefined;
    const flaw = expression === undefined ? undefined : regexFlaw(expression);
    if (flaw !== undefined)
      this.#wrong(`'${expression ?? ''}' is not a regular expression of RE2: ${flaw}`, name);
  }

  /** Reads expressions up to the sign that ends them. A list may end with a comma. */
  #list(end: ')' | ']'): readonly Part[] {
    const parts: Part[] = [];
    while (!this.#takes(end)) {
      if (this.#next >= this.#tokens.length) return parts;
      parts.push(this.#expression());
      if (this.#takes(',') && (end === ']' || !this.#isSign(end))) continue;
      this.#needs(end);
      return parts;
    }
    return parts;
  }

  #isSign(sign: string): boolean {
    const { kind, text } = this.#token;
    return kind === 'sign' && text === sign;
  }

  #entries(): readonly Part[] {
    const parts: Part[] = [];
    while (!this.#takes('}')) {
      if (this.#next >= this.#tokens.length) return parts;
      parts.push(this.#expression());
      this.#needs(':');
      parts.push(this.#expression());
      if (this.#takes(',')) continue;
      this.#needs('}');
      return parts;
    }
    return parts;
  }

  #literal(number: NumberSign): Part {
    const { kind, text } = this.#token;
    const flaw = kind === 'number' ? numberFlaw(text, number) : textFlaw(text);
    if (flaw !== undefined) this.#wrong(flaw);
    else this.#next += 1;
    return { levels: 1, is: 'other', text: kind === 'text' ? plainText(text) : undefined };
  }
}

function numberFlaw(text: string, number: NumberSign): string | undefined {
  if (!/^(?:0x[\da-f]+|\d+)u?$/i.test(text)) return undefined;
  const isUnsigned = /u$/i.test(text);
  const most = isUnsigned ? 2n ** 64n - 1n : 2n ** 63n - (number === 'negative' ? 0n : 1n);
  return BigInt(text.replace(/u$/i, '')) <= most
    ? undefined
    : `${text} is more than ${String(most)}`;
}

function textFlaw(text: string): string | undefined {
  if (/^[bB]?[rR]/.test(text)) return undefined;
  const codes = [...text.matchAll(/\\(?:u([\da-fA-F]{4})|U([\da-fA-F]{8})|[^])/g)].flatMap(
    ([, short, long]) => short ?? long ?? [],
  );
  if (codes.length > 0 && /^b/i.test(text)) return 'bytes have no characters of Unicode';
  const bad = codes.find((code) => {
    const point = parseInt(code, 16);
    return point > 0x10ffff || (point >= 0xd800 && point < 0xe000);
  });
  return bad === undefined ? undefined : `${bad} is not a character of Unicode`;
}

/** Returns the content of a text literal; undefined for bytes, and if it has escapes. */
function plainText(text: string): string | undefined {
  const [, prefix = '', quote = '', inner = ''] =
    /^([a-z]*)("""|'''|"|')([^]*)\2$/i.exec(text) ?? [];
  if (/b/i.test(prefix) || quote === '') return undefined;
  if (prefix !== '') return inner;
  const escapes = inner.match(/\\[^]/g) ?? [];
  return escapes.every((escape) => escape === '\\\\') ? inner.replaceAll('\\\\', '\\') : undefined;
}
