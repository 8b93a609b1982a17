import { type Document, isMap, isScalar, isSeq, type ParsedNode } from 'yaml';
import { valueOfYaml, type YamlValue } from '../../../shared/text/parse-yaml.ts';
import { offsetOf } from './field-offset.ts';

/** A document that may be a resource, or is not YAML. */
export interface Item {
  readonly content: () => YamlValue;
  readonly line: number;
  /** Returns the line of a field, or of the nearest field around it that exists. */
  readonly lineOf: (field: string) => number;
}

/** Returns the possible resources of documents; for a `List`, its items. */
export function* itemsOf(
  documents: readonly Document.Parsed[],
  lineAt: (offset: number) => number,
): Generator<Item> {
  for (const document of documents) {
    const [error] = document.errors;
    if (error !== undefined) {
      const reason = `it is not YAML: ${error.message.split('\n')[0] ?? ''}`;
      const line = lineAt(error.pos[0]);
      yield { content: () => ({ ok: false, reason }), line, lineOf: () => line };
      continue;
    }
    for (const node of nodesOf(document)) {
      const content = () => valueOfYaml(document, node);
      yield {
        content,
        line: lineAt(node.range[0]),
        lineOf: (field) => lineAt(offsetOf(node, field) ?? node.range[0]),
      };
    }
  }
}

function nodesOf({ contents }: Document.Parsed): readonly ParsedNode[] {
  if (contents === null || (isScalar(contents) && contents.value === null)) return [];
  if (isMap(contents) && (contents.get('kind') as unknown) === 'List') {
    const items = contents.get('items', true);
    return isSeq(items) ? (items.items as ParsedNode[]) : [];
  }
  return [contents];
}
