import { describe, expect, it } from 'vitest';
import * as yaml from 'yaml';
import { listItems } from '../../../../../src/pilot-discovery/registry/files/list-items.ts';

const items = [
  { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' }, spec: { ports: [{ port: 80 }] } },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'ä', labels: { text: '- x\n- kind: List\n' } },
  },
  { kind: 'ConfigMap', data: { mesh: 'items:\n- a\n}\n', more: ['- b', '{'] } },
];
const list = { apiVersion: 'v1', items, kind: 'List', metadata: { resourceVersion: '' } };

const divided = (text: string, before = 0) =>
  listItems({ bytes: Buffer.from(text), before })?.map(({ bytes, before: lines }) => [
    yaml.parse(bytes.toString()) as unknown,
    lines,
  ]);
const numberOf = (text: string, line: RegExp): readonly number[] =>
  text.split('\n').flatMap((content, index) => (line.test(content) ? [index] : []));

describe('listItems', () => {
  it.each([
    ['entries in the column of items', yaml.stringify(list, { indentSeq: false }), /^- /],
    ['entries that are indented', yaml.stringify(list), /^ {2}- /],
    ['a separator and comments', `---\n# all\n${yaml.stringify(list)}# end\n`, /^ {2}- /],
    ['the kind in front', yaml.stringify({ kind: 'List', items, apiVersion: 'v1' }), /^ {2}- /],
    ['lines that end with CR LF', yaml.stringify(list).replaceAll('\n', '\r\n'), /^ {2}- /],
    ['JSON of kubectl', JSON.stringify(list, undefined, 4), /^ {8}\{$/],
    ['JSON with the items last', JSON.stringify({ kind: 'List', items }, undefined, 2), /^ {4}\{$/],
  ])('has each item with its first line, with %s', (_, text, first) => {
    expect(divided(text, 7)).toEqual(
      numberOf(text.replaceAll('\r', ''), first).map((line, index) => [
        text.includes('\r') ? (expect.anything() as unknown) : items[index],
        line + 7,
      ]),
    );
  });

  it('divides items with anchors of their own, and texts that look like aliases', () => {
    const text = `kind: List
items:
- { labels: &common { app: a }, selector: *common }
- { text: 'a *bold word', hosts: ["*"] }
`;
    const texts = listItems({ bytes: Buffer.from(text), before: 0 })?.map(({ bytes }) =>
      bytes.toString(),
    );
    expect(texts).toHaveLength(2);
  });

  it.each([
    ['no List', yaml.stringify(items[0])],
    [
      'the words in another place',
      'kind: ConfigMap\ndata:\n  text: |\n    kind: List\n    items:\n',
    ],
    ['a List of one line', JSON.stringify(list)],
    ['an empty List', 'kind: List\nitems: []\n'],
    ['a List without items', 'kind: List\nitems:\n'],
    ['a List in JSON that has no end', JSON.stringify(list, undefined, 2).slice(0, -60)],
    ['other members', `${yaml.stringify(list)}other: 1\n`],
    [
      'an alias for a part of another item',
      'kind: List\nitems:\n- labels: &common { app: a }\n- labels: *common\n',
    ],
  ])('leaves %s as it is', (_, text) => expect(divided(text)).toBeUndefined());
});
