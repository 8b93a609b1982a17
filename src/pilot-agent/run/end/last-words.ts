import { fstatSync, statSync } from 'node:fs';
import { isatty } from 'node:tty';
import { type GivenLogFlags, logOptions } from '../../../shared/log/log-options.ts';
import { line } from '../../../shared/log/log-line.ts';
import { streamOf } from '../../../shared/log/log-target.ts';
import { openLog } from '../../../shared/log/open-log.ts';
import { seeExit } from '../../../shared/program/exit.ts';

/**
 * Writes into the log of an agent why it ends with `code`, and resolves to whether that is to be
 * seen where stderr goes. A log that cannot be opened is passed over.
 *
 * Each place gets the reason once. A terminal that is stderr too gets the line that every command
 * writes; where a log of JSON goes to the same file or pipe as stderr, it gets the line of the log.
 */
export async function lastWords(
  code: number,
  reason: string,
  flags: GivenLogFlags,
): Promise<boolean> {
  const { options } = logOptions(flags);
  const lastLine = line('agent.failed', {
    component: 'agent',
    code,
    reason,
    see: seeExit(code),
  });
  const stderr = placeOf('stderr');
  const opened = options.targets.flatMap((target) => {
    const place = placeOf(target);
    const isPerson = place === stderr && !options.json && isatty(streamOf(target) ?? 2);
    if (isPerson || options.level === 'none') return [];
    try {
      return [{ log: openLog({ ...options, targets: [target] }), place }];
    } catch {
      return [];
    }
  });
  for (const { log } of opened) log.write(lastLine);
  await Promise.all(opened.map(({ log }) => log.close()));
  return stderr !== undefined && opened.some(({ place }) => place === stderr);
}

/** What is the same for two names of one file, pipe or terminal; undefined where there is none. */
function placeOf(target: string): string | undefined {
  try {
    const stream = streamOf(target);
    const { dev, ino } = stream === undefined ? statSync(target) : fstatSync(stream);
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
}
