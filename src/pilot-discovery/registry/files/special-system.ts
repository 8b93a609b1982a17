import { statfsSync } from 'node:fs';

/** The file systems in which the kernel shows its own state, by their type (linux/magic.h). */
const special: ReadonlyMap<number, string> = new Map([
  [0x9fa0, 'proc'],
  [0x62656572, 'sysfs'],
  [0x27e0eb, 'cgroup'],
  [0x63677270, 'cgroup2'],
  [0x64626720, 'debugfs'],
  [0x74726163, 'tracefs'],
  [0x73636673, 'securityfs'],
  [0x1cd1, 'devpts'],
  [0xcafe4a11, 'bpf'],
  [0x6165676c, 'pstore'],
  [0x19800202, 'mqueue'],
  [0x42494e4d, 'binfmt_misc'],
  [0xde5e81e4, 'efivarfs'],
  [0x65735543, 'fusectl'],
  [0x62656570, 'configfs'],
  [0x6e736673, 'nsfs'],
]);

/**
 * Returns a function that names the special file system of a path, if it is in one. A file there
 * may have no end, or may change with each look. Each device is looked up once.
 */
export function specialSystems(): (path: string, device: bigint) => string | undefined {
  const typeByDevice = new Map<bigint, string | undefined>();
  return (path, device) => {
    if (!typeByDevice.has(device)) typeByDevice.set(device, typeOf(path));
    return typeByDevice.get(device);
  };
}

function typeOf(path: string): string | undefined {
  try {
    return special.get(statfsSync(path).type);
  } catch {
    return undefined; // a read of the path reports the failure
  }
}
