import { execFileSync } from 'node:child_process';
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Target } from './control-plane.ts';
import type { Row } from './rows.ts';

const times = (count: number) => Array.from({ length: count }, (_, index) => index);
const fifo = (path: string) => execFileSync('mkfifo', [path]);

/** Returns an attack that puts something at a place by one rename, and removes it at the end. */
const puts =
  (placeOf: (target: Target) => string, make: (path: string) => unknown): Row['attack'] =>
  (target) => {
    const place = placeOf(target);
    const unseen = join(dirname(place), '.hostile');
    make(unseen);
    renameSync(unseen, place);
    return Promise.resolve(() => rmSync(place));
  };
const text = (content: string) => (path: string) => writeFileSync(path, content);
const inFolder = ({ folder }: Target) => join(folder, 'hostile.yaml');
const ofMesh = ({ meshConfig }: Target) => meshConfig;

const entry = (spec: object) =>
  JSON.stringify({
    apiVersion: 'networking.istio.io/v1',
    kind: 'ServiceEntry',
    metadata: { name: 'hostile' },
    spec,
  });
const small = {
  hosts: ['hostile.mesh'],
  resolution: 'DNS',
  ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
};
const nested = `${'['.repeat(20_000)}\n---\n${'['.repeat(3_000)}${']'.repeat(3_000)}\n`;

/** The attacks by one file, in the folder or with the MeshConfig. */
export const files: readonly Row[] = [
  {
    name: 'a file with 20,000 open lists',
    attack: puts(inFolder, text(nested)),
    logged: ['discovery.refused', 'more than 100 levels deep'],
  },
  {
    name: 'a document of 9 MB',
    attack: puts(inFolder, text(`a:\n${'  - b\n'.repeat(1_500_000)}`)),
    logged: ['discovery.refused', 'the document has'],
  },
  {
    name: 'a ServiceEntry with 65,535 ports',
    attack: puts(
      inFolder,
      text(
        entry({
          ...small,
          ports: times(65_535).map((index) => ({
            number: index + 1,
            name: `p${index}`,
            protocol: 'HTTP',
          })),
        }),
      ),
    ),
    logged: ['discovery.refused', 'the document has'],
  },
  {
    name: 'a ServiceEntry with 50,000 hosts',
    attack: puts(
      inFolder,
      text(entry({ ...small, hosts: times(50_000).map((index) => `h${index}.mesh`) })),
    ),
    logged: ['discovery.refused', 'the document has'],
  },
  {
    name: 'a ServiceEntry with 30,000 hosts',
    attack: puts(
      inFolder,
      text(entry({ ...small, hosts: times(30_000).map((index) => `h${index}.mesh`) })),
    ),
    logged: ['discovery.refused', 'it has 30000 entries, and the limit is 256'],
  },
  {
    name: 'a ServiceEntry with 30,000 fields that nobody knows',
    attack: puts(
      inFolder,
      text(
        entry({ ...small, ...Object.fromEntries(times(30_000).map((index) => [`k${index}`, 1])) }),
      ),
    ),
    logged: ['discovery.unserved', '29980 more things are wrong with it'],
  },
  {
    name: 'a link to /proc',
    attack: ({ folder }) => {
      const link = join(folder, 'system');
      symlinkSync('/proc', link);
      return Promise.resolve(() => rmSync(link));
    },
    logged: ['discovery.refused', 'it is in proc'],
  },
  {
    name: 'a FIFO in the folder',
    attack: puts(inFolder, fifo),
    logged: ['discovery.refused', 'it is a FIFO'],
  },
  {
    name: 'a MeshConfig that becomes a FIFO',
    attack: puts(ofMesh, fifo),
    logged: ['discovery.source_lost', 'it is a FIFO'],
  },
  {
    name: 'a MeshConfig of 300 KB',
    attack: puts(ofMesh, text(`# ${'x'.repeat(300_000)}\n`)),
    logged: ['discovery.source_lost', 'and 262144 are read at most'],
  },
  {
    name: 'a MeshConfig with an alias that leads back',
    attack: puts(ofMesh, text('accessLogFile: &a [*a]\n')),
    logged: ['discovery.refused', 'more than 100 levels deep'],
  },
];
