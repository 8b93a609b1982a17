import { writeFileSync } from 'node:fs';

/** The file in which Linux keeps what a core dump of this process has (core(5)). */
export const dumpFilter = '/proc/self/coredump_filter';

/**
 * Takes the memory of this process out of its core dumps: it has private keys. Returns why that
 * failed; undefined if it did not.
 *
 * Kubernetes has no setting for core dumps, and Node can neither set a limit nor call prctl.
 */
export function dumpNoMemory(path: string): string | undefined {
  try {
    writeFileSync(path, '0');
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
