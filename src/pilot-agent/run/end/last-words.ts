import { fstatSync, statSync } from 'node:fs';
import { isatty } from 'node:tty';
import { type GivenLogFlags, logOptions } from '../../../shared/log/log-options.ts';
import { line } from '../../../shared/log/log-line.ts';
import { streamOf } from '../../../shared/log/log-target.ts';
import { openLog } from '../../../shared/log/open-log.ts';
import { seeExit } from '../../../shared/program/exit.ts';

/**
 * Writes into the log of an agent why it ends with `code`. Resolves to whether the reason is shown
 * at the target of stderr. A log that cannot be opened is skipped.
 *
 * Each destination gets the reason once. If a terminal is both log and stderr, it gets the line
 * that every command writes. If a JSON log goes to the same file or pipe as stderr, it gets the log
 * line.
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
      return [{ log: openLog({ ...options, targets: [target] }, 'agent'), place }];
    } catch {
      return [];
    }
  });
  for (const { log } of opened) log.write(lastLine);
  await Promise.all(opened.map(({ log }) => log.close()));
  return stderr !== undefined && opened.some(({ place }) => place === stderr);
}

/** Identifies a file, pipe or terminal, whatever its name; undefined if it does not exist. */
function placeOf(target: string): string | undefined {
  try {
    const stream = streamOf(target);
    const { dev, ino } = stream === undefined ? statSync(target) : fstatSync(stream);
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
}
