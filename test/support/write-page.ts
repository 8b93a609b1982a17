import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { format, resolveConfig } from 'prettier';

/** Returns a page of Markdown as the formatter has it, for the place where it is kept. */
export async function formattedPage(path: string, text: string): Promise<string> {
  return format(text, { ...(await resolveConfig(path)), parser: 'markdown' });
}

/** Writes a page of Markdown as the formatter has it, and resolves to it. */
export async function writePage(path: string, text: string): Promise<string> {
  const page = await formattedPage(path, text);
  writeFileSync(path, page);
  return page;
}

/** The machine of a measurement, for a page. */
export const machineText = (): string => `${cpus().length} cores, Node ${process.version}`;
