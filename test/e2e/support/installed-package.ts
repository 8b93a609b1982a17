import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import packageJson from '../../../package.json' with { type: 'json' };

/** A project that has installed this package. */
export interface InstalledPackage {
  /** Of the project. */
  readonly folder: string;
  /** Of the package in it. */
  readonly root: string;
  readonly tarball: Buffer;
  dispose(): void;
}

/**
 * Packs this package, and installs it in a project elsewhere: without a registry, so each
 * dependency is a link to the one that is here, and what is not declared as one is not there.
 *
 * @param more packages that the project needs beside it
 */
export function installPackage(more: readonly string[] = []): InstalledPackage {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-installed-'));
  const [{ filename = '' } = {}] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as { filename?: string }[];
  const packed = join(folder, filename);
  const modules = join(folder, 'node_modules');
  const root = join(modules, 'pilot-agent');
  mkdirSync(root, { recursive: true });
  execFileSync('tar', ['-xzf', packed, '-C', root, '--strip-components', '1']);
  for (const name of [...Object.keys(packageJson.dependencies), ...more]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(resolve('node_modules', name), join(modules, name));
  }
  return { folder, root, tarball: readFileSync(packed), dispose: () => rmSync(folder, { recursive: true }) };
}
