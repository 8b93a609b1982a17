import { expect, it } from 'vitest';
import { findMembers } from '../../../../src/shared/text/text-position.ts';

const yaml = `a: 1
list:
  - name: x
    url: "u"
  - {name: y}
"b.c":
  d: &d
    e: 2
f: *d
snake_case: 3
`;

it.each([
  ['', '1:1 1:1'],
  ['a', '1:1 1:4'],
  ['list', '2:1 2:1'],
  ['list[0]', '3:5 3:5'],
  ['list[0].url', '4:5 4:10'],
  ['list[1].name', '5:6 5:12'],
  ['list[1].missing', '5:5 5:5'],
  ['list[9].name', '2:1 2:1'],
  ['b.c', '6:1 6:1'],
  ['b.c.d.e', '8:5 8:8'],
  ['f.e', '8:5 8:8'],
  ['snakeCase', '10:1 10:13'],
  ['nothing', '1:1 1:1'],
])('finds %s in YAML, as far as it is there', async (path, expected) => {
  const { name, value } = (await findMembers(yaml))(path);
  expect(`${name.line}:${name.column} ${value.line}:${value.column}`).toBe(expected);
});

it('finds members in JSON', async () => {
  const find = await findMembers('{"a": {"b": [1,\n 2]},\n "c": "x"}');
  expect(find('a.b[1]').value).toEqual({ line: 2, column: 2 });
  expect(find('c')).toEqual({ name: { line: 3, column: 2 }, value: { line: 3, column: 7 } });
});

it('finds nothing in an empty text', async () => {
  expect((await findMembers(''))('a.b')).toEqual({
    name: { line: 1, column: 1 },
    value: { line: 1, column: 1 },
  });
});
