import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom, type Observable, of, Subject } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EpochConfig } from '../../src/agent/ports.ts';
import type { EffectiveConfig } from '../../src/run/effective-config.ts';
import { shapeSource } from '../../src/run/shape-source.ts';
import { type Platform, unknownPlatform } from '../../src/node/cloud.ts';
import type { SourceChange } from '../../src/streams/config-source.ts';
import { accepted, type Said } from '../support/resolved.ts';

const logging = {} as EffectiveConfig['logging'];
const google: Platform = { metadata: { gcp_project: 'p' }, locality: { region: 'r', zone: 'z', subZone: '' } };

describe('what shapes Envoy’s configuration', () => {
  const before = process.cwd();
  let folder: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'shape-source-')));
    process.chdir(folder);
  });
  afterEach(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  });

  /** The source of an agent that was started with `first`, and finds `now`. */
  const sourceOf = (first: Said, now: Said, platform$: Observable<Platform> = of(unknownPlatform)) =>
    shapeSource({
      initial: accepted(first),
      reread: () => Promise.resolve({ ...accepted(now), logging }),
      platform$,
      sds: undefined,
      xdsSocket: undefined,
    });
  const read = async ({ reading$ }: ReturnType<typeof sourceOf>) =>
    (await firstValueFrom(reading$, { defaultValue: undefined }))?.config ?? expect.unreachable('there is no reading');
  const textOf = (config: EpochConfig) => (config.kind === 'generated' ? config.text : expect.unreachable(JSON.stringify(config)));

  it('is read anew, but for what only a new agent can honour: that stays, with where it is from, and is told', async () => {
    const first = { given: { concurrency: '2' }, mesh: { discoveryAddress: 'old:1', statusPort: 15_020 } };
    const now = { mesh: { discoveryAddress: 'new:2', statusPort: 15_999, concurrency: 3 } };
    const { known, warnings, epoch } = await read(sourceOf(first, now));
    expect(known?.config).toEqual({ ...accepted(now).config, statusPort: 15_020, concurrency: 2 });
    expect(known?.sources).toEqual({ ...accepted(now).sources, concurrency: '--concurrency' });
    expect(warnings).toEqual(['statusPort, concurrency: changed, which only a new agent can honour']);
    expect(textOf(epoch)).toContain('new');
  });

  it('has no part for a file that is not configured, so that none is told as changed', async () => {
    const given = { given: { customConfigFile: join(folder, 'envoy.yaml') } };
    const reading = await firstValueFrom(sourceOf(given, given).reading$, { defaultValue: undefined });
    const parts = reading?.parts() ?? expect.unreachable('there is no reading');
    expect(parts.filter(({ source, part }) => source === 'files' && part === '')).toEqual([]);
  });

  it('changes when the platform is known late, and is of that platform then', async () => {
    const platform$ = new Subject<Platform>();
    const source = sourceOf({}, {}, platform$);
    const changes: SourceChange[] = [];
    const watching = source.changes$.subscribe({ next: (change) => changes.push(change), error: expect.unreachable });
    const told = () => changes.filter((change) => change.type === 'changed').map(({ path }) => path);
    platform$.next(unknownPlatform);
    expect(textOf((await read(source)).epoch)).not.toContain('gcp_project');
    expect(told()).toEqual([]);
    platform$.next(google);
    expect(told()).toEqual(['metadata server']);
    expect(textOf((await read(source)).epoch)).toContain('gcp_project');
    watching.unsubscribe();
  });
});
