import { printable } from '../../shared/log/printable.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { print } from '../../shared/program/print.ts';
import { askRunning } from './ask-running.ts';

/**
 * `pilot-discovery request GET PATH`: prints what `--httpAddr` answers, and nothing else. Rejects
 * with a {@link Fatal} if nobody answers, and for a status above 399.
 */
export async function request(method: string, path: string, httpAddr: string): Promise<void> {
  if (method.toUpperCase() !== 'GET')
    throw new Fatal(`method: '${method}' is not GET`, exitCodes.usage);
  await printed('GET', path, httpAddr);
}

/** `pilot-discovery confirm`: lets the removals happen that are held back, and prints how many. */
export async function confirm(httpAddr: string): Promise<void> {
  await printed('POST', '/confirm', httpAddr);
}

async function printed(method: 'GET' | 'POST', path: string, address: string): Promise<void> {
  const { status, body } = await askRunning({ flag: '--httpAddr', address }, method, path);
  if (status > 399) throw new Fatal(`${path}: status ${status}: ${body.trim()}`, exitCodes.refused);
  await print(printable(body.endsWith('\n') ? body : `${body}\n`));
}
