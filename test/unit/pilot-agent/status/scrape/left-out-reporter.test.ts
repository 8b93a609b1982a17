import { expect, it } from 'vitest';
import { toldLeftOut } from '../../../../support/tell-left-out.ts';

const disk = { what: 'a full disk', need: 'root' } as const;
const istiod = { what: 'a real istiod', need: 'a program' } as const;
const named = [
  'Left out, for this machine does not permit it: a full disk',
  'Left out, for its program is not to be had here: a real istiod',
];

it('each thing that a run left out is named once', () => {
  expect(toldLeftOut([disk, istiod, disk], false)).toEqual({ lines: named, fails: false });
  expect(toldLeftOut([], true)).toEqual({ lines: [], fails: false });
});

it('on CI a run fails that left out what needs only root, and says why', () => {
  const { lines, fails } = toldLeftOut([disk, istiod], true);
  expect(fails).toBe(true);
  expect(lines).toEqual([...named, expect.stringMatching(/^The run fails: CI is set/) as string]);
});

it('on CI a run does not fail for a program that is not to be had', () => {
  expect(toldLeftOut([istiod], true)).toEqual({ lines: named.slice(1), fails: false });
});
