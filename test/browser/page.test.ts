import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { leftOut } from '../support/left-out.ts';
import { faults, hasBrowser, openBrowser, sizes, visit } from '../support/browser/browser.ts';
import { type FakeStatus, fakeStatus } from '../support/browser/fake-status.ts';
import type { LiveEvent } from '../../src/pilot-agent/report/live-events.ts';
import type { EpochReport } from '../../src/pilot-agent/report/epoch-report.ts';
import { aLife, someLines, firstEvents } from '../support/browser/agent-life.ts';

/**
 * The factor by which the CPU time of the page's main thread may grow for the same steps, with 200
 * times the epochs and 250 times the lines. Time by the clock would depend on the other work of the
 * machine.
 */
const growth = 4;

/** Sends new lines and a new epoch 20 times, while all lists are scrolled. */
async function follow(page: Page, fake: FakeStatus, epoch: EpochReport, from: number) {
  for (let step = 0; step < 20; step += 1) {
    fake.tell(
      { event: 'log', data: someLines(Date.now(), 50, from + step * 50) },
      {
        event: 'epochs',
        data: [{ ...epoch, epoch: from + step, launchedAt: new Date().toISOString() }],
      },
    );
    await page.evaluate(
      `document.querySelectorAll('.lines, .table').forEach((list) => (list.scrollTop = list.scrollHeight * ${(step % 10) / 10}))`,
    );
    await page.evaluate('new Promise((done) => setTimeout(done, 50))');
  }
}

/** Resolves to the seconds of CPU that the main thread of the page takes for `done`. */
async function cpuOf(page: Page, done: () => Promise<void>): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const seconds = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
  };
  const before = await seconds();
  await done();
  const after = await seconds();
  await session.detach();
  return after - before;
}

if (!hasBrowser) leftOut('Chromium: the page in a browser', 'a program');

describe.skipIf(!hasBrowser)('the page in a browser', () => {
  let browser: Browser;
  let fake: FakeStatus;
  const life = aLife(Date.now());
  beforeAll(async () => (browser = await openBrowser()), 60_000);
  afterAll(() => browser.close());
  beforeEach(async () => (fake = await fakeStatus(() => firstEvents(life))));
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    await fake.close();
  });

  describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
    it.each(Object.keys(sizes) as (keyof typeof sizes)[])(
      'has nothing that axe finds fault with, and no error, on a %s',
      async (size) => {
        const { page, complaints } = await visit(browser, fake.url, { size, colorScheme });
        await page
          .getByRole('option', { name: /secret is pushed/ })
          .first()
          .click();
        await page.getByRole('row', { name: /crash/ }).click();
        expect(await faults(page)).toEqual([]);
        await page.getByRole('button', { name: 'Drain' }).click();
        expect(await faults(page)).toEqual([]);
        expect(complaints).toEqual([]);
        const width = await page.evaluate('document.documentElement.scrollWidth');
        expect(width).toBe(sizes[size].width);
      },
    );
  });

  it('shows each epoch in the table and in the timeline, and all of the one that is selected', async () => {
    const { page } = await visit(browser, fake.url);
    const rows = page.locator('.epoch-table tbody tr:not(.room)');
    expect(await rows.locator('th').allTextContents()).toEqual(['4', '3', '2', '1', '0']);
    expect(await page.getByRole('listbox', { name: 'Timeline' }).getByRole('option').count()).toBe(
      5,
    );
    await rows.nth(3).click();
    const details = page.getByRole('region', { name: /Epoch 1/ });
    await expect.poll(() => details.textContent()).toContain('crash: ended by SIGSEGV');
    const text = await details.textContent();
    for (const detail of [
      'aa01be77',
      'pid 131',
      'Caught Segmentation fault',
      'after 600 ms',
      '/etc/certs/cert-chain.pem',
    ])
      expect(text).toContain(detail);
    const [, first] = life.report.epochs;
    const times = await Promise.all(
      (await details.locator('time').all()).map((time) => time.getAttribute('datetime')),
    );
    expect(times).toEqual([first?.launchedAt, first?.spawnedAt, first?.liveAt, first?.endedAt]);
  });

  it('selects an epoch by the keyboard, in the timeline and in the table', async () => {
    const { page } = await visit(browser, fake.url);
    const heading = () => page.locator('#details').textContent();
    await page.getByRole('listbox', { name: 'Timeline' }).focus();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(heading).toContain('Epoch 3');
    expect(
      await page.locator('.timeline [aria-selected=true]').getAttribute('aria-label'),
    ).toContain('Epoch 3, draining');
    await page.getByRole('group', { name: /Table of the epochs/ }).focus();
    await page.keyboard.press('End');
    await expect.poll(heading).toContain('Epoch 0');
  });

  it('follows what the agent tells', async () => {
    const { page } = await visit(browser, fake.url);
    const [{ epochs, ...report }, lastEpoch] = [life.report, life.report.epochs.at(-1)];
    if (lastEpoch === undefined) throw new Error('the life has no epoch');
    fake.tell(
      {
        event: 'report',
        data: { ...report, ready: { ok: false, reason: 'draining' }, phase: 'draining' },
      },
      {
        event: 'epochs',
        data: [{ ...lastEpoch, epoch: 5, state: 'starting', launchedAt: new Date().toISOString() }],
      },
    );
    await page.getByText('Not ready: draining', { exact: true }).waitFor();
    expect(await page.locator('.epoch-table tbody th').first().textContent()).toBe('5');
    expect(await page.locator('p[role=status]').textContent()).toBe(
      'The agent is not ready: draining.',
    );
    expect(await page.getByRole('button', { name: 'Restart' }).isDisabled()).toBe(true);
    expect(epochs).toHaveLength(5);
  });

  it('says why Envoy has crashed, and opens what to do about it', async () => {
    const { page } = await visit(browser, fake.url);
    const item = page.locator('.attention .crash');
    expect(await item.locator('.said > span').textContent()).toContain(
      'epoch 1: crash: ended by SIGSEGV: [critical] Caught Segmentation',
    );
    expect(await item.getByText('Otherwise read the cause').isVisible()).toBe(false);
    await item.getByText('What to do').click();
    await item.getByText('Otherwise read the cause').waitFor();
  });

  it('shows no rate while no epoch serves, no chart of what nobody has measured, and one word for phase and readiness', async () => {
    const { epochs, ...report } = life.report;
    await fake.close();
    fake = await fakeStatus(() => [
      { event: 'report', data: { ...report, ready: { ok: false, reason: 'Envoy has crashed' } } },
      { event: 'epochs', data: epochs.map((epoch) => ({ ...epoch, state: 'ended' as const })) },
      { event: 'traffic', data: life.traffic.slice(0, 1) },
    ]);
    const { page } = await visit(browser, fake.url);
    expect(await page.locator('.facts').textContent()).toMatch(/Requests–\d.*Failures–\d/s);
    expect(await page.locator('.chart').count()).toBe(0);
    const service = page.getByRole('region', { name: 'Service' });
    fake.tell(
      { event: 'service', data: life.service },
      { event: 'traffic', data: life.traffic.slice(1) },
    );
    await page.locator('.chart').first().waitFor();
    const heads = await page.locator('.chart figcaption').allTextContents();
    expect(heads.map((head) => /^(\w+) (–|[\d.]+)/.exec(head)?.slice(1))).toEqual(
      expect.arrayContaining(['Requests', 'Failures', 'Connections'].map((title) => [title, '–'])),
    );
    expect(await service.textContent()).toBe('ServiceNo Envoy serves now.');
    expect(await page.locator('.masthead .state').allTextContents()).toEqual(['not ready']);
  });

  it('shows the service of Envoy: both directions, clusters with what is not healthy first, listeners', async () => {
    const { page } = await visit(browser, fake.url);
    const service = page.getByRole('region', { name: 'Service' });
    const cells = async () =>
      Promise.all(
        (await service.locator('.directions tbody tr').all()).map((row) =>
          row.locator('th, td').allTextContents(),
        ),
      );
    expect(await cells()).toEqual([
      ['Inbound', '9,120', '99.95 %', '3 ms', '41 ms'],
      ['Outbound', '4,410', '100 %', '2 ms', '19 ms'],
    ]);
    expect(await service.locator('.rows li').first().textContent()).toContain(
      'service-0.shop.svc.cluster.local0 of 3',
    );
    await service.getByText('18 more').click();
    expect(await service.getByText('0.0.0.0:15006').textContent()).toBe('0.0.0.0:15006');
    const answeringService = {
      at: new Date().toISOString(),
      state: 'answering',
      listeners: { count: 0, first: [] },
    } as const;
    fake.tell({ event: 'service', data: answeringService });
    await expect.poll(() => service.getByText('its stats_config leaves them out').count()).toBe(2);
    expect(await service.textContent()).toContain('Clusters: Envoy counts none');
    fake.tell({
      event: 'service',
      data: { at: answeringService.at, state: 'silent', reason: 'connect ECONNREFUSED' },
    });
    await service.getByText('Envoy does not report it: connect ECONNREFUSED').waitFor();
  });

  it.each([
    ['Restart', '/restart'],
    ['Drain', '/drain'],
  ])('asks before it tells the agent to %s', async (name, path) => {
    const { page, complaints } = await visit(browser, fake.url);
    await page.getByRole('button', { name: `${name} …` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: `${name} …` }).click();
    await page.keyboard.press('Escape');
    expect(fake.orders).toEqual([]);
    await page.getByRole('button', { name: `${name} …` }).click();
    expect(await page.getByRole('dialog').locator('.grave').count()).toBe(name === 'Drain' ? 1 : 0);
    await page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
    await page.getByText(`${name}: the agent has accepted the request.`).waitFor();
    expect([fake.orders, complaints]).toEqual([[path], []]);
  });

  it('says that the agent is away, keeps what it knew, and goes on by itself', async () => {
    const { page } = await visit(browser, fake.url);
    await fake.close();
    await page.getByText(/^away for/).waitFor();
    expect(await page.locator('.epoch-table tbody th').count()).toBe(5);
    expect(await page.getByRole('button', { name: 'Restart' }).isDisabled()).toBe(true);
    const other = {
      ...life,
      report: {
        ...life.report,
        agent: { ...life.report.agent, pid: 1 },
        epochs: life.report.epochs.slice(0, 1),
      },
    };
    fake = await fakeStatus(() => firstEvents(other), fake.port);
    await page.getByText(/^live \d/).waitFor();
    await expect.poll(() => page.locator('.epoch-table tbody th').count()).toBe(1);
  });

  it('has all of the past again after a reload', async () => {
    const { page } = await visit(browser, fake.url);
    const shown = async () => {
      const rows = await page.locator('.epoch-table tbody tr:not(.room)').all();
      return {
        // All cells but the age, which changes.
        epochs: await Promise.all(
          rows.map((row) => row.locator('th, td:not(:nth-child(7))').allTextContents()),
        ),
        charts: await page.locator('.chart path').count(),
        lines: await page.getByText(/^\d+ lines$/).textContent(),
      };
    };
    const before = await shown();
    await page.reload();
    await page.getByRole('heading', { name: 'Epochs' }).waitFor();
    await expect.poll(shown).toEqual(before);
    expect([before.epochs.length, before.lines]).toEqual([5, '400 lines']);
  });

  it('says that four listen already, and takes a place that becomes free', async () => {
    const pages = [];
    for (let count = 0; count < 4; count += 1) pages.push(await visit(browser, fake.url));
    const fifth = await browser.newPage();
    await fifth.goto(fake.url);
    await fifth.getByText(/^Four listen already/).waitFor();
    await pages[0]?.page.close();
    await fifth.getByRole('heading', { name: 'Epochs' }).waitFor();
    expect(fake.listening()).toBe(4);
  });

  it('filters the log by level, component, epoch and words', async () => {
    const { page } = await visit(browser, fake.url);
    const count = () => page.locator('.log .title .dim').textContent();
    expect(await count()).toBe('400 lines');
    await page.getByLabel('Level').selectOption('warn');
    await expect.poll(count).toBe('133 of 400 lines');
    await page.getByLabel('Component').selectOption('envoy');
    await expect.poll(count).toBe('67 of 400 lines');
    await page.getByLabel('Level').selectOption('trace');
    await page.getByLabel('Component').selectOption('');
    await page.getByLabel('Text').fill('CRASHED part-4.pem');
    await expect.poll(count).toBe('4 of 400 lines');
    await page.getByLabel('Text').fill('no such word');
    await page.getByText('No line passes the filters.').waitFor();
  });

  it('says how the log is turned on if it may not be seen', async () => {
    await fake.close();
    fake = await fakeStatus(() => firstEvents(life, false));
    const { page } = await visit(browser, fake.url);
    await page.getByText('--statusPageLog=true').waitFor();
  });

  it('stays fluid with 1,000 epochs and 100,000 lines of the log, while more come', async () => {
    const now = Date.now();
    const [first] = life.report.epochs;
    if (first === undefined) throw new Error('the life has no epoch');
    const calm = await visit(browser, fake.url);
    await follow(calm.page, fake, first, 1_000);
    const small = await cpuOf(calm.page, () => follow(calm.page, fake, first, 2_000));
    await calm.page.close();
    const { page, complaints } = await visit(browser, fake.url);
    const timeAgo = (ms: number) => new Date(now - ms).toISOString();
    const epochs = Array.from({ length: 1_000 }, (_, epoch): EpochReport => ({
      ...first,
      epoch,
      launchedAt: timeAgo((1_000 - epoch) * 3_000),
      liveAt: timeAgo((1_000 - epoch) * 3_000 - 500),
      toldToDrainAt: timeAgo((1_000 - epoch) * 3_000 - 3_000),
      endedAt: timeAgo((1_000 - epoch) * 3_000 - 4_000),
    }));
    const { agent } = life.report;
    fake.tell(
      {
        event: 'report',
        data: {
          ...life.report,
          epochs: undefined,
          agent: { ...agent, startedAt: timeAgo(3_001_000) },
        } as Extract<LiveEvent, { event: 'report' }>['data'],
      },
      ...firstEvents(life).filter(({ event }) => event === 'traffic' || event === 'service'),
      { event: 'epochs', data: epochs },
      { event: 'log', data: life.log },
    );
    for (let sent = 0; sent < 100; sent += 1)
      fake.tell({ event: 'log', data: someLines(now, 1_000, 1_000 + sent * 1_000) });
    await expect.poll(() => page.locator('.log .title .dim').textContent()).toBe('100,400 lines');
    await page.getByRole('button', { name: 'all', exact: true }).click();
    expect(await page.locator('svg *').count()).toBeLessThan(2_000);
    expect(await page.locator('.line, .epoch-table tr').count()).toBeLessThan(200);
    await follow(page, fake, first, 101_000);
    const large = await cpuOf(page, () => follow(page, fake, first, 102_000));
    await page.getByLabel('Text').fill('crashed');
    await page.getByText(/of 102,400 lines/).waitFor();
    process.stdout.write(
      `CPU of 20 steps: ${small.toFixed(2)} s with 5 epochs, ${large.toFixed(2)} s with 1,000\n`,
    );
    expect(large / small).toBeLessThan(growth);
    expect(complaints).toEqual([]);
  });

  it('asks nobody but the agent', async () => {
    const page = await browser.newPage();
    const urls: string[] = [];
    page.on('request', (request) => urls.push(request.url()));
    await page.goto(fake.url);
    await page.getByRole('heading', { name: 'Epochs' }).waitFor();
    expect(urls.filter((url) => !url.startsWith('data:'))).toEqual([
      fake.url,
      `${fake.url}debug/events`,
    ]);
  });
});
