import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run, standardFlags, withoutDrain } from '../support/e2e/bad-input-program.ts';
import { program } from '../support/e2e/program.ts';
import { makeRig, type Rig, type RunningAgent } from '../support/e2e/rig.ts';

let rig: Rig;
let pod: string;
beforeEach(async () => {
  rig = await makeRig();
  pod = join(rig.folder, 'pod');
  mkdirSync(pod);
});
afterEach(() => rig.dispose());

const file = (name: string) => join(pod, name);
const put = (name: string, make: (path: string) => unknown) => {
  mkdirSync(dirname(file(name)), { recursive: true });
  make(`${file(name)}.new`);
  renameSync(`${file(name)}.new`, file(name));
};
const fifo = (path: string) => execFileSync('mkfifo', [path]);
const endless = (path: string) => symlinkSync('/dev/zero', path);
const text = (content: string) => (path: string) => writeFileSync(path, content);
const manyNames = text(
  `defaultConfig:\n  proxyMetadata:\n${Array.from({ length: 100_000 }, (_, index) => `    K${index}: a\n`).join('')}`,
);

describe('at the start', () => {
  it.each<[what: string, make: (path: string) => unknown, flag: string, why: RegExp]>([
    [
      'a mesh file that is a FIFO',
      fifo,
      '--meshConfig',
      /^mesh file \S+: cannot be read: it is a FIFO, and not a regular file$/,
    ],
    [
      'a mesh file without end',
      endless,
      '--meshConfig',
      /^mesh file \S+: cannot be read: it is a device, and not a regular file$/,
    ],
    [
      'a mesh file with 100,000 names',
      manyNames,
      '--meshConfig',
      /^mesh file \S+: cannot be read: it has \d+ bytes, and 262144 are read at most$/,
    ],
    [
      'a template that is a FIFO',
      fifo,
      '--templateFile',
      /cannot be read: it is a FIFO, and not a regular file$/,
    ],
    [
      'a custom configuration without end',
      endless,
      '--customConfigFile',
      /cannot be read: it is a device, and not a regular file$/,
    ],
  ])('%s is told at once, in one line', async (_, make, flag, why) => {
    put('input', make);
    const standard = standardFlags(rig).filter((_each, index) => index > 1); // no custom configuration
    const agent = run(rig, [
      ...program,
      'proxy',
      'sidecar',
      ...standard,
      flag,
      file('input'),
      '--log_target',
      '/dev/null',
    ]);
    expect(await agent.exit).toEqual({ code: 78, signal: null });
    const [line = '', ...others] = agent.errors().trimEnd().split('\n');
    expect(others).toEqual([]);
    expect(line.replace(/^pilot-agent: /, '').replace(/ \(\S+\)$/, '')).toMatch(why);
  });

  it('links and files that others have put into an open folder are neither followed nor written into', async () => {
    const folder = join(rig.folder, 'run');
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    writeFileSync(file('foreign'), 'theirs');
    for (const name of [
      'envoy-rev0.json',
      'envoy-rev0.json.new',
      'envoy-check.json',
      'envoy-check.json.new',
      'SDS.new',
    ]) {
      symlinkSync(file('foreign'), join(folder, name));
    }
    const agent = start();
    await agent.said('epoch.live', 0);
    expect(readFileSync(file('foreign'), 'utf8')).toBe('theirs');
    expect(readFileSync(join(folder, 'envoy-rev0.json'), 'utf8')).toContain('static_resources');
  });
});

/** Starts an agent whose Envoy has no control plane, and nothing to wait for. */
function start(): RunningAgent {
  const bootstrap = {
    admin: { address: { socket_address: { address: '127.0.0.1', port_value: '@' } } },
    static_resources: { clusters: [] },
  };
  put(
    'bootstrap.json',
    text(JSON.stringify(bootstrap).replace('"@"', '{{ .config.ProxyAdminPort }}')),
  );
  const flags = ['--templateFile', file('bootstrap.json'), '--meshConfig', file('mesh')];
  return rig.start(flags, { generated: true, cwd: pod, env: withoutDrain });
}

describe('an agent that runs', () => {
  /** Resolves to the longest time, in ms, that the status port took for an answer before `done`. */
  const slowest = async (done: Promise<unknown>) => {
    let [longest, isOver] = [0, false];
    void done.finally(() => (isOver = true));
    while (!isOver) {
      const begun = performance.now();
      await fetch(`http://127.0.0.1:${rig.ports.status}/healthz/ready`).then((answer) =>
        answer.text(),
      );
      longest = Math.max(longest, performance.now() - begun);
    }
    await done;
    return longest;
  };

  it.each<
    [
      what: string,
      name: string,
      make: (path: string) => unknown,
      event: 'config.warning' | 'config.refused',
      why: string,
    ]
  >([
    [
      '16 MB of annotations',
      'etc/istio/pod/annotations',
      text(`a="${'\\n'.repeat(8 << 20)}"`),
      'config.warning',
      './etc/istio/pod/annotations is ignored: it cannot be read: it has 16777220 bytes, and 524288 are read at most',
    ],
    [
      'a mesh file with 100,000 names',
      'mesh',
      manyNames,
      'config.refused',
      'bytes, and 262144 are read at most',
    ],
    [
      'a mesh file that has become a FIFO',
      'mesh',
      fifo,
      'config.refused',
      'cannot be read: it is a FIFO, and not a regular file',
    ],
    [
      'a template without end',
      'bootstrap.json',
      endless,
      'config.refused',
      'cannot be read: it is a device, and not a regular file',
    ],
  ])('says what is wrong with %s, and answers on', async (_, name, make, event, why) => {
    put('etc/istio/pod/annotations', text('a="b"'));
    put('mesh', text('defaultConfig: {}'));
    const agent = start();
    await agent.said('epoch.live', 0);
    put(name, make);
    const logged = agent.said(event);
    expect(await slowest(logged)).toBeLessThan(1_000);
    expect(Object.values(await logged).join(' ')).toContain(why);
    expect((await rig.ready()).status).toBe(200);
    expect(agent.log().filter(({ level }) => level === 'fatal')).toEqual([]);
  });

  it('does not wait for a key that has become a FIFO', async () => {
    const agent = rig.start([], { env: withoutDrain });
    await agent.said('epoch.live', 0);
    const key = join(rig.certDir, 'key.pem');
    rmSync(key);
    fifo(key);
    expect((await agent.said('config.refused'))['reason']).toContain(
      `${key}: the key cannot be read: it is a FIFO, and not a regular file`,
    );
    expect((await rig.ready()).status).toBe(200);
  });
});
