import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

/** The maximum number of failures in the last lines of a failing run. */
const most = 4;

interface Failed {
  readonly file: string;
  /** Undefined if the file could not be loaded, or one of its hooks failed. */
  readonly name: string | undefined;
}

/**
 * Returns the last lines of a failing run: each failure, and the command that repeats it alone.
 * Pure.
 */
export function failedLines(failed: readonly Failed[]): string[] {
  const shown = failed
    .slice(0, most)
    .flatMap(({ file, name }) => [
      `Failed: ${file}${name === undefined ? '' : ` > ${name}`}`,
      `  again: npx vitest run ${file}${name === undefined ? '' : ` -t ${quoted(name)}`}`,
    ]);
  const files = [...new Set(failed.slice(most).map(({ file }) => file))];
  return failed.length > most
    ? [...shown, `and ${failed.length - most} more, in ${files.slice(0, 5).join(' ')}`]
    : shown;
}

/** Returns a name quoted for the shell, and escaped because `-t` takes a regular expression. */
function quoted(name: string): string {
  return `'${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll("'", `'\\''`)}'`;
}

function failuresOf(module: TestModule): Failed[] {
  const file = relative(process.cwd(), module.moduleId);
  const tests = [...module.children.allTests('failed')].map(({ fullName }) => ({
    file,
    name: fullName.replaceAll(' > ', ' '),
  }));
  return tests.length === 0 && module.state() === 'failed' ? [{ file, name: undefined }] : tests;
}

/** A reporter that ends a failing run with its failures, and the commands that repeat them. */
export default class TellFailed implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = failedLines(modules.flatMap(failuresOf));
    // At exit, after everything that other reporters print at the end.
    if (lines.length > 0)
      process.once('exit', () => process.stdout.write(`\n${lines.join('\n')}\n`));
  }
}
