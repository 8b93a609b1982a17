import { emitKeypressEvents } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import { fromEvent, map, merge, Observable } from 'rxjs';
import { sizeOf } from './screen-size.ts';
import type { TopEvent } from './top-model.ts';

/** Opens a second screen, hides the cursor, and stops the wrapping of long lines. */
const enter = '\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J';
/** Returns to the previous screen, with its cursor. */
const leave = '\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l';

/** A terminal to draw on. */
export interface Screen {
  /**
   * Takes the terminal while it is subscribed. Emits its keys, and requests to give it back for a
   * while. Restores the terminal on unsubscribe, and before the program ends in any other way that
   * it can notice. Never completes.
   */
  readonly session$: Observable<TopEvent>;
  /**
   * Shows these lines, if it has the terminal; draws all of them again if `drawing` has changed.
   */
  draw(lines: readonly string[], drawing: number): void;
}

interface KeyOfReadline {
  readonly sequence?: string;
  readonly name?: string;
  readonly ctrl?: boolean;
}

/** Opens a screen on the terminal of these two ends. Output to a terminal that is gone is lost. */
export function openScreen(input: ReadStream, output: WriteStream): Screen {
  for (const end of [input, output]) end.on('error', () => undefined);
  /** The lines on the screen; undefined while another program has it. */
  let shown: readonly string[] | undefined;
  let drawn = 0;
  const take = () => {
    shown = [];
    output.write(enter);
    input.setRawMode(true).resume();
  };
  const giveBack = () => {
    if (shown === undefined) return;
    shown = undefined;
    input.setRawMode(false).pause();
    output.write(leave);
  };
  const keys$ = new Observable<TopEvent>((subscriber) => {
    // The first event comes before the program prints why it ends: that would appear on our screen.
    process.once('uncaughtExceptionMonitor', giveBack).once('exit', giveBack);
    take();
    emitKeypressEvents(input);
    const heard = (
      text: string | undefined,
      { name = '', ctrl = false, sequence = '' }: KeyOfReadline,
    ) => {
      subscriber.next({ type: 'key', key: { name, text: text ?? sequence, isCtrl: ctrl } });
    };
    input.on('keypress', heard);
    // The size may have changed, and the screen must be drawn now.
    subscriber.next({ type: 'resized', size: sizeOf(output) });
    return () => {
      input.off('keypress', heard);
      process.off('uncaughtExceptionMonitor', giveBack).off('exit', giveBack);
      giveBack();
    };
  });
  const stop$ = fromEvent(process, 'SIGTSTP').pipe(
    map((): TopEvent => ({ type: 'suspend-requested' })),
  );
  return {
    session$: merge(stop$, keys$),
    draw(lines, drawing) {
      if (shown === undefined) return;
      const before = drawing === drawn ? shown : [];
      // A line is cleared before it is written. After a line that fills the width, the cursor stays
      // in the last column, because lines do not wrap, and clearing would erase that column.
      const changed = lines.flatMap((line, index) =>
        line === before[index] ? [] : [`\x1b[${index + 1};1H\x1b[K${line}\x1b[0m`],
      );
      const clear = drawing === drawn ? '' : '\x1b[2J';
      [shown, drawn] = [lines, drawing];
      if (changed.length > 0 || clear !== '') output.write(`${clear}${changed.join('')}`);
    },
  };
}
