import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { openBrowser, sizes, visit } from '../test/support/browser/browser.ts';
import { eventfulRun } from '../test/support/browser/eventful-run.ts';
import { makeRig } from '../test/support/e2e/rig.ts';
import { startLoad } from '../test/support/load.ts';

/**
 * Takes pictures of the agent's page during a real run under load, with two rotations, a crash, and
 * a configuration that is refused. They are WebP, in three sizes, dark and light.
 */

const folder = 'docs/page';
/** The time between two events of the run. In ms. */
const between = 9_000;
const flags = ['--drainDuration', '3s', '--parentShutdownDuration', '5s', '--statusPageLog'];

const rig = await makeRig();
const browser = await openBrowser();
try {
  mkdirSync(folder, { recursive: true });
  const agent = rig.start(flags);
  await agent.said('epoch.live', 0);
  const { page: looking } = await visit(browser, `http://localhost:${rig.ports.status}/`);
  const tls = { ca: rig.ca.rootCert };
  const loads = (['keep-alive', 'new-connection'] as const).map((mode) =>
    startLoad({ port: rig.ports.listen, tls, mode, clients: 2, pause: 15, maxDuration: Infinity }),
  );
  await eventfulRun(rig, agent, between);
  await pause(2_000);
  await looking.close();
  for (const size of Object.keys(sizes) as (keyof typeof sizes)[]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await visit(browser, `http://localhost:${rig.ports.status}/`, {
        size,
        colorScheme,
      });
      await page.getByRole('button', { name: '1 min' }).click();
      await page.getByRole('row', { name: /crash/ }).click();
      await page.evaluate('scrollTo(0, 0)');
      await pause(1_200);
      const path = `${folder}/${size}-${colorScheme}.webp`;
      const session = await page.context().newCDPSession(page);
      const { data } = await session.send('Page.captureScreenshot', {
        format: 'webp',
        quality: 60,
      });
      writeFileSync(path, Buffer.from(data, 'base64'));
      process.stdout.write(`${path}: ${statSync(path).size} bytes\n`);
      await page.close();
    }
  }
  await Promise.all(loads.map((load) => load.stop()));
} finally {
  await browser.close();
  await rig.dispose();
}
