import { PassThrough } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import { Subject, takeUntil } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openScreen, type Screen } from '../../../../src/pilot-agent/terminal/screen.ts';
import type { TopEvent } from '../../../../src/pilot-agent/terminal/top-model.ts';

describe('the screen', () => {
  const size = { columns: 100, rows: 30 };
  const takeSequence = '\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J';
  const giveBackSequence = '\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l';
  let input: PassThrough;
  let screen: Screen;
  let written: string;
  /** The raw modes that were set, in order. */
  let raw: boolean[];
  let heard: TopEvent[];
  let over$: Subject<void>;
  let session: Promise<void>;
  beforeEach(() => {
    [written, raw, heard, over$] = ['', [], [], new Subject()];
    input = new PassThrough();
    const setRawMode = (isRaw: boolean) => {
      raw.push(isRaw);
      return input;
    };
    const write = (text: string) => {
      written += text;
      return true;
    };
    const output = { ...size, write, on: () => undefined };
    screen = openScreen(
      Object.assign(input, { setRawMode }) as unknown as ReadStream,
      output as unknown as WriteStream,
    );
    session = screen.session$.pipe(takeUntil(over$)).forEach((event) => void heard.push(event));
  });
  afterEach(async () => {
    over$.next();
    await session;
  });

  it('takes the terminal, tells its size and its keys, and gives it back once', async () => {
    expect([written, raw]).toEqual([takeSequence, [true]]);
    input.write('q\x1b[A\x03é');
    const key = (name: string, text: string, isCtrl = false) => ({
      type: 'key',
      key: { name, text, isCtrl },
    });
    await expect
      .poll(() => heard)
      .toEqual([
        { type: 'resized', size: { width: 100, height: 30 } },
        key('q', 'q'),
        key('up', '\x1b[A'),
        key('c', '\x03', true),
        key('', 'é'),
      ]);
    over$.next();
    await session;
    expect([written, raw, input.isPaused()]).toEqual([
      `${takeSequence}${giveBackSequence}`,
      [true, false],
      true,
    ]);
  });

  it.each(['exit', 'uncaughtExceptionMonitor'])(
    'gives it back at %s, and writes nothing more',
    (event) => {
      const others = process.listeners(event as 'exit');
      const screenListener = others.at(-1);
      screenListener?.call(process, 0);
      screen.draw(['a'], 1);
      expect([written, raw]).toEqual([`${takeSequence}${giveBackSequence}`, [true, false]]);
    },
  );

  it('writes the lines that have changed, and all of them if all is to be drawn anew', () => {
    const after = (lines: readonly string[], drawing: number) => {
      written = '';
      screen.draw(lines, drawing);
      return written;
    };
    const line = (row: number, text: string) => `\x1b[${row};1H\x1b[K${text}\x1b[0m`;
    expect(after(['a', 'b'], 1)).toBe(`\x1b[2J${line(1, 'a')}${line(2, 'b')}`);
    expect(after(['a', 'c'], 1)).toBe(line(2, 'c'));
    expect(after(['a', 'c'], 1)).toBe('');
    expect(after(['a', 'c'], 2)).toBe(`\x1b[2J${line(1, 'a')}${line(2, 'c')}`);
  });
});
