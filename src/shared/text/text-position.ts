import type * as Yaml from 'yaml';
import { parseYaml } from './parse-yaml.ts';

/** A position in a text; both numbers count from 1. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** The positions of a member. */
interface Member {
  readonly name: TextPosition;
  readonly value: TextPosition;
}

/** Finds the position of the last part of a path that exists in the text. */
export type FindMember = (path: string) => Member;

const first: TextPosition = { line: 1, column: 1 };

/**
 * Returns a function that finds members of a text of YAML or JSON by paths such as
 * `sources[0].url`. If the text does not have a path, it finds the part that exists. Loads the YAML
 * parser, which knows the place of each value. The text must be valid.
 */
export async function findMembers(text: string): Promise<FindMember> {
  const yaml = await import('yaml');
  const parsed = parseYaml(yaml, text, { merge: true, uniqueKeys: false });
  const [document] = parsed.ok ? parsed.documents : [];
  if (!parsed.ok || document === undefined) return () => ({ name: first, value: first });
  return finder(yaml, document, parsed.lines);
}

function finder(
  { isAlias, isMap, isScalar, isSeq }: typeof Yaml,
  document: Yaml.Document.Parsed,
  lines: Yaml.LineCounter,
): FindMember {
  const positionOf = (node: unknown, otherwise: TextPosition): TextPosition => {
    const offset = (node as Yaml.Node | null)?.range?.[0];
    if (offset === undefined) return otherwise;
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };

  function find(node: unknown, path: string, member: Member): Member {
    if (path === '') return member;
    if (isAlias(node)) return find(node.resolve(document), path, member);
    if (isSeq(node)) {
      const [step = '', index = ''] = /^\[(\d+)\]\.?/.exec(path) ?? [];
      const item = node.items[Number(index)];
      const place = positionOf(item, member.value);
      return step === '' || item === undefined
        ? member
        : find(item, path.slice(step.length), { name: place, value: place });
    }
    if (!isMap(node)) return member;
    const pairs = node.items.flatMap(({ key, value }) => {
      const rest = isScalar(key) ? below(String(key.value), path) : undefined;
      return rest === undefined ? [] : [{ key, value, rest }];
    });
    const [pair] = pairs.sort((a, b) => a.rest.length - b.rest.length);
    if (pair === undefined) return member;
    const name = positionOf(pair.key, member.name);
    // A map or a list often begins on a line below its name: so its place is that of the name.
    return find(pair.value, pair.rest, {
      name,
      value: isScalar(pair.value) ? positionOf(pair.value, name) : name,
    });
  }
  return (path) => find(document.contents, path, { name: first, value: first });
}

/**
 * Returns the rest of a path below a name, which may contain dots; undefined for another name. A
 * name in snake case matches that in camel case.
 */
function below(name: string, path: string): string | undefined {
  const names = [name, name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())];
  const prefix = names.find(
    (spelling) =>
      path === spelling || path.startsWith(`${spelling}.`) || path.startsWith(`${spelling}[`),
  );
  return prefix === undefined ? undefined : path.slice(prefix.length).replace(/^\./, '');
}
