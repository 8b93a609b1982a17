import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as ts from 'typescript';
import { seeded } from '../chaos/seeded.ts';
import type { DrawnMutant } from './mutant.ts';

/** A replacement of a piece of a file. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly replace: string;
  /** The mistake, as reports show it. */
  readonly shown: string;
}

const kinds = ts.SyntaxKind;
/** The operators, and the ones that a mistake puts in their place. */
const operators = new Map<ts.SyntaxKind, string>([
  [kinds.EqualsEqualsEqualsToken, '!=='],
  [kinds.ExclamationEqualsEqualsToken, '==='],
  [kinds.AmpersandAmpersandToken, '||'],
  [kinds.BarBarToken, '&&'],
  [kinds.QuestionQuestionToken, '&&'],
  [kinds.LessThanToken, '<='],
  [kinds.LessThanEqualsToken, '<'],
  [kinds.GreaterThanToken, '>='],
  [kinds.GreaterThanEqualsToken, '>'],
  [kinds.MinusToken, '+'],
]);
const methods = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['find', 'findLast'],
  ['endsWith', 'startsWith'],
  ['startsWith', 'endsWith'],
]);

/** Whether a number is the name of a member, as in `{ 404: 'not found' }`. */
const isName = (node: ts.NumericLiteral): boolean =>
  ts.isPropertyAssignment(node.parent) && node.parent.name === node;

/** Returns the mistakes of one word that can be made in a text of TypeScript. Pure. */
export function editsOf(code: string): readonly Edit[] {
  const source = ts.createSourceFile('file.ts', code, ts.ScriptTarget.Latest, true);
  const edits: Edit[] = [];
  const textOf = (node: ts.Node) => node.getText(source);
  const add = (node: ts.Node, replace: string, shown = `${textOf(node)} → ${replace}`) =>
    edits.push({ start: node.getStart(source), end: node.getEnd(), replace, shown });
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) {
      const [operator, other] = [node.operatorToken, operators.get(node.operatorToken.kind)];
      // The brackets are necessary: `??` does not parse beside `&&` and `||`.
      const text = `((${textOf(node.left)}) ${other ?? ''} (${textOf(node.right)}))`;
      if (other !== undefined) add(node, text, `${textOf(operator)} → ${other}`);
    } else if (ts.isConditionalExpression(node)) {
      add(node.condition, `!(${textOf(node.condition)})`);
    } else if (ts.isIfStatement(node)) {
      add(node.expression, `!(${textOf(node.expression)})`);
      add(node.expression, 'false');
    } else if (ts.isPrefixUnaryExpression(node) && node.operator === kinds.ExclamationToken) {
      add(node, textOf(node.operand));
    } else if (ts.isNumericLiteral(node) && !isName(node)) {
      add(node, `(${textOf(node)} + 1)`);
    } else if (ts.isPropertyAccessExpression(node)) {
      const other = methods.get(node.name.text);
      if (other !== undefined) add(node.name, other);
    } else if (ts.isSpreadAssignment(node)) {
      add(node, '...{}');
    } else if (ts.isSpreadElement(node)) {
      add(node, '...[]');
    } else if (node.kind === kinds.TrueKeyword) {
      add(node, 'false');
    } else if (node.kind === kinds.FalseKeyword) {
      add(node, 'true');
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return edits;
}

/**
 * Draws mutants: each is one mistake of one word, in one of the files. The same seed gives the same
 * mutants. An id has the file, the line, and the mistake.
 *
 * @param isChosen whether a file takes part, by its path below src
 */
export function drawMutants(
  isChosen: (file: string) => boolean,
  count: number,
  seed: number,
): readonly DrawnMutant[] {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.includes('/proto/') && isChosen(path))
    .sort();
  const all = files.flatMap((file) => {
    const code = readFileSync(join('src', file), 'utf8');
    return editsOf(code).map((edit) => mutantOf(file, code, edit));
  });
  const random = seeded(seed);
  return all
    .map((mutant) => ({ mutant, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, count)
    .map(({ mutant }) => mutant);
}

function mutantOf(file: string, code: string, { shown, ...edit }: Edit): DrawnMutant {
  const line = code.slice(0, edit.start).split('\n').length;
  return { id: `${file}:${line} ${shown.replaceAll(/\s+/g, ' ').slice(0, 80)}`, file, ...edit };
}
