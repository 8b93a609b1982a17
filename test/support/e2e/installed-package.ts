import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** A project that has installed this package. */
export interface InstalledPackage {
  /** Of the project. */
  readonly folder: string;
  /** Of the package in it. */
  readonly root: string;
  readonly tarball: Buffer;
  /** What npm put beside it. */
  readonly others: readonly string[];
  dispose(): void;
}

/**
 * Packs this package, and installs it in a project elsewhere, with no registry to be had: what it
 * lacked would not be there.
 *
 * @param more packages that the project has of its own; each is a link to the one that is here
 */
export function installPackage(more: readonly string[] = []): InstalledPackage {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-installed-'));
  const npm = (cwd: string, args: readonly string[]) =>
    execFileSync('npm', [...args, '--ignore-scripts'], {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  const [{ filename = '' } = {}] = JSON.parse(
    npm('.', ['pack', '--json', '--pack-destination', folder]),
  ) as { filename?: string }[];
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  npm(folder, ['install', '--offline', '--no-audit', '--no-fund', `./${filename}`]);
  const modules = join(folder, 'node_modules');
  const others = readdirSync(modules).filter(
    (name) => !name.startsWith('.') && name !== 'pilot-agent',
  );
  for (const name of more) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(resolve('node_modules', name), join(modules, name));
  }
  const tarball = readFileSync(join(folder, filename));
  return {
    folder,
    root: join(modules, 'pilot-agent'),
    tarball,
    others,
    dispose: () => rmSync(folder, { recursive: true }),
  };
}
