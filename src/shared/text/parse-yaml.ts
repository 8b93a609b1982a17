import type * as Yaml from 'yaml';
import { mostLevels, valueFlaw, type ValueLimits } from './levels.ts';
import { atOnce, tokensPerStep, type Steps } from './steps.ts';

/** The documents of a text with its lines, or the place where it is nested too deep. */
export type ParsedYaml =
  | {
      readonly ok: true;
      readonly documents: readonly Yaml.Document.Parsed[];
      readonly lines: Yaml.LineCounter;
    }
  | { readonly ok: false; readonly reason: string; readonly line: number; readonly column: number };

/** The limits of a text. */
export interface YamlLimits {
  /** Infinity for a text of the program's own. */
  readonly levels?: number;
  /** The most tokens of the lexer. */
  readonly tokens?: number;
}

type Options = Yaml.ParseOptions & Yaml.DocumentOptions & Yaml.SchemaOptions;

/**
 * Parses YAML, which includes JSON. Only this function calls the YAML parser. The parser puts
 * tokens together without recursion, and this counts their levels. Documents are made of them by
 * recursion. If a text nests too deep, none is made: V8 ends the process if a regular expression is
 * compiled on a stack that is nearly full. Pure; throws nothing.
 *
 * @param yaml the package, which some callers load only when they need it
 */
export function parseYaml(
  yaml: typeof Yaml,
  text: string,
  options: Options,
  limits: YamlLimits = {},
): ParsedYaml {
  return atOnce(parseYamlInSteps(yaml, text, options, limits));
}

/** Does the same in steps. The longest step makes a document of its tokens. */
export function* parseYamlInSteps(
  yaml: typeof Yaml,
  text: string,
  options: Options,
  { levels = mostLevels, tokens: most = Infinity }: YamlLimits = {},
): Steps<ParsedYaml> {
  const lines = new yaml.LineCounter();
  lines.addNewLine(0);
  const parser = new yaml.Parser(lines.addNewLine);
  const tokens: Yaml.CST.Token[] = [];
  let count = 0;
  let mayHaveAliases = false;
  for (const lexeme of new yaml.Lexer().lex(text)) {
    if ((count += 1) > most) {
      const reason = `it has more than ${most} YAML tokens, which is the limit`;
      return { ok: false, reason, line: 1, column: 1 };
    }
    mayHaveAliases ||= lexeme.startsWith('*');
    const { offset } = parser;
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (isDeeper(parser.stack, levels)) {
      const { line, col } = lines.linePos(offset);
      const reason = `it is nested more than ${levels} levels deep`;
      return { ok: false, reason, line, column: col };
    }
    if (count % tokensPerStep === 0) yield;
  }
  for (const token of parser.end()) tokens.push(token);
  // A warning of the parser contains text of the document, and would go to stderr.
  const composeOptions = {
    logLevel: 'error',
    prettyErrors: false,
    ...options,
    uniqueKeys: false,
  } as const;
  const documents: Yaml.Document.Parsed[] = [];
  for (const document of new yaml.Composer(composeOptions).compose(tokens)) {
    if (mayHaveAliases) refuseManyAliases(yaml, document);
    documents.push(document);
    yield;
  }
  if (options.uniqueKeys !== false)
    for (const document of documents) yield* refuseSecondKeys(yaml, document);
  return {
    ok: true,
    documents: documents.length === 0 ? [yaml.parseDocument(text, composeOptions)] : documents,
    lines,
  };
}

const collections: ReadonlySet<string> = new Set(['block-map', 'block-seq', 'flow-collection']);

/** Whether more lists and maps than `most` are open. Most texts have fewer open nodes than that. */
function isDeeper(open: readonly Yaml.CST.Token[], most: number): boolean {
  return open.length > most && open.filter(({ type }) => collections.has(type)).length > most;
}

/** Refuses repeated keys. The parser's own check compares each key with each one before it. */
function* refuseSecondKeys(
  { isMap, isScalar, isSeq, isPair, YAMLParseError }: typeof Yaml,
  document: Yaml.Document.Parsed,
): Steps<void> {
  let count = 0;
  const open: unknown[] = [document.contents];
  while (open.length > 0) {
    const node = open.pop();
    if (isMap(node) || isSeq(node)) for (const item of node.items) open.push(item);
    if (isPair(node)) open.push(node.key, node.value);
    if ((count += 1) % tokensPerStep === 0) yield;
    if (!isMap(node)) continue;
    const keys = new Set<unknown>();
    for (const { key } of node.items) {
      if (!isScalar(key)) continue;
      const offset = key.range?.[0] ?? 0;
      if (keys.has(key.value))
        document.errors.push(
          new YAMLParseError([offset, offset + 1], 'DUPLICATE_KEY', 'Map keys must be unique'),
        );
      keys.add(key.value);
    }
  }
}

/** The most aliases of a document: the package looks for the anchor of each in a list. */
const mostAliases = 1_000;
/** The most copies of an anchor that aliases may make, with the aliases inside it. */
const mostCopies = 100;

/**
 * Refuses aliases that would expand to too much. The package has the same limit of copies, but
 * searches the whole document for each alias inside an anchor, so its check is never used.
 */
function refuseManyAliases(
  { isAlias, isCollection, isNode, isPair, YAMLParseError }: typeof Yaml,
  document: Yaml.Document.Parsed,
): void {
  if (document.errors.length > 0) return;
  const anchors = new Map<string, { count: number; copies: number }>();
  let aliases = 0;
  let first: number | undefined;
  /** Returns how often the most copied alias inside a node is copied, and 1 for a scalar. */
  const copiesIn = (node: unknown): number => {
    if (isPair(node)) return Math.max(copiesIn(node.key), copiesIn(node.value));
    if (isAlias(node)) {
      aliases += 1;
      const anchor = anchors.get(node.source);
      if (anchor !== undefined) anchor.count += 1;
      const copies = anchor === undefined ? 0 : anchor.count * anchor.copies;
      if (aliases > mostAliases || copies > mostCopies) first ??= node.range?.[0] ?? 0;
      return copies;
    }
    if (!isNode(node)) return 1;
    const anchor = { count: 1, copies: 0 };
    if (node.anchor !== undefined) anchors.set(node.anchor, anchor);
    anchor.copies = isCollection(node)
      ? node.items.reduce((most: number, item) => Math.max(most, copiesIn(item)), 0)
      : 1;
    return anchor.copies;
  };
  copiesIn(document.contents);
  if (first !== undefined)
    document.errors.push(
      new YAMLParseError([first, first + 1], 'BAD_ALIAS', 'There are too many aliases'),
    );
}

/** A YAML value in JavaScript, or why it is not read. */
export type YamlValue =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string };

/** The limits of a document or a resource. */
const usual: ValueLimits = { values: 1_000_000, levels: mostLevels };

/**
 * Returns the value of a node, in a document without errors. Its size with all aliases is limited,
 * and it never contains itself. Pure.
 */
export function valueOfYaml(
  document: Yaml.Document.Parsed,
  node: Yaml.ParsedNode | null = document.contents,
  limits = usual,
): YamlValue {
  try {
    const value: unknown = node?.toJS(document, { maxAliasCount: -1 }) ?? null;
    const reason = valueFlaw(value, limits);
    return reason === undefined ? { ok: true, value } : { ok: false, reason };
  } catch {
    return { ok: false, reason: 'an alias has no anchor' };
  }
}
