import { Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printable, printableJson } from '../../../../src/shared/log/printable.ts';
import { terminalLines } from '../../../../src/shared/log/terminal-lines.ts';

const shown = async (
  line: Readonly<Record<string, unknown>>,
  env: NodeJS.ProcessEnv = { NO_COLOR: '1' },
): Promise<string> => {
  let text = '';
  const destination = new Writable({
    write: (piece: Buffer, _, done) => {
      text += piece.toString();
      done();
    },
  });
  const stream = terminalLines(destination, env);
  stream.write(`${JSON.stringify({ level: 30, time: 0, msg: 'm', ...line })}\n`);
  await expect.poll(() => text).toMatch(/\n$/);
  return text.replace(/^\[[\d:.]+\]/, '');
};

describe('a line on a terminal', () => {
  it('has no control of what Envoy or a neighbour wrote, wherever it stands', async () => {
    const evil = '\u001b]0;title\u0007\u001b[2J\u009b31m\r\u202e';
    const text = await shown({
      component: `envoy.${evil}`,
      msg: evil,
      path: evil,
      nested: { a: evil },
      tail: [evil],
    });
    expect(text).toContain('\\x1b]0;title\\x07\\x1b[2J\\x9b31m\\x0d\\u202e');
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
  });

  it('is none of its own if a message has more lines', async () => {
    const forged = '[12:00:00.000] INFO: [agent] all is well';
    expect(
      await shown({ component: 'envoy.main', msg: `trace\n${forged}`, tail: ['last\nwords'] }),
    ).toBe(` INFO: [envoy.main] trace\n      | ${forged}\n      | last\n      | words\n`);
  });

  it.each([
    { component: 'agent', colour: 36 },
    { component: 'envoy.main', colour: 35 },
    { component: 'watcher', colour: 34 },
  ])(
    'of $component has a colour that tells where it is from, and fields that stand back',
    async ({ component, colour }) => {
      const text = await shown({ component, epoch: 3, path: '/a' }, { TERM: 'xterm' });
      expect(text).toContain(
        `\u001b[${colour}m[${component} epoch 3]\u001b[39m m\u001b[90m path=/a\u001b[39m`,
      );
      expect(text).toMatch(/^ \u001b\[32mINFO\u001b\[39m: /);
    },
  );

  it('has no colours on a dumb terminal', async () => {
    expect(await shown({ component: 'agent' }, { TERM: 'dumb' })).toBe(' INFO: [agent] m\n');
  });

  it('has an excerpt of a file below it', async () => {
    expect(await shown({ reason: 'no', excerpt: '3 | a: 1\n  | ^' })).toBe(
      ' INFO: m reason=no\n      | 3 | a: 1\n      |   | ^\n',
    );
  });

  it('says what else there is by name', async () => {
    expect(await shown({ component: 'agent', epoch: 3, path: '/a b', count: 2, list: ['x'] })).toBe(
      ' INFO: [agent epoch 3] m path="/a b" count=2 list="[\\"x\\"]"\n',
    );
  });
});

describe('printable', () => {
  it('leaves what a person reads', () => {
    const text = 'Größe 42 µs\t→ «日本語» 👍\n';
    expect(printable(text)).toBe(text);
  });

  it('leaves the meaning of JSON, and none of its texts as it is on which a terminal acts', () => {
    const all = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).join('');
    for (const json of [JSON.stringify({ [all]: all }), JSON.stringify([all], undefined, 2)]) {
      const shown = printableJson(json);
      expect(JSON.parse(shown)).toEqual(JSON.parse(json));
      expect(shown.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
    }
  });

  it('leaves no control in any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(text).replace(/[\n\t]/g, '')).not.toMatch(/\p{Cc}/u);
      }),
    );
  });
});
