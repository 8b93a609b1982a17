import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

export const read = (path: string) => readFileSync(path, 'utf8');

/** The paths of all modules of the program. */
export const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join('src', name));

/** Visits each node of a file. */
function visit(file: string, see: (node: ts.Node) => void): void {
  const each = (node: ts.Node): void => {
    see(node);
    ts.forEachChild(node, each);
  };
  each(ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true));
}

/** Returns the string literals in a file, and the pieces of its templates. */
export function literals(file: string): readonly string[] {
  const texts: string[] = [];
  visit(file, (node) => {
    if (
      ts.isStringLiteralLike(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddleOrTemplateTail(node)
    )
      texts.push(node.text);
  });
  return texts;
}

/** Returns the string literals in a file, and its templates with `N` for each expression. */
export function templates(file: string): readonly string[] {
  const texts: string[] = [];
  visit(file, (node) => {
    if (ts.isStringLiteralLike(node)) texts.push(node.text);
    if (ts.isTemplateExpression(node))
      texts.push(
        node.head.text + node.templateSpans.map(({ literal }) => `N${literal.text}`).join(''),
      );
  });
  return texts;
}

/** A line of the log, as the source code has it: its event, and the names of its fields. */
export interface WrittenLine {
  readonly event: string;
  readonly fields: readonly string[];
}

/** Returns the lines that a file logs: one for each event of a call of `line`. */
export function writtenLines(file: string): readonly WrittenLine[] {
  const lines: WrittenLine[] = [];
  const textsIn = (node: ts.Node | undefined): readonly string[] => {
    if (node === undefined) return [];
    if (ts.isStringLiteralLike(node)) return [node.text];
    return ts.isConditionalExpression(node)
      ? [...textsIn(node.whenTrue), ...textsIn(node.whenFalse)]
      : [];
  };
  visit(file, (node) => {
    if (!ts.isCallExpression(node) || node.expression.getText() !== 'line') return;
    const [event, given] = node.arguments;
    const fields =
      given !== undefined && ts.isObjectLiteralExpression(given)
        ? given.properties.flatMap(({ name }) => (name === undefined ? [] : [name.getText()]))
        : [];
    for (const text of textsIn(event)) lines.push({ event: text, fields });
  });
  return lines;
}
