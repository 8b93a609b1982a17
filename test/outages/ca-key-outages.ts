import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeKubernetesVolume } from '../../demo/certificates.ts';
import type { AuthorityParts } from '../../src/pilot-discovery/ca/signing-authority.ts';
import { authorityFiles } from '../move/move-stage.ts';
import { eventually } from '../support/eventually.ts';
import { pluggedAuthority, type TestIssuer, testIssuer } from '../support/plugged-authority.ts';
import { type CaStage, conditionOf, replace } from './ca-stage.ts';
import { type CaOutage, renewed } from './run-ca-outage.ts';

const refused = (reason: RegExp): CaOutage['named'] => ({
  '/ready': new RegExp(
    `cannot use its newest key, the previous one stays in use: .*${reason.source}`,
  ),
  log: new RegExp(`authority_refused: .*${reason.source}`),
  metric: /citadel_server_authority_up/,
});

const untilRefused = (stage: CaStage) =>
  eventually(async () => (await conditionOf(stage.instance())).metrics.length > 0, {
    within: 70_000,
    every: 100,
  });

/**
 * Replaces the content of the folder of the key until it was refused and certificates were renewed.
 * Then restores the content.
 */
async function replaced(
  stage: CaStage,
  good: AuthorityParts,
  over: () => void,
  write: () => void,
): Promise<void> {
  write();
  await untilRefused(stage);
  await renewed(stage);
  rmSync(stage.cacerts, { recursive: true, force: true });
  writeKubernetesVolume(stage.cacerts, authorityFiles(good));
  over();
}

/** The size of a disk that has little room beside one authority. In bytes. */
const small = 24 << 10;

/** @param good the authority in the folder of the key, which `root` has signed */
export function keyOutages(good: AuthorityParts, root: TestIssuer): readonly CaOutage[] {
  const other = pluggedAuthority({ subject: 'CN=other' });
  const ofFolder = (
    what: string,
    reason: RegExp,
    contentOf: () => Promise<AuthorityParts> | AuthorityParts,
  ): CaOutage => ({
    name: `CA: ${what}`,
    named: refused(reason),
    async run(stage, over) {
      const parts = await contentOf();
      await replaced(stage, good, over, () =>
        writeKubernetesVolume(stage.cacerts, authorityFiles(parts)),
      );
    },
  });
  return [
    {
      name: 'CA: the disk of the key is read only, and the control plane starts',
      named: {},
      async run(stage, over) {
        const { cacerts } = stage;
        execFileSync('mount', ['--bind', cacerts, cacerts]);
        try {
          execFileSync('mount', ['-o', 'remount,bind,ro', cacerts]);
          await replace(stage, {});
          await renewed(stage);
        } finally {
          execFileSync('umount', ['-l', cacerts]);
        }
        over();
      },
    },
    {
      name: 'CA: the folder of the key is removed, and comes back after a renewal',
      named: {
        '/ready': /cannot use its newest key.*its files are gone/,
        log: /authority_refused: .*its files are gone/,
        metric: /citadel_server_authority_up/,
      },
      async run(stage, over) {
        const { cacerts } = stage;
        renameSync(cacerts, `${cacerts}-away`);
        await untilRefused(stage);
        await renewed(stage);
        renameSync(`${cacerts}-away`, cacerts);
        over();
      },
    },
    {
      name: 'CA: the disk is full as the key is exchanged: its file is cut off',
      named: refused(/the key is empty/),
      async run(stage, over, later) {
        const { cacerts } = stage;
        const { 'ca-key.pem': key, ...others } = authorityFiles(good);
        execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${small}`, 'tmpfs', cacerts]);
        later(async () => {
          execFileSync('umount', ['-l', cacerts]);
          await replace(stage, {});
        });
        const write = (name: string, text: string) => writeFileSync(join(cacerts, name), text);
        for (const [name, text] of Object.entries(others)) write(name, text);
        write('ca-key.pem', key);
        await replace(stage, {});
        fill(cacerts);
        writeFileSync(join(cacerts, 'ca-key.pem'), '');
        fill(cacerts);
        unlessFull(() => write('ca-key.pem', key));
        await untilRefused(stage);
        await renewed(stage);
        rmSync(join(cacerts, 'filling'));
        write('ca-key.pem', key);
        over();
      },
    },
    {
      name: 'CA: the key cannot be read at a change: a folder is in its place',
      named: refused(/ca-key\.pem: it is a directory/),
      run: (stage, over) =>
        replaced(stage, good, over, () => {
          rmSync(join(stage.cacerts, 'ca-key.pem'));
          mkdirSync(join(stage.cacerts, 'ca-key.pem'));
        }),
    },
    ofFolder('the certificate of the key is exchanged for one that has expired', /expired/, () =>
      pluggedAuthority({ notAfter: Date.now() - 1_000 }, root),
    ),
    ofFolder('the root is exchanged for one that has expired', /expired/, async () => {
      const old = await testIssuer({ subject: 'CN=old', notAfter: Date.now() - 1_000 });
      return pluggedAuthority({}, old);
    }),
    ofFolder(
      'the key is exchanged for that of another certificate',
      /the key does not match the certificate/,
      async () => ({ ...good, key: (await other).key }),
    ),
    ofFolder(
      'the root is exchanged for one that has not signed the certificate',
      /no chain leads from the certificate/,
      async () => ({ ...good, chain: '', roots: (await other).roots }),
    ),
  ];
}

/** Fills a disk until it has no room. */
function fill(folder: string): void {
  for (const size of [4_096, 1])
    unlessFull(() => {
      for (;;) writeFileSync(join(folder, 'filling'), Buffer.alloc(size), { flag: 'a' });
    });
}

/** Writes something. Does not throw if the disk has no room for all of it. */
function unlessFull(write: () => void): void {
  try {
    write();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
