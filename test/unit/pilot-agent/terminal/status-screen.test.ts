import { describe, expect, it } from 'vitest';
import {
  statusScreen,
  type StatusLook,
} from '../../../../src/pilot-agent/terminal/status-screen.ts';
import { widthOf } from '../../../../src/pilot-agent/terminal/text-width.ts';
import type { AgentReport } from '../../../../src/pilot-agent/report/agent-report.ts';
import { agentReport, atSecond, epochReport, inTrouble } from '../../../support/agent-report.ts';

const plain: StatusLook = { width: 80, height: 24, isWide: false, paint: (_, text) => text };
const many = agentReport({
  epochs: Array.from({ length: 300 }, (_, index) =>
    epochReport(index, { launchedAt: atSecond(index) }),
  ),
});
const cases: readonly (readonly [string, AgentReport])[] = [
  ['healthy', agentReport()],
  ['trouble', inTrouble],
  ['many', many],
  ['bare', agentReport({ epochs: [], certificates: [], sources: [], pushes: [], counters: {} })],
];
const text = (report: AgentReport, look: Partial<StatusLook> = {}) =>
  `${statusScreen(report, { ...plain, ...look }).join('\n')}\n`;

describe('the screen of status', () => {
  it.each(cases)('is drawn so: %s', async (name, report) => {
    await expect(text(report)).toMatchFileSnapshot(
      `../../../golden/screens/status-${name}-80x24.txt`,
    );
    await expect(text(report, { width: 200, height: 60 })).toMatchFileSnapshot(
      `../../../golden/screens/status-${name}-200x60.txt`,
    );
  });

  it('is drawn so if nothing is cut', async () => {
    const all = { width: Infinity, height: Infinity, isWide: true };
    await expect(text(agentReport(), all)).toMatchFileSnapshot(
      '../../../golden/screens/status-wide.txt',
    );
  });

  it.each(cases)('fits, whatever the screen: %s', (_, report) => {
    for (const [width, height] of [
      [80, 24],
      [200, 60],
      [40, 24],
      [10, 5],
      [1, 1],
    ] as const) {
      const lines = statusScreen(report, { ...plain, width, height });
      expect(lines.filter((line) => widthOf(line) > width)).toEqual([]);
      if (width >= 80) expect(lines.length).toBeLessThanOrEqual(height);
    }
  });

  it('shows nothing that a terminal would act on', () => {
    for (const [, report] of cases) {
      const lines = statusScreen(report, {
        ...plain,
        width: Infinity,
        height: Infinity,
        isWide: true,
      });
      expect(lines.filter((line) => /\p{Cc}/u.test(line))).toEqual([]);
    }
  });

  it('has the newest first, as top and the page have', () => {
    const lines = statusScreen(agentReport(), { ...plain, height: Infinity });
    expect(
      lines.flatMap((line) => /^ +(\d) {2}(?:live|draining|crashed|ended)/.exec(line)?.[1] ?? []),
    ).toEqual(['3', '2', '1', '0']);
  });

  it('shows a long reason whole, if it does not fill the screen', () => {
    const reason = (words: number) => `${'word '.repeat(words)}end`;
    const report = (words: number) => agentReport({ ready: { ok: false, reason: reason(words) } });
    const screenText = (words: number) => text(report(words)).replace(/\s+/g, ' ');
    expect(screenText(30)).toContain(reason(30));
    expect(screenText(300)).toMatch(/word wo… phase /);
  });

  it('says how many of a list are left out, and the newest are shown', () => {
    const lines = statusScreen(many, plain);
    expect(lines.find((line) => line.startsWith('EPOCHS'))).toMatch(/\((\d+) more: -o wide\)$/);
    expect(lines.some((line) => line.startsWith('    299  live'))).toBe(true);
    expect(text(many, { height: Infinity })).not.toContain(' more: ');
  });

  it('paints what it says, and nothing else', () => {
    const painted = statusScreen(agentReport(), {
      ...plain,
      height: 60,
      paint: (_, shown) => `<${shown}>`,
    });
    expect(painted[0]).toContain('<READY>');
    expect(painted.join('\n')).toContain('<live>');
    expect(painted.join('\n')).toMatch(/<crashed>/);
  });
});
