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
  /** The folder of the project. */
  readonly folder: string;
  /** The folder of the package in the project. */
  readonly root: string;
  readonly tarball: Buffer;
  /** The names of everything that npm installed beside the package. */
  readonly others: readonly string[];
  dispose(): void;
}

/**
 * Packs this package, and installs it in a project elsewhere without a registry. So anything that
 * the package lacks is missing there.
 *
 * @param more the project's own packages; each is a link to the package that is installed here
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
