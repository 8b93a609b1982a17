import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';

/** The path of the Chromium of Debian. */
const chromiumPath = '/usr/bin/chromium';

const args = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Whether there is a browser; `scripts/install-programs.mjs` installs it. */
export const hasBrowser = existsSync(chromiumPath);

/** Starts a browser with a new profile, which is deleted when the browser is closed. */
export async function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath, args });
}

/** The sizes of a window on a desk, a tablet and a phone. */
export const sizes = {
  desk: { width: 1440, height: 900 },
  tablet: { width: 900, height: 1100 },
  phone: { width: 390, height: 844 },
} as const;

export interface Visit {
  readonly page: Page;
  /** The errors and warnings in the console of the browser, and the exceptions of the page. */
  readonly complaints: readonly string[];
}

/** Opens a page in a new context, and waits until it shows an agent. */
export async function visit(
  browser: Browser,
  url: string,
  {
    size = 'desk',
    colorScheme = 'light',
  }: { readonly size?: keyof typeof sizes; readonly colorScheme?: 'light' | 'dark' } = {},
): Promise<Visit> {
  const page = await browser.newPage({ viewport: sizes[size], colorScheme, locale: 'en-GB' });
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', ({ message }) => complaints.push(message));
  await page.goto(url);
  await page.getByRole('heading', { name: 'Epochs' }).waitFor();
  return { page, complaints };
}

/** Returns the violations that axe finds, one line each. */
export async function faults(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const result = await page.evaluate('axe.run(document, { resultTypes: ["violations"] })');
  const { violations } = result as {
    violations: readonly {
      id: string;
      nodes: readonly { html: string; failureSummary: string }[];
    }[];
  };
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)}: ${failureSummary}`),
  );
}
