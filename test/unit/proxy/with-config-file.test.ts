import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finalize, lastValueFrom, of, Subject } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { EpochConfig } from '../../../src/epochs/ports.ts';
import { withConfigFile } from '../../../src/proxy/config-file.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'pilot-agent-config-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const generated: EpochConfig = {
  kind: 'generated',
  text: '{"admin":{}}',
  extension: '.json',
  override: '',
};
const failed = (reason: string) => `failed: ${reason}`;
const given = (config: EpochConfig, stem = join(folder, 'envoy-rev0')) =>
  lastValueFrom(withConfigFile(config, stem, { use: (path) => of(path), failed }), {
    defaultValue: '',
  });

it('leaves a given file alone', async () => {
  expect(await given({ kind: 'given', path: '/etc/envoy.yaml', override: '' })).toBe(
    '/etc/envoy.yaml',
  );
  expect(readdirSync(folder)).toEqual([]);
});

it('lays an override over a generated bootstrap and over a given file, in a file of its owner alone', async () => {
  const source = join(folder, 'source.yaml');
  writeFileSync(source, 'admin: {}\nnode: {id: a}');
  const shown = (config: EpochConfig) =>
    lastValueFrom(
      withConfigFile(config, join(folder, 'envoy-rev0'), {
        use: (path) =>
          of(
            `${path.slice(folder.length)} ${(statSync(path).mode & 0o777).toString(8)} ${readFileSync(path, 'utf8')}`,
          ),
        failed,
      }),
      { defaultValue: '' },
    );
  const laidOver = '/envoy-rev0.json 600 {"admin":{},"node":{"id":"b"}}';
  expect(await shown({ ...generated, override: 'node: {id: b}' })).toBe(laidOver);
  expect(
    await shown({ ...generated, text: 'admin: {}', extension: '.yaml', override: 'node: {id: b}' }),
  ).toBe(laidOver);
  expect(await shown({ kind: 'given', path: source, override: 'node: {id: b}' })).toBe(laidOver);
  expect(readdirSync(folder)).toEqual(['source.yaml']);
});

it.each<[string, string]>([
  ['secret: [hush', 'ISTIO_BOOTSTRAP_OVERRIDE:1:14: it is not YAML (BAD_INDENT)'],
  ['- hush', 'ISTIO_BOOTSTRAP_OVERRIDE: it is not YAML with fields'],
  ['hush', 'ISTIO_BOOTSTRAP_OVERRIDE: it is not YAML with fields'],
  [
    'hush: *hush',
    'ISTIO_BOOTSTRAP_OVERRIDE: its aliases cannot be expanded: an alias has no anchor',
  ],
  [
    `hush: ${'['.repeat(20_000)}`,
    'ISTIO_BOOTSTRAP_OVERRIDE:1:106: it is nested more than 100 levels deep',
  ],
])(
  'says why an override cannot be merged over it, and nothing of what is in it: %.12s',
  async (override, reason) => {
    expect(await given({ ...generated, override })).toBe(`failed: ${reason}`);
  },
);

it('says why a configuration takes no override, and nothing of what is in it', async () => {
  const path = join(folder, 'envoy.json');
  writeFileSync(path, 'hush');
  const why = `failed: ISTIO_BOOTSTRAP_OVERRIDE cannot be merged over ${path}`;
  expect(await given({ kind: 'given', path, override: '{}' })).toBe(`${why}: it is not JSON`);
  expect(await given({ kind: 'given', path: `${path}.pb`, override: '{}' })).toBe(
    `${why}.pb: only .json, .yaml and .yml can be merged`,
  );
  expect(await given({ kind: 'given', path: join(folder, 'no.json'), override: '{}' })).toMatch(
    /no\.json: it cannot be read: ENOENT/,
  );
});

it.each(['.json', '.yaml'] as const)(
  'writes a generated bootstrap to a %s file of its owner alone, for as long as it is used',
  (extension) => {
    const end$ = new Subject<string>();
    const path = join(folder, `envoy-rev0${extension}`);
    const life = withConfigFile({ ...generated, extension }, join(folder, 'envoy-rev0'), {
      use: () => end$,
      failed,
    }).subscribe();
    expect(readFileSync(path, 'utf8')).toBe('{"admin":{}}');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toHaveLength(1);
    end$.complete();
    expect(life.closed).toBe(true);
    expect(readdirSync(folder)).toEqual([]);
  },
);

it('leaves it to who still reads it', () => {
  const life = withConfigFile(generated, join(folder, 'envoy-rev0'), {
    use: () => new Subject<string>(),
    failed,
    outlives: true,
  }).subscribe();
  life.unsubscribe();
  expect(readdirSync(folder)).toEqual(['envoy-rev0.json']);
});

it('removes it when nobody waits any more', () => {
  let used = false;
  const life = withConfigFile(generated, join(folder, 'envoy-rev0'), {
    use: (path) => new Subject<string>().pipe(finalize(() => (used = existsSync(path)))),
    failed,
  }).subscribe();
  life.unsubscribe();
  expect(used).toBe(true);
  expect(readdirSync(folder)).toEqual([]);
});

it('replaces what an agent that was killed has left there, whoever may have been able to read it', async () => {
  const stale$ = withConfigFile({ ...generated, text: 'stale' }, join(folder, 'envoy-rev0'), {
    use: () => new Subject<string>(),
    failed,
  });
  stale$.subscribe();
  chmodSync(join(folder, 'envoy-rev0.json'), 0o644);
  const contentAndMode = await lastValueFrom(
    withConfigFile(generated, join(folder, 'envoy-rev0'), {
      use: (path) =>
        of(`${readFileSync(path, 'utf8')} ${(statSync(path).mode & 0o777).toString(8)}`),
      failed,
    }),
    { defaultValue: '' },
  );
  expect(contentAndMode).toBe('{"admin":{}} 600');
});

it('says why there is none', async () => {
  expect(await given({ kind: 'refused', reason: 'PROXY_CONFIG: no YAML' })).toBe(
    'failed: PROXY_CONFIG: no YAML',
  );
  expect(await given(generated, join(folder, 'no', 'envoy-rev0'))).toMatch(
    /^failed: .*envoy-rev0\.json cannot be written: ENOENT/,
  );
});
