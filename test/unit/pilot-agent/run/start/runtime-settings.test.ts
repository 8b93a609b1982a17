import { describe, expect, it } from 'vitest';
import { effectOf, effects } from '../../../../../src/pilot-agent/run/start/effect-of.ts';
import {
  noSettings,
  runtimeRequests,
  type RuntimeSettings,
  runtimeSettings,
} from '../../../../../src/pilot-agent/run/start/runtime-settings.ts';
import type { Content, Contribution } from '../../../../../src/pilot-agent/sources/contribution.ts';

const given = (
  content: Content | undefined,
  source = 'flags',
  use: Contribution['use'] = 'runtime',
): Contribution => ({
  source,
  use,
  at: '',
  hash: 'h',
  content,
  trouble: undefined,
});
const all: RuntimeSettings = {
  logLevel: 'debug',
  componentLogLevels: { upstream: 'trace' },
  values: { 'a.b': 'true', c: '10' },
};

describe('runtimeSettings', () => {
  it.each<[string, Content]>([
    [
      'YAML',
      'logLevel: debug\ncomponentLogLevels: {upstream: trace}\nruntime: {a.b: true, c: 10}\n',
    ],
    [
      'bytes of JSON',
      Buffer.from(
        '{"logLevel":"debug","componentLogLevels":{"upstream":"trace"},"runtime":{"a.b":"true","c":10}}',
      ),
    ],
    [
      'an object',
      {
        logLevel: 'debug',
        componentLogLevels: { upstream: 'trace' },
        runtime: { 'a.b': true, c: 10 },
      },
    ],
  ])('are read from %s', async (_, content) => {
    expect(await runtimeSettings([given(content)])).toEqual({ settings: all, flaws: new Map() });
  });

  it('are none if no source has any, or what it has is empty', async () => {
    expect(
      await runtimeSettings([given(undefined), given(''), given({ a: 1 }, 'other', 'restart')]),
    ).toEqual({
      settings: noSettings,
      flaws: new Map(),
    });
  });

  it('of a later source are above those before it', async () => {
    const { settings } = await runtimeSettings([
      given({ logLevel: 'info', runtime: { a: 1, b: 1 } }),
      given({ runtime: { b: 2 } }, 'second'),
    ]);
    expect(settings).toEqual({
      logLevel: 'info',
      componentLogLevels: {},
      values: { a: '1', b: '2' },
    });
  });

  it.each<[Content, string]>([
    ['a: [', 'line'],
    ['[1]', 'it is not a map of logLevel, componentLogLevels, runtime'],
    [{ loglevel: 'info' }, "'loglevel' is none of logLevel, componentLogLevels, runtime"],
    [{ logLevel: 'loud' }, 'logLevel is none of trace, debug, info, warning, error, critical, off'],
    [
      { componentLogLevels: { http: 1 } },
      'componentLogLevels is not a map of names to one of trace, debug',
    ],
    [{ runtime: { a: {} } }, 'runtime is not a map of keys to texts, numbers or booleans'],
  ])('%j are refused as a whole: those that hold stay', async (content, flaw) => {
    const { settings, flaws } = await runtimeSettings([
      given({ logLevel: 'info' }, 'good'),
      given(content),
    ]);
    expect(settings).toBeUndefined();
    expect([...flaws.keys()]).toEqual(['flags']);
    expect(flaws.get('flags')).toContain(flaw);
  });
});

describe('runtimeRequests', () => {
  const started = { logLevel: 'warning', componentLogLevel: 'misc:error' };

  it('tell all to an Envoy that has none', () => {
    expect(runtimeRequests(noSettings, all, started)).toEqual([
      '/logging?level=debug',
      '/logging?paths=misc%3Aerror%2Cupstream%3Atrace',
      '/runtime_modify?a.b=true&c=10',
    ]);
  });

  it('tell what differs, and take back what is not wanted any more', () => {
    expect(runtimeRequests(all, { ...all, values: { c: '11' } }, started)).toEqual([
      '/runtime_modify?a.b=&c=11',
    ]);
    expect(runtimeRequests(all, { ...noSettings, values: all.values }, started)).toEqual([
      '/logging?level=warning',
      '/logging?paths=misc%3Aerror',
    ]);
    expect(runtimeRequests(all, all, started)).toEqual([]);
  });
});

describe('effectOf', () => {
  const contributions = [given({}, 'flags'), given('', 'watch', 'restart')];

  it('is the least that brings a change about', () => {
    const same = { isNew: false, had: noSettings, settings: noSettings, contributions };
    expect(effectOf(same).effect).toBe('nothing');
    expect(effectOf({ ...same, settings: undefined }).effect).toBe('nothing');
    expect(effectOf({ ...same, settings: all })).toEqual({
      effect: 'runtime',
      because: 'only runtime settings differ (source flags)',
    });
    expect(effectOf({ ...same, isNew: true, settings: all }).effect).toBe('epoch');
  });

  it('has one for each use of a source', () => {
    expect(effects).toEqual({
      restart: 'epoch',
      envoy: 'epoch',
      merge: 'epoch',
      runtime: 'runtime',
      secret: 'push',
    });
  });
});
