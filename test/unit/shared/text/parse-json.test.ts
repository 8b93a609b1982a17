import { pathToFileURL } from 'node:url';
import { Linter } from 'eslint';
import { describe, expect, it } from 'vitest';
import { environmentMetadata } from '../../../../src/pilot-agent/bootstrap/environment-metadata.ts';
import { appProbes } from '../../../../src/pilot-agent/config/app-probes.ts';
import { flagLayer } from '../../../../src/pilot-agent/config/flag-layer.ts';
import { metricsTargets } from '../../../../src/pilot-agent/config/metrics-targets.ts';
import { decodeJson } from '../../../../src/shared/kube/kube-object.ts';
import { listenersIn } from '../../../../src/proxy/listener-list.ts';
import { mostLevels } from '../../../../src/shared/text/levels.ts';
import { parseJson } from '../../../../src/shared/text/parse-json.ts';
import { accepted } from '../../../support/resolved.ts';

const lists = (count: number) => `${'['.repeat(count)}${']'.repeat(count)}`;
const objects = (count: number) => `${'{"a":'.repeat(count)}1${'}'.repeat(count)}`;
const tooDeep = 'it is nested more than 100 levels deep';

describe('levels are counted before a text of JSON is parsed', () => {
  it.each([
    ['lists', lists(mostLevels)],
    ['objects', objects(mostLevels)],
    ['brackets in texts', JSON.stringify({ a: '['.repeat(500), ['{'.repeat(500)]: 1 })],
    [
      'escaped quotes and backslashes',
      JSON.stringify([`\\"${'['.repeat(200)}`, '\\', '{'.repeat(200), '"']),
    ],
    ['lists beside each other', `[${lists(1)}${`,${lists(50)}`.repeat(500)}]`],
    ['a number', '1'],
  ])('%s are taken', (_, text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ['lists', lists(101)],
    ['objects', objects(101)],
    ['what does not end', '['.repeat(9_900)],
    ['what is not JSON behind', `${'{"a":'.repeat(9_900)}x`],
    ['behind a text with brackets', `["]]]]\\"]]]",${lists(100)}]`],
  ])('%s are refused', (_, text) => {
    expect(() => parseJson(text)).toThrow(tooDeep);
  });

  it('what is not JSON throws, as with JSON.parse', () => {
    for (const text of ['', '{', '"', '"\\', 'x', '[1', ']', '}{'])
      expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  it('a reviver is called, and a text of the program’s own may have any number', () => {
    expect(parseJson('{"a":1}', (_, value) => (value === 1 ? 2 : value))).toEqual({ a: 2 });
    expect(parseJson(lists(500), undefined, Infinity)).toEqual(JSON.parse(lists(500)));
  });
});

describe('a nested text of others', () => {
  const deep = lists(9_900);

  it('is not a probe, a target, a field, metadata or an object', () => {
    expect(appProbes(deep)).toMatchObject({ flaws: [`failed to decode app prober: ${tooDeep}`] });
    expect(metricsTargets({ PILOT_AGENT_METRICS_TARGETS: deep }, new Map())).toMatchObject({
      targets: [],
      flaws: [{}],
    });
    expect(flagLayer({ envoyAccessLogService: deep }).problems).toMatchObject([
      { place: '--envoyAccessLogService' },
    ]);
    expect(
      environmentMetadata({ ISTIO_METAJSON_LABELS: deep }, { problems: [], warnings: [] }).labels,
    ).toEqual({});
    expect(() => decodeJson(Buffer.from(deep))).toThrow('its answer is not JSON');
    expect(listenersIn(deep)).toBeUndefined();
  });

  it.each([
    ['', 5],
    ['', 'als:1'],
    ['', [1]],
    ['.address', { address: 5 }],
    ['.address', { address: ['als:1'] }],
    ['.tlsSettings', { address: 'als:1', tlsSettings: 5 }],
  ])(
    'a wrong type in envoyAccessLogService%s costs that field alone: %j',
    (path, envoyAccessLogService) => {
      const { config, warnings } = accepted({
        proxyConfig: { envoyAccessLogService, concurrency: 3, statsdUdpAddress: 'statsd:1' },
      });
      expect(config).toMatchObject({
        envoyAccessLogService: undefined,
        concurrency: 3,
        statsdUdpAddress: 'statsd:1',
      });
      expect(warnings).toEqual([
        expect.stringMatching(
          new RegExp(
            `^PROXY_CONFIG\\.envoyAccessLogService\\${path}: .*: envoyAccessLogService is left out$`,
          ),
        ),
      ]);
    },
  );
});

const { default: linted } = (await import(pathToFileURL('eslint.config.js').href)) as {
  readonly default: readonly Linter.Config[];
};

describe('the rule of the linter', () => {
  const rule = linted.find(({ rules }) => rules !== undefined && 'no-restricted-syntax' in rules)
    ?.rules?.['no-restricted-syntax'];
  const findingCount = (text: string) =>
    new Linter().verify(text, [{ rules: { 'no-restricted-syntax': rule ?? 'off' } }]).length;

  it.each([
    'JSON.parse(text);',
    "JSON['parse'](text);",
    'const { parse } = JSON;',
    'texts.map(JSON.parse);',
    'const json = JSON;',
  ])('finds %s', (text) => {
    expect(findingCount(text)).toBe(1);
  });

  it.each(['JSON.stringify(value);', 'parseJson(text);', 'Date.parse(text);'])(
    'lets %s be',
    (text) => {
      expect(findingCount(text)).toBe(0);
    },
  );
});
