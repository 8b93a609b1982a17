import { spawnSync } from 'node:child_process';
import * as fc from 'fast-check';
import * as yaml from 'yaml';
import { describe, expect, it } from 'vitest';
import { parseText } from '../../../../src/pilot-agent/config/parse-text.ts';
import { readMeshConfig } from '../../../../src/pilot-discovery/istio/mesh/read-mesh-config.ts';
import { readResources } from '../../../../src/pilot-discovery/istio/documents/read-resources.ts';
import { parseEnvoyYaml } from '../../../../src/proxy/envoy-yaml.ts';
import { valueFlaw } from '../../../../src/shared/text/levels.ts';
import { parseYaml } from '../../../../src/shared/text/parse-yaml.ts';

const isTooDeep = (text: string, levels: number) => !parseYaml(yaml, text, {}, { levels }).ok;
const levelsOf = (node: unknown): number => {
  if (yaml.isPair(node)) return Math.max(levelsOf(node.key), levelsOf(node.value));
  return yaml.isCollection(node) ? 1 + Math.max(0, ...node.items.map(levelsOf)) : 0;
};
const columns = (piece: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${' '.repeat(index)}${piece}`).join('\n');
const place = { source: 'files', path: 'a.yaml', defaultNamespace: 'default' };

describe('levels are counted before a text is parsed', () => {
  it.each([
    ['flow lists', '[[[x]]]', 3],
    ['flow maps', '{a: {b: {c: x}}}', 3],
    ['lists in a line', '- - - x', 3],
    ['lists in lines', columns('-', 3), 3],
    ['maps in lines', columns('a:', 3), 3],
    ['keys that are maps', '? ? ? x', 3],
    ['a map in each list', '- a:\n    - b:\n        - c: x', 6],
    ['what was closed before', '[[x]]\n---\n[x]', 2],
    ['what was left before', 'a:\n  b:\n    c: 1\nd:\n  e: 1\n', 3],
    ['marks in texts', 'a: "[[[["\nb: |\n  [[[[\nc: \'{{\'\nd: x [[[ # [[[', 1],
  ])('%s', (_, text, levels) => {
    expect(isTooDeep(text, levels)).toBe(false);
    expect(isTooDeep(text, levels - 1)).toBe(true);
  });

  it('names the line', () => {
    expect(parseYaml(yaml, 'a: 1\nb: [[[1]]]\n', {}, { levels: 2 })).toEqual({
      ok: false,
      reason: 'it is nested more than 2 levels deep',
      line: 2,
      column: 5,
    });
  });

  it.each(['[', '{', '[{', '? [', '- [', 'b: [', '|\n ', '&a [', '!t {'])(
    'after %s, which a new document or a line further left ends',
    (open) => {
      for (const end of ['\n---\n', '\n...\n', '\nb: 1\n', '\n'])
        expect(isTooDeep(`a: ${open}${end}${'- '.repeat(3_000)}`, 100)).toBe(true);
    },
  );

  const pieces = [
    ...Array.from('[]{},:?-"\'#|&*!x \n'),
    '- ',
    'a: ',
    ': ',
    '? ',
    '\n---\n',
    '\n...\n',
    '\n  ',
  ];

  it('as many as the documents have that are made of it', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 60 }), (drawn) => {
        const parsed = parseYaml(yaml, drawn.join(''), {}, { levels: 4 });
        // A list in brackets may contain pairs, each of which is a map of its own.
        if (parsed.ok)
          for (const { contents } of parsed.documents)
            expect(levelsOf(contents)).toBeLessThanOrEqual(2 * 4 + 1);
      }),
      { numRuns: 5_000 },
    );
  });

  it('by each reader of texts', async () => {
    const text = `${'['.repeat(9_900)}\n---\n${'- '.repeat(3_000)}`;
    const reason = 'it is nested more than 100 levels deep';
    expect(readMeshConfig(text, 'mesh').flaws).toMatchObject([
      { reason, severity: 'error', origin: { line: 1 } },
    ]);
    expect(readResources(text, place).flaws).toMatchObject([
      { reason, severity: 'error', origin: { line: 1 } },
    ]);
    expect(await parseEnvoyYaml(text)).toMatchObject({ ok: false, reason });
    expect(await parseText('['.repeat(9_900))).toEqual({ ok: false, reason });
    expect(await parseText(`${'['.repeat(4_000)}${']'.repeat(4_000)}`)).toEqual({
      ok: false,
      reason,
    });
  });
});

describe('the YAML tokens of a text', () => {
  it('have a limit, after which it is not parsed', () => {
    expect(parseYaml(yaml, '[a, b]', {}, { tokens: 9 })).toMatchObject({ ok: true });
    expect(parseYaml(yaml, '[a, b]', {}, { tokens: 8 })).toEqual({
      ok: false,
      reason: 'it has more than 8 YAML tokens, which is the limit',
      line: 1,
      column: 1,
    });
  });

  it('are bounded in a resource that is not read quickly', () => {
    const text = `a: &a ${JSON.stringify(Array.from({ length: 34_000 }, () => 1))}`;
    expect(readResources(text, place).flaws).toMatchObject([
      { reason: 'it has more than 100000 YAML tokens, which is the limit' },
    ]);
  });
});

describe('a value', () => {
  const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);

  it('may have as many levels as the limit says, and no more', () => {
    expect(valueFlaw(nested(3), { values: 10, levels: 3 })).toBeUndefined();
    expect(valueFlaw(nested(4), { values: 10, levels: 3 })).toBe(
      'it is nested more than 3 levels deep',
    );
  });
});

describe('aliases', () => {
  const ring: unknown[] = [];
  ring.push(ring);

  it('that lead back are nested without an end', () => {
    expect(valueFlaw(ring, { values: 1_000, levels: 100 })).toBe(
      'it is nested more than 100 levels deep',
    );
  });

  it.each([
    ['one that leads back', 'rootNamespace: a\naccessLogFile: &a [*a]\n', 2],
    ['101 of them', `accessLogFile: &a x\ny: [${'*a, '.repeat(101)}]\n`, 2],
    ['one without an anchor', 'accessLogFile: *a\n', 1],
  ])('%s in a MeshConfig are a flaw with a line', (_, text, line) => {
    const { flaws } = readMeshConfig(text, 'mesh');
    expect(flaws.filter(({ severity }) => severity === 'error').length).toBeGreaterThan(0);
    expect(flaws[0]).toMatchObject({ origin: { path: 'mesh', line } });
  });

  const anchors = Array.from({ length: 45 }, (_, index) => `- &${index} 1\n`).join('');
  const listOf = (count: number) =>
    Array.from({ length: count }, (_, index) => `*${index % 45}`).join(', ');
  const nested = Array.from({ length: 45 }, (_, index) => `&n${index} [`).join('');

  it.each([
    ['1,000', `${anchors}- &x [${listOf(999)}]\n- *x\n`, true],
    ['4,000', `${anchors}- &x [${listOf(4_000)}]\n- *x\n`, false],
    [
      'some inside 45 anchors that aliases name',
      `${anchors}- ${nested}${listOf(900)}${']'.repeat(45)}\n${anchors.replaceAll(/&(\d+) 1/g, '*n$1')}`,
      true,
    ],
  ])('are read or refused in less than 300 ms: %s', async (_, text, isRead) => {
    await parseText('a: *b');
    const begin = process.cpuUsage();
    const { ok } = await parseText(text, { characters: 1e6, tokens: 1e6, values: 1e6, levels: 99 });
    const { user } = process.cpuUsage(begin);
    expect(ok).toBe(isRead);
    expect(user / 1_000).toBeLessThan(300);
  });

  it('in a resource cost that document alone', () => {
    const good =
      'apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: { name: a }\nspec: { egress: [{ hosts: [./*] }] }\n';
    const { resources, flaws } = readResources(`kind: &a [*a]\n---\n${good}`, place);
    expect(resources).toHaveLength(1);
    expect(flaws.filter(({ severity }) => severity === 'error')).toMatchObject([
      { origin: { line: 1 } },
    ]);
  });
});

it('no nested text aborts the process that reads it', () => {
  const run = spawnSync(process.execPath, ['--import', 'tsx', 'test/fuzz/nested.ts'], {
    encoding: 'utf8',
    timeout: 170_000,
  });
  expect(run).toMatchObject({ status: 0, signal: null, stderr: '' });
  expect(Number(run.stdout)).toBeGreaterThan(500);
});
