import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildGuard, guard } from './build-guard.mjs';

const [
  cpu = process.arch,
  executable = `executable/pilot-agent-linux-${cpu}`,
  folder = 'executable',
] = process.argv.slice(2);
const { version, description } = JSON.parse(readFileSync('package.json', 'utf8'));
const architecture = { x64: 'amd64', arm64: 'arm64' }[cpu];

const control = `Package: pilot-agent
Version: ${version}
Architecture: ${architecture}
Maintainer: The maintainers of pilot-agent <maintainers@pilot-agent.invalid>
Depends: libc6 (>= 2.28), libgcc-s1, libstdc++6
Section: net
Priority: optional
Description: ${description.charAt(0).toLowerCase()}${description.slice(1)}
 It starts Envoy, hot-restarts it when certificates or configuration change,
 brings it back after a crash, answers probes, and ends it without losing a
 request. Envoy itself is not in this package.
`;

const copyright = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: pilot-agent

Files: *
Copyright: The authors of pilot-agent
License: Apache-2.0
Comment: The licences of Node and of all packages that are in the executable are
 in THIRD-PARTY-NOTICES.txt and NODE-LICENSE.txt, in this folder.

License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.
`;

/** Creates the user of the unit. It does not start the unit, which must be configured first. */
const configured = `#!/bin/sh
set -e
if [ "$1" = configure ] && command -v systemd-sysusers > /dev/null; then
  systemd-sysusers pilot-agent.conf
fi
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
`;
const removed = `#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
`;

/** Compresses a manual or a text. The result does not contain the time of the build. */
const packed = (file) => gzipSync(readFileSync(file), { level: 9 });
const completion = (shell) => execFileSync(executable, ['completion', shell]);
/** The path of a text in the folder of the executable, or else in that of the build. */
const textOf = (name) =>
  [dirname(executable), 'dist'].map((place) => join(place, name)).find((file) => existsSync(file));

const files = {
  'DEBIAN/control': control,
  'usr/lib/systemd/system/pilot-agent.service': readFileSync('deploy/systemd/pilot-agent.service'),
  'usr/lib/sysusers.d/pilot-agent.conf':
    'u pilot-agent - "pilot-agent and its Envoy" /run/pilot-agent\n',
  'usr/share/bash-completion/completions/pilot-agent': completion('bash'),
  'usr/share/doc/pilot-agent/changelog.gz': packed('CHANGELOG.md'),
  'usr/share/doc/pilot-agent/copyright': copyright,
  'usr/share/fish/vendor_completions.d/pilot-agent.fish': completion('fish'),
  'usr/share/man/man1/pilot-agent.1.gz': packed('man/pilot-agent.1'),
  'usr/share/pilot-agent/pilot-agent.schema.json': readFileSync('schema/pilot-agent.schema.json'),
  'usr/share/zsh/vendor-completions/_pilot-agent': completion('zsh'),
};
for (const name of ['THIRD-PARTY-NOTICES.txt', 'NODE-LICENSE.txt'])
  if (textOf(name) !== undefined)
    files[`usr/share/doc/pilot-agent/${name}.gz`] = packed(textOf(name));
const scripts = { 'DEBIAN/postinst': configured, 'DEBIAN/postrm': removed };

process.umask(0o022);
const root = mkdtempSync(join(tmpdir(), 'pilot-agent-deb-'));
try {
  chmodSync(root, 0o755);
  for (const [name, text] of Object.entries({ ...files, ...scripts })) {
    mkdirSync(join(root, dirname(name)), { recursive: true });
    writeFileSync(join(root, name), text, { mode: name in scripts ? 0o755 : 0o644 });
  }
  for (const name of ['usr/lib/pilot-agent', 'usr/bin', 'etc/pilot-agent'])
    mkdirSync(join(root, name), { recursive: true });
  copyFileSync(executable, join(root, 'usr/lib/pilot-agent/pilot-agent'));
  chmodSync(join(root, 'usr/lib/pilot-agent/pilot-agent'), 0o755);
  buildGuard(join(root, 'usr/lib/pilot-agent', guard), cpu);
  // A link, so that the guard is beside the executable.
  symlinkSync('../lib/pilot-agent/pilot-agent', join(root, 'usr/bin/pilot-agent'));
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `pilot-agent_${version}_${architecture}.deb`);
  execFileSync('dpkg-deb', ['--build', '--root-owner-group', '-Zxz', root, file], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  console.log(file);
} finally {
  rmSync(root, { recursive: true });
}
