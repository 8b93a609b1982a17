import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentReport } from '../../src/pilot-agent/report/agent-report.ts';
import { statusScreen } from '../../src/pilot-agent/terminal/status-screen.ts';
import { ask } from '../support/ask.ts';
import { leftOut } from '../support/left-out.ts';
import { type InTerminal, inTerminal } from '../support/e2e/in-terminal.ts';
import { program, takesNodeOptions } from '../support/e2e/program.ts';
import { makeRig, type Rig, type RunningAgent } from '../support/e2e/rig.ts';

const hasTmux = spawnSync('tmux', ['-V']).status === 0;
if (!hasTmux) leftOut('tmux: top in a terminal that does not wrap', 'a program');

describe('in a terminal', () => {
  let rig: Rig;
  let agent: RunningAgent;
  let opened: InTerminal[];
  beforeEach(async () => {
    opened = [];
    rig = await makeRig();
    agent = rig.start();
    await agent.said('epoch.live', 0);
  });
  afterEach(async () => {
    for (const terminal of opened) terminal.kill();
    await rig.dispose();
  });

  const open = (command: readonly string[], options: Parameters<typeof inTerminal>[1] = {}) => {
    const terminal = inTerminal(command, options);
    opened.push(terminal);
    return terminal;
  };
  const named = (name: string) =>
    rig.envoys().filter((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith(name));
  /**
   * Returns the pid of `top`. The shell and the terminal around it have its command as arguments
   * too.
   */
  const topPid = () =>
    rig
      .envoys()
      .find((pid) =>
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith([...program, 'top'].join('\0')),
      ) ?? expect.unreachable('top does not run');
  const ofFolder = () => ['--configPath', join(rig.folder, 'run')];
  const report = async () =>
    JSON.parse((await ask(rig.ports.status, '/debug/status')).body) as AgentReport;
  /**
   * Returns a command that prints the settings of the terminal, and a word, before and after `top`.
   */
  const around = (script = '') => [
    'sh',
    '-c',
    `stty -a; echo before; ${script}"$@"; echo "after $?"; stty -a`,
    'sh',
    ...program,
    'top',
    ...ofFolder(),
  ];
  const settings = (screen: readonly string[]) => {
    const text = screen.join('\n');
    return [
      text.slice(0, text.indexOf('before')).trim(),
      text
        .slice(text.search(/after \d+/))
        .replace(/after \d+/, '')
        .trim(),
    ];
  };

  it.each([
    { columns: 80, lines: 24 },
    { columns: 200, lines: 60 },
  ])('status shows what /debug/status says, at $columns×$lines', async (size) => {
    agent.kill('SIGHUP');
    await agent.said('epoch.ended', 0);
    await expect.poll(async () => (await report()).ready.ok).toBe(true);
    const before = await report();
    const terminal = open([...program, 'status', ...ofFolder()], size);
    expect(await terminal.exit).toBe(0);
    const look = {
      width: size.columns,
      height: size.lines - 1,
      isWide: false,
      paint: (_: unknown, text: string) => text,
    };
    // Values that grow during the test are left out.
    const still = (lines: readonly string[]) =>
      lines
        .map((line) =>
          line.replace(/[\d.]+(?:m \d+)? ?s\b|\d+d \d+h|\d+m \d+s/g, '…').replace(/ +/g, ' '),
        )
        .filter(Boolean);
    expect(still(terminal.screen())).toEqual(still(statusScreen(before, look)));
    expect(terminal.text()).toMatch(/^READY {2}pilot-agent /);
    expect(terminal.text()).toMatch(/ {6}1 {2}live .* by hand: SIGHUP/);
  });

  it('status ends with 1 while the agent is not ready', async () => {
    expect(await rig.post(rig.ports.status, '/drain')).toBe(200);
    await expect.poll(async () => (await report()).ready.ok).toBe(false);
    const terminal = open([...program, 'status', ...ofFolder()]);
    expect(await terminal.exit).toBe(1);
    expect(terminal.text()).toMatch(/^NOT READY .*\n {2}reason +draining\n/);
  });

  it.each([
    { columns: 80, lines: 24 },
    { columns: 200, lines: 60 },
  ])(
    'top shows a rotation and a crash, and drains if it is sure, at $columns×$lines',
    async (size) => {
      const top = open([...program, 'top', ...ofFolder()], size);
      await expect
        .poll(() => top.text())
        .toMatch(/^READY [^]*\n +0 live .*█[^]*\nLOG .*\n[^]* epoch is LIVE/);
      expect([top.isOther(), top.isCursorHidden()]).toEqual([true, true]);

      agent.kill('SIGHUP');
      await expect.poll(() => top.text()).toMatch(/\n +1 live .*█/);
      await expect.poll(() => top.text()).toMatch(/\n +0 ended .* lived /);

      const live = (await report()).epochs.find(({ state }) => state === 'live');
      process.kill(live?.pid ?? 0, 'SIGSEGV');
      await expect.poll(() => top.text()).toMatch(/\n +1 crashed .*×.* lived /);
      await expect.poll(() => top.text()).toMatch(/\n +2 live .*█/);
      top.type('k');
      top.type('k');
      await expect.poll(() => top.text()).toMatch(/\n> +1 crashed [^]*crash: SIGSEGV/);

      top.type('d');
      await expect.poll(() => top.text()).toMatch(/Drain\?.*cannot be undone.*y: drain/);
      top.type('n');
      await expect.poll(() => top.text()).not.toContain('Drain?');
      expect((await report()).phase).toBe('running');
      top.type('dy');
      await expect.poll(() => top.text()).toContain('drain: the agent does it');
      await expect.poll(() => top.text()).toMatch(/^NOT READY/);
      expect((await report()).phase).toBe('draining');
      top.type('q');
      expect(await top.exit).toBe(0);
      expect(top.isOther()).toBe(false);
    },
  );

  it.skipIf(!hasTmux)('top has its last column in tmux, where lines do not wrap', async () => {
    const socket = join(rig.folder, 'tmux');
    const tmux = (...args: readonly string[]) =>
      execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' });
    tmux('new-session', '-d', '-x', '80', '-y', '24', ...program, 'top', ...ofFolder());
    try {
      const lines = () => tmux('capture-pane', '-p').split('\n');
      await expect.poll(() => lines()[0]).toMatch(/^READY.{66} \d\d:\d\d:\d\d$/);
      await expect
        .poll(() => lines().filter((line) => line.length === 80 && line.endsWith('…')).length)
        .toBeGreaterThan(1);
    } finally {
      tmux('kill-server');
    }
  });

  it('top fits the terminal when that becomes larger or smaller', async () => {
    const top = open([...program, 'top', ...ofFolder()]);
    await expect.poll(() => top.screen().at(-1)).toContain('q quit');
    for (const [columns, lines] of [
      [200, 60],
      [60, 15],
      [80, 24],
    ] as const) {
      top.resize(columns, lines);
      await expect
        .poll(() => [
          top.screen().length,
          top.screen().at(-1)?.slice(0, 6),
          /\d\d:\d\d:\d\d$/.exec(top.screen()[0] ?? '')?.index,
        ])
        .toEqual([lines, 'q quit', columns - 8]);
    }
  });

  it.each([
    ['q', (top: InTerminal) => top.type('q'), 0],
    ['Ctrl-C', (top: InTerminal) => top.type('\x03'), 0],
    ['SIGTERM', () => process.kill(topPid(), 'SIGTERM'), 0],
    ...(takesNodeOptions
      ? [['an exception that nobody catches', () => process.kill(topPid(), 'SIGUSR2'), 70] as const]
      : []),
  ] as const)('top leaves the terminal as it was at %s', async (_, end, code) => {
    const top = open(around('NODE_OPTIONS="--require ./test/support/e2e/thrown-later.cjs" '), {
      columns: 120,
      lines: 50,
    });
    await expect.poll(() => top.isOther() && top.text()).toMatch(/^READY/);
    end(top);
    expect(await top.exit).toBe(0);
    expect([top.isOther(), top.isCursorHidden()]).toEqual([false, false]);
    expect(top.text()).toContain(`after ${code}`);
    if (code === 70) expect(top.text()).toContain('this is a bug: Error: thrown later');
    const [before, after] = settings(top.screen());
    expect(after).toBe(before);
    expect(before).toContain('speed');
  });

  it.each([
    ['Ctrl-Z', (top: InTerminal) => top.type('\x1a')],
    ['SIGTSTP', () => process.kill(topPid(), 'SIGTSTP')],
  ])('top gives the terminal back at %s, and goes on with fg', async (_, stop) => {
    const top = open(['bash', '--norc', '-i'], { columns: 120, lines: 50 });
    await expect.poll(() => top.text()).toMatch(/[#$]$/);
    top.type(`stty -a > ${rig.folder}/before\n`);
    top.type(`${[...program, 'top', ...ofFolder()].join(' ')}\n`);
    await expect.poll(() => top.isOther() && top.text()).toMatch(/^READY/);
    stop(top);
    await expect.poll(() => top.isOther()).toBe(false);
    await expect.poll(() => top.text()).toContain('Stopped');
    expect(top.isCursorHidden()).toBe(false);
    top.type(
      `stty -a > ${rig.folder}/stopped; cmp ${rig.folder}/before ${rig.folder}/stopped && echo sa''me\n`,
    );
    await expect.poll(() => top.text()).toContain('same');
    top.type('fg\n');
    await expect.poll(() => top.isOther() && top.text()).toMatch(/^READY[^]*q quit/);
    top.type('q');
    await expect.poll(() => top.isOther()).toBe(false);
    top.type('exit\n');
    await top.exit;
  });

  it('top goes on at Ctrl-Z if nobody could continue it', async () => {
    const top = open([...program, 'top', ...ofFolder()]);
    await expect.poll(() => top.isOther() && top.text()).toMatch(/^READY/);
    top.type('\x1a');
    const typed = () => {
      top.type('/'); // keys that are typed while top has no terminal are lost
      return top.isOther() && top.text();
    };
    await expect.poll(typed).toContain('Enter keeps the filter');
    top.type('\x03');
    expect(await top.exit).toBe(0);
  });

  it('top says that the agent is away, and shows the next one', async () => {
    const top = open([...program, 'top', ...ofFolder()]);
    await expect.poll(() => top.text()).toMatch(/^READY/);
    agent.kill('SIGKILL');
    await expect.poll(() => top.text()).toMatch(/^AWAY[^]*the agent does not answer/);
    await agent.exit;
    await expect.poll(() => named('envoy')).toEqual([]);
    const next = rig.start();
    await next.said('epoch.live', 0);
    await expect.poll(() => top.text()).toMatch(/^READY/);
    top.type('q');
    expect(await top.exit).toBe(0);
  });

  it.each([
    ['there is no terminal', `${program.join(' ')} top < /dev/null`, 64, 'top needs a terminal'],
    [
      'the terminal is dumb',
      `TERM=dumb ${program.join(' ')} top`,
      64,
      'TERM: nothing can be drawn on a dumb terminal',
    ],
    [
      'no agent is there',
      `${program.join(' ')} top --configPath /no/such`,
      69,
      'no agent answers at /no/such/status: there is no socket',
    ],
  ])('top ends with one line if %s', async (_, command, code, line) => {
    const shell = open(['sh', '-c', `${command}; echo "after $?"`], { columns: 200 });
    await shell.exit;
    expect(shell.screen().filter(Boolean)).toEqual([
      expect.stringContaining(`pilot-agent: ${line}`),
      `after ${code}`,
    ]);
    expect(shell.isOther()).toBe(false);
  });
});
