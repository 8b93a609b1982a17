import { spawnSync } from 'node:child_process';

/**
 * Programs that the tests need and a machine may lack, with their Debian packages. They include
 * programs that strip and run the executable for the other CPU.
 */
const programs = {
  zsh: ['zsh'],
  fish: ['fish'],
  mandoc: ['mandoc'],
  tmux: ['tmux'],
  chromium: ['chromium'],
  debootstrap: ['debootstrap'],
  gcc: ['gcc'],
  tini: ['tini'],
  lintian: ['lintian'],
  faketime: ['faketime'],
  'systemd-analyze': ['systemd'],
  ...(process.arch === 'x64'
    ? {
        'aarch64-linux-gnu-strip': ['binutils-aarch64-linux-gnu'],
        'aarch64-linux-gnu-gcc': ['gcc-aarch64-linux-gnu', 'linux-libc-dev-arm64-cross'],
        'qemu-aarch64-static': ['qemu-user-static', 'libc6-arm64-cross', 'libstdc++6-arm64-cross'],
      }
    : {
        'x86_64-linux-gnu-strip': ['binutils-x86-64-linux-gnu'],
        'x86_64-linux-gnu-gcc': ['gcc-x86-64-linux-gnu', 'linux-libc-dev-amd64-cross'],
        'qemu-x86_64-static': ['qemu-user-static', 'libc6-amd64-cross', 'libstdc++6-amd64-cross'],
      }),
};

const isThere = (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
const missing = Object.entries(programs).flatMap(([name, packages]) =>
  isThere(name) ? [] : packages,
);

// Without a program, the tests that need it are skipped, and the run lists them.
if (missing.length > 0) {
  const installed =
    process.getuid?.() === 0 &&
    isThere('apt-get') &&
    [['update'], ['install', '--yes', '--no-install-recommends', ...missing]].every(
      (args) =>
        spawnSync('apt-get', args, {
          stdio: 'ignore',
          env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
        }).status === 0,
    );
  if (!installed)
    console.error(
      `Not installed, for it needs root and apt-get: ${missing.join(', ')}. Some tests are left out.`,
    );
}
