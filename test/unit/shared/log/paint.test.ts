import { describe, expect, it } from 'vitest';
import { hasColours, paintFor } from '../../../../src/shared/log/paint.ts';

const [terminal, pipe] = [{ isTTY: true }, {}];

describe('colours', () => {
  it.each<[what: string, stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv, has: boolean]>([
    ['a terminal has them', terminal, {}, true],
    ['a pipe has none', pipe, {}, false],
    ['NO_COLOR turns them off', terminal, { NO_COLOR: '1' }, false],
    ['an empty NO_COLOR does not', terminal, { NO_COLOR: '' }, true],
    ['NODE_DISABLE_COLORS turns them off', terminal, { NODE_DISABLE_COLORS: '1' }, false],
    ['a dumb terminal has none', terminal, { TERM: 'dumb' }, false],
    ['another terminal has them', terminal, { TERM: 'xterm' }, true],
    ['FORCE_COLOR gives them to a pipe', pipe, { FORCE_COLOR: '1' }, true],
    ['an empty one does too, as in Node', pipe, { FORCE_COLOR: '' }, true],
    [
      'FORCE_COLOR wins over NO_COLOR',
      pipe,
      { FORCE_COLOR: '1', NO_COLOR: '1', TERM: 'dumb' },
      true,
    ],
    ['FORCE_COLOR=0 takes them from a terminal', terminal, { FORCE_COLOR: '0' }, false],
    ['FORCE_COLOR=false too', terminal, { FORCE_COLOR: 'false' }, false],
  ])('%s', (_, stream, env, has) => {
    expect(hasColours(stream, env)).toBe(has);
    // The stdout and the environment of the tests do not count.
    expect(paintFor(stream, env)('red', 'text')).toBe(has ? '\u001b[31mtext\u001b[39m' : 'text');
  });
});
