import type { JsonValue } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { changedPaths } from '../../../../src/pilot-discovery/diff/changed-paths.ts';

/** Returns the differences between two messages that are written as YAML, a line for each. */
const between = (before: string, after: string): readonly string[] =>
  [...changedPaths(parse(before) as JsonValue, parse(after) as JsonValue)].map((change) => {
    switch (change.kind) {
      case 'added':
        return `+ ${change.path} ${change.after}`;
      case 'removed':
        return `- ${change.path} ${change.before}`;
      case 'changed':
        return `~ ${change.path} ${change.before} ${change.after}`;
      case 'reordered':
        return `~ ${change.path}`;
    }
  });

describe('changedPaths', () => {
  it.each<[name: string, before: string, after: string, lines: readonly string[]]>([
    ['says nothing of equal messages', '{ a: [1, { b: 2 }] }', '{ a: [1, { b: 2 }] }', []],
    [
      'names members that are added, removed and changed',
      '{ a: { b: 1, c: 2 }, d: x }',
      '{ a: { b: 3, e: { f: 4 } }, d: x }',
      ['~ a.b 1 3', '- a.c 2', '+ a.e {"f":4}'],
    ],
    [
      'quotes a name that is not an identifier',
      '{ a: { "@b.c": 1 } }',
      '{ a: {} }',
      ['- a["@b.c"] 1'],
    ],
    [
      'compares another kind of value as a whole',
      '{ a: [1] }',
      '{ a: { b: 1 } }',
      ['~ a [1] {"b":1}'],
    ],
    [
      'compares elements with names by their names',
      '[{ name: a, x: 1 }, { name: b }]',
      '[{ name: c }, { name: a, x: 2 }]',
      ['~ ["a"].x 1 2', '- ["b"] {"name":"b"}', '+ ["c"] {"name":"c"}'],
    ],
    [
      'says if elements with names have another order',
      '{ l: [{ name: a }, { name: b }, { name: d }] }',
      '{ l: [{ name: b }, { name: a }, { name: e }] }',
      ['- l["d"] {"name":"d"}', '+ l["e"] {"name":"e"}', '~ l'],
    ],
    [
      'compares other elements by their places',
      '[{ p: 1 }, { p: 2 }, { p: 3 }]',
      '[{ p: 1 }, { p: 4 }, { p: 3 }]',
      ['~ [1].p 2 4'],
    ],
    ['names an element that is put in between', '[1, 2]', '[1, 3, 2]', ['+ [1] 3']],
    ['names an element that is taken out', '[1, 3, 3, 2]', '[1, 3, 2]', ['- [2] 3']],
    [
      'compares by places if a name is there twice',
      '[{ name: a, x: 1 }, { name: a, x: 2 }]',
      '[{ name: a, x: 1 }, { name: a, x: 3 }]',
      ['~ [1].x 2 3'],
    ],
    [
      'takes a member of every object for none',
      '{ a: 1 }',
      '{ a: 1, constructor: 2 }',
      ['+ constructor 2'],
    ],
  ])('%s', (_, before, after, lines) => {
    expect(between(before, after)).toEqual(lines);
  });
});
