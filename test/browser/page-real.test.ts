import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { EpochReport, EpochsReport } from '../../src/pilot-agent/report/epoch-report.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';
import { ask } from '../support/ask.ts';
import { leftOut } from '../support/left-out.ts';
import { startLoad } from '../support/load.ts';
import { faults, hasBrowser, openBrowser, visit } from '../support/browser/browser.ts';
import { eventfulRun } from '../support/browser/eventful-run.ts';

if (!hasBrowser) leftOut('Chromium: the page of a real agent', 'a program');

describe.skipIf(!hasBrowser)('the page of a real agent', () => {
  let browser: Browser;
  let rig: Rig;
  beforeAll(async () => (browser = await openBrowser()), 60_000);
  afterAll(() => browser.close());
  beforeEach(async () => (rig = await makeRig()));
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    await rig.dispose();
  });

  const url = () => `http://localhost:${rig.ports.status}/`;
  const reportedEpochs = async () =>
    (JSON.parse((await ask(rig.ports.status, '/debug/epochs')).body) as EpochsReport).epochs;

  /** Resolves to the times and the text of an epoch's details. */
  async function shown(page: Page, { epoch }: EpochReport) {
    await page.getByRole('rowheader', { name: String(epoch), exact: true }).click();
    const details = page.getByRole('region', { name: new RegExp(`^Epoch ${epoch}\\b`) });
    const times = await Promise.all(
      (await details.locator('time').all()).map((time) => time.getAttribute('datetime')),
    );
    return { times, text: (await details.textContent()) ?? '' };
  }

  it('shows a rotation, a crash, a refusal and a drain as /debug/epochs has them', async () => {
    const agent = rig.start(['--statusPageLog']);
    await agent.said('epoch.live', 0);
    const { page, complaints } = await visit(browser, url());
    const load = startLoad({
      port: rig.ports.listen,
      tls: { ca: rig.ca.rootCert },
      mode: 'new-connection',
      clients: 1,
      pause: 20,
      maxDuration: Infinity,
    });
    await eventfulRun(rig, agent);
    await page.getByText('The newest configuration is refused').waitFor();
    await expect
      .poll(async () => (await reportedEpochs()).filter(({ state }) => state !== 'ended').length)
      .toBe(1);
    const epochs = await reportedEpochs();
    expect(epochs.map(({ epoch, state, exit }) => [epoch, state, exit?.expected])).toEqual([
      [0, 'ended', true],
      [1, 'ended', true],
      [2, 'ended', false],
      [3, 'live', undefined],
    ]);
    await expect
      .poll(() => page.locator('.epoch-table tbody th').allTextContents())
      .toEqual(['3', '2', '1', '0']);
    for (const epoch of epochs) {
      const { launchedAt, spawnedAt, liveAt, toldToDrainAt, endedAt, hash, pid, exit, changed } =
        epoch;
      const { times, text } = await shown(page, epoch);
      expect(times).toEqual(
        [launchedAt, spawnedAt, liveAt, toldToDrainAt, endedAt].filter(
          (time) => time !== undefined,
        ),
      );
      const words = [
        hash,
        `pid ${pid}`,
        ...changed.map(({ part }) => part),
        ...(exit?.lastWords ?? []),
        ...(exit?.signal === undefined ? [] : [exit.signal]),
      ];
      for (const word of words) expect(text).toContain(word);
    }
    await expect.poll(() => page.locator('.facts').textContent()).toMatch(/Requests[1-9]/);
    await page
      .getByRole('option', { name: /refused/ })
      .first()
      .waitFor();
    expect(await faults(page)).toEqual([]);

    await page.reload();
    await expect
      .poll(() => page.locator('.epoch-table tbody th').allTextContents())
      .toEqual(['3', '2', '1', '0']);
    expect(await page.locator('.chart .area').first().getAttribute('d')).toMatch(/L/);

    await load.stop();
    await page.getByRole('button', { name: 'Drain …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Drain', exact: true }).click();
    await page.getByText('Not ready: draining', { exact: true }).waitFor();
    expect((await rig.ready()).body).toContain('draining');
    expect(complaints).toEqual([]);
  });

  it('starts an epoch by its button, and says so when the agent has gone', async () => {
    const agent = rig.start();
    await agent.said('epoch.live', 0);
    const { page } = await visit(browser, url());
    await page.getByText('--statusPageLog=true').waitFor();
    await page.getByRole('button', { name: 'Restart …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restart', exact: true }).click();
    await agent.said('epoch.live', 1);
    await page.getByRole('row', { name: /^1 live by hand/ }).waitFor();
    agent.kill('SIGTERM');
    await page.getByText(/^away for/).waitFor();
    expect(await page.locator('.epoch-table tbody th').count()).toBe(2);
  });

  it('is not there with --statusPage=false', async () => {
    const agent = rig.start(['--statusPage=false']);
    await agent.said('epoch.live', 0);
    expect(await ask(rig.ports.status, '/')).toEqual({ status: 404, body: '404 page not found\n' });
    expect((await ask(rig.ports.status, '/debug/epochs')).status).toBe(200);
  });

  it('is for at most four at once', async () => {
    const agent = rig.start();
    await agent.said('epoch.live', 0);
    for (let count = 0; count < 4; count += 1) await visit(browser, url());
    const fifth = await browser.newPage();
    await fifth.goto(url());
    await fifth.getByText(/^There are 4 event streams already/).waitFor();
  });
});
