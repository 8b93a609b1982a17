import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A control group and all groups above it. */
export interface ControlGroup {
  readonly version: 1 | 2;
  /** The lowest first; some may not exist. */
  readonly folders: readonly string[];
}

/**
 * Returns the control group of this process for a controller, in either version; undefined if there
 * is none. `root` is for tests.
 *
 * Within a container the group's path is often that of the host, and its files are at the top.
 */
export function controlGroup(controller: 'cpu' | 'memory', root = '/'): ControlGroup | undefined {
  const groups = readText(join(root, 'proc/self/cgroup')).split('\n');
  const ofVersion1 = new RegExp(`^\\d+:(?:[^:]*,)?${controller}(?:,[^:]*)?:(.*)$`);
  const path1 = groups.map((line) => ofVersion1.exec(line)?.[1]).find((path) => path !== undefined);
  const path2 = groups
    .map((line) => /^0::(.*)$/.exec(line)?.[1])
    .find((path) => path !== undefined);
  if (path1 !== undefined)
    return { version: 1, folders: upwards(join(root, 'sys/fs/cgroup', controller), path1) };
  return path2 === undefined
    ? undefined
    : { version: 2, folders: upwards(join(root, 'sys/fs/cgroup'), path2) };
}

function upwards(mount: string, path: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = join('/', path); ; folder = dirname(folder)) {
    folders.push(join(mount, folder));
    if (folder === '/') return folders;
  }
}

/** Returns the text of a small file; empty if it cannot be read. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
