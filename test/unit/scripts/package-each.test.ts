import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const { cpusToMake, makeEach } = (await import(resolve('scripts/package-each.mjs'))) as {
  readonly cpusToMake: (
    requested: readonly string[],
    supported: readonly string[],
    machineCpu: string,
  ) => readonly string[];
  readonly makeEach: (
    cpus: readonly string[],
    make: (cpu: string) => Promise<string>,
  ) => Promise<unknown>;
};

const supported = ['x64', 'arm64'];

describe('npm run package', () => {
  it.each([
    ['nothing is asked for: that of this machine', [], ['arm64']],
    ['one is asked for', ['x64'], ['x64']],
    ['both are, one of them twice', ['x64', 'arm64', 'x64'], ['x64', 'arm64']],
  ])('makes: %s', (_, requested, cpus) => {
    expect(cpusToMake(requested, supported, 'arm64')).toEqual(cpus);
  });

  it.each([
    [['x46'], 'x64', 'there is no executable for x46: name x64 or arm64'],
    [[], 'riscv64', 'there is no executable for riscv64: name x64 or arm64'],
  ])('makes nothing for %j on %s', (requested, machineCpu, reason) => {
    expect(() => cpusToMake(requested, supported, machineCpu)).toThrow(reason);
  });

  it.each([
    ['the first', 'x64', 'arm64'],
    ['the second', 'arm64', 'x64'],
  ])('keeps what is made if %s fails', async (_, failing, other) => {
    const make = (cpu: string) =>
      cpu === failing
        ? Promise.reject(new Error('strip: ENOENT'))
        : Promise.resolve(`sum of ${cpu}`);
    expect(await makeEach(supported, make)).toEqual({
      made: [`sum of ${other}`],
      failures: [{ cpu: failing, reason: 'strip: ENOENT' }],
    });
  });
});
