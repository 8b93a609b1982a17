import { printable } from '../../shared/log/printable.ts';
import { checkFile } from '../run/start/check-file.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';

/**
 * `pilot-agent config check FILE`: writes a line for each mistake in a configuration file and for
 * each warning: file, line, column, member, and the correction. Rejects with 78 if there is a
 * mistake.
 */
export async function configCheck(path: string): Promise<void> {
  const remarks = await checkFile(path);
  for (const { kind, line, column, text } of remarks)
    console.log(
      printable(
        `${path}${line === 0 ? '' : `:${line}:${column}`}: ${kind === 'warning' ? 'warning: ' : ''}${text}`,
      ),
    );
  const { length } = remarks.filter(({ kind }) => kind === 'mistake');
  if (length > 0)
    throw new Fatal(
      `${path} has ${length === 1 ? 'a mistake' : `${length} mistakes`}`,
      exitCodes.config,
    );
  console.log(`${path} is in order`);
}
