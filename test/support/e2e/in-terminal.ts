import { spawn } from 'node:child_process';
import { Terminal } from '@xterm/headless';

/** A program in a terminal, and the screen that a person would see. */
export interface InTerminal {
  /** Returns the lines of the screen, without spaces at their ends. */
  screen(): readonly string[];
  /** Returns the lines of the screen as one text, without empty lines. */
  text(): string;
  /** Whether the terminal shows its alternate screen, as for a program that uses all of it. */
  isOther(): boolean;
  isCursorHidden(): boolean;
  type(keys: string): void;
  resize(columns: number, lines: number): void;
  /** Resolves to the exit code when the program has ended and the terminal shows all its output. */
  readonly exit: Promise<number | null>;
  /** Closes the terminal at once, in whatever state the program is. */
  kill(): void;
}

export function inTerminal(
  command: readonly string[],
  {
    columns = 80,
    lines = 24,
    env = {},
  }: { readonly columns?: number; readonly lines?: number; readonly env?: NodeJS.ProcessEnv } = {},
): InTerminal {
  const terminal = new Terminal({
    cols: columns,
    rows: lines,
    allowProposedApi: true,
    scrollback: 1_000,
  });
  const child = spawn(
    'python3',
    ['test/support/e2e/in-terminal.py', String(columns), String(lines), ...command],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, TERM: 'xterm-256color', ...env },
    },
  );
  let isCursorHidden = false;
  child.stdout.on('data', (bytes: Buffer) => {
    const [shown, hidden] = ['\x1b[?25h', '\x1b[?25l'].map((sequence) =>
      bytes.lastIndexOf(sequence),
    ) as [number, number];
    if (shown !== hidden) isCursorHidden = hidden > shown;
    terminal.write(bytes);
  });
  child.stdin.on('error', () => undefined);
  const order = (what: unknown) => child.stdin.write(`${JSON.stringify(what)}\n`);
  const screen = () => {
    const { active } = terminal.buffer;
    return Array.from(
      { length: terminal.rows },
      (_, index) =>
        active
          .getLine(active.viewportY + index)
          ?.translateToString(true)
          .trimEnd() ?? '',
    );
  };
  return {
    screen,
    text: () =>
      screen()
        .filter((line) => line !== '')
        .join('\n'),
    isOther: () => terminal.buffer.active.type === 'alternate',
    isCursorHidden: () => isCursorHidden,
    type: (keys) => void order(keys),
    resize(width, height) {
      terminal.resize(width, height);
      order([width, height]);
    },
    exit: new Promise((done) =>
      child.once('close', (code) => terminal.write('', () => done(code))),
    ),
    kill: () => void child.kill('SIGKILL'),
  };
}
