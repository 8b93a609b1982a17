import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import headless from '@xterm/headless';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { printCompletion, type Shell } from '../../../../src/pilot-agent/cli/completion.ts';
import { program } from '../../../../src/pilot-agent/cli/program.ts';
import { leftOut } from '../../../support/left-out.ts';

/** The arguments that start each shell without the files of a user, and its first command. */
const shells: Readonly<
  Record<Shell, { readonly args: readonly string[]; readonly first: string }>
> = {
  bash: { args: ['--noprofile', '--norc', '-i'], first: 'bind "set bell-style none"' },
  zsh: { args: ['-f', '-i'], first: 'unsetopt beep; autoload -Uz compinit; compinit -D' },
  fish: { args: ['--no-config', '-i'], first: 'true' },
};

/** The typed text; after `⇥`, the Tab key, follows the text that the shell adds to the word. */
const cases: readonly string[] = [
  'prox⇥y',
  'proxy rou⇥ter',
  'proxy --rotat⇥ion hot⇥-restart',
  'proxy --proxyLogLevel crit⇥ical --keepE⇥nvoy',
  'proxy --xdsProxy=fal⇥se',
  'proxy --keepEnvoy side⇥car',
  'proxy --discoveryAddress istiod:15012 rou⇥ter',
  'proxy --customConfigFile agent.⇥yaml',
  'proxy --configPath run-⇥folder/',
  'config pri⇥nt --outp⇥ut tab⇥le',
  'config print -o js⇥on',
  'version -o ya⇥ml',
  'doctor --rotat⇥ion sd⇥s',
  'config check agent.⇥yaml',
  '--log_output_level deb⇥ug envoy inst⇥all',
  'request G⇥ET /stats',
  'wait --qui⇥et --log_as_j⇥son',
  'exec -- own-j⇥ob agent.⇥yaml',
  'completion fi⇥sh',
  'help conf⇥ig',
];

/**
 * Returns the same arguments for each shell. zsh puts `=` behind a flag whose value it completes,
 * and removes the slash behind a folder.
 */
function plain(args: readonly string[]): readonly string[] {
  return args.flatMap((arg) => arg.replace(/\/$/, '').split(/(?<=^--(?:rotation|output))=/));
}

function scriptOf(shell: Shell): string {
  let text = '';
  const written = vi
    .spyOn(process.stdout, 'write')
    .mockImplementation((piece: unknown) => ((text += String(piece)), true));
  printCompletion(shell, program());
  written.mockRestore();
  return text;
}

/** Returns all commands of a tree. */
function all(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(all)];
}

describe('what a shell may complete', () => {
  const options = all(program()).flatMap(({ options }) => options);

  it.each(['bash', 'zsh', 'fish'] as const)(
    'is in the script for %s: each command and each flag',
    (shell) => {
      const words = new Set(scriptOf(shell).match(/[\w-]+/g));
      const flags = options.map(({ long }) => (shell === 'fish' ? long?.slice(2) : long) ?? '');
      const names = all(program()).map((command) => command.name());
      expect([...names, ...flags].filter((word) => !words.has(word))).toEqual([]);
    },
  );

  it('are the formats of each command that prints in several', () => {
    const formats = options.filter(({ long }) => long === '--output');
    expect(formats.length).toBeGreaterThan(3);
    expect(formats.filter(({ argChoices }) => argChoices === undefined)).toEqual([]);
  });
});

describe.each(['bash', 'zsh', 'fish'] as const)('completion in %s', (shell) => {
  const isThere = spawnSync(shell, ['--version']).status === 0;
  if (!isThere) leftOut(`completion in a real ${shell}`, 'a program');
  let folder: string;
  let terminal: ReturnType<typeof spawn>;
  const display = new headless.Terminal({ cols: 200, rows: 50, allowProposedApi: true });

  beforeAll(() => {
    if (!isThere) return;
    folder = mkdtempSync(join(tmpdir(), 'pilot-agent-completion-'));
    mkdirSync(join(folder, 'bin'));
    mkdirSync(join(folder, 'run-folder'));
    writeFileSync(join(folder, 'run-file'), '');
    writeFileSync(join(folder, 'agent.yaml'), '');
    writeFileSync(join(folder, 'script'), scriptOf(shell));
    const program = `#!/bin/sh\nprintf '%s\\n' "$@" > '${folder}/args.new' && mv '${folder}/args.new' '${folder}/args'\n`;
    for (const name of ['pilot-agent', 'own-job'])
      writeFileSync(join(folder, 'bin', name), program, { mode: 0o755 });
    const inTerminal = 'import pty, sys; pty.spawn(sys.argv[1:])';
    const { args, first } = shells[shell];
    const env = {
      HOME: folder,
      TERM: 'xterm',
      PATH: `${folder}/bin:/usr/bin:/bin`,
      INPUTRC: '/dev/null',
      LC_ALL: 'C.UTF-8',
    };
    terminal = spawn('python3', ['-c', inTerminal, shell, ...args], { cwd: folder, env });
    terminal.stdout?.on('data', (piece: Buffer) => display.write(piece));
    terminal.stdin?.write(`${first}; source ./script\n`);
  });
  afterAll(async () => {
    if (!isThere) return;
    const closed = once(terminal, 'close');
    terminal.stdin?.end('exit\n');
    await closed;
    rmSync(folder, { recursive: true });
  });

  /** Returns the text on the screen, in one line. */
  function screen(): string {
    const { buffer } = display;
    return Array.from(
      { length: buffer.active.length },
      (_, row) => buffer.active.getLine(row)?.translateToString(true) ?? '',
    ).join('');
  }

  it.skipIf(!isThere).each(cases)('completes pilot-agent %s', async (line) => {
    const [path, [first = '', ...pieces]] = [join(folder, 'args'), line.split('⇥')];
    display.reset();
    terminal.stdin?.write(`pilot-agent ${first}`);
    let begun = first.slice(first.lastIndexOf(' ') + 1);
    for (const piece of pieces) {
      terminal.stdin?.write('\t');
      const [added = '', ...rest] = piece.split(' ');
      await expect.poll(screen).toContain(begun + added);
      begun = rest.at(-1) ?? '';
      terminal.stdin?.write(rest.join(' '));
    }
    terminal.stdin?.write('\n');
    await expect.poll(() => existsSync(path)).toBe(true);
    const got = readFileSync(path, 'utf8').trim().split('\n');
    rmSync(path);
    expect(plain(got)).toEqual(plain(line.replaceAll('⇥', '').split(' ')));
  });
});
