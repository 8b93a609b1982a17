import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { format, resolveConfig } from 'prettier';

/** Returns a page of Markdown, formatted with the configuration for its path. */
export async function formattedPage(path: string, text: string): Promise<string> {
  return format(text, { ...(await resolveConfig(path)), parser: 'markdown' });
}

/** Formats a page of Markdown, writes it, and resolves to it. */
export async function writePage(path: string, text: string): Promise<string> {
  const page = await formattedPage(path, text);
  writeFileSync(path, page);
  return page;
}

/** Returns a description of this machine, for a page with measurements. */
export const machineText = (): string => `${cpus().length} cores, Node ${process.version}`;
