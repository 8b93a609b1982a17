import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EpochConfig } from '../../../../src/epochs/ports.ts';
import { explainRefusal } from '../../../../src/pilot-agent/envoy/explain-refusal.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'pilot-agent-explain-'))));
afterEach(() => rmSync(folder, { recursive: true }));

/** Returns Envoy's message about an unknown field, with a position that differs from run to run. */
const unknown = (path: string, field: string) =>
  `Protobuf message (type envoy.config.bootstrap.v3.Bootstrap reason INVALID_ARGUMENT: invalid JSON in envoy.config.bootstrap.v3.Bootstrap${path === '' ? ',' : ` @ ${path}: message envoy.config.cluster.v3.Cluster,`} near 1:94 (offset 93): no such field: '${field}') has unknown fields`;
const unreadable = (path: string, what: string) =>
  `Unable to parse JSON as proto (INVALID_ARGUMENT: invalid JSON in envoy.config.bootstrap.v3.Bootstrap @ ${path}: uint32, near 1:94 (offset 93): ${what})`;

const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const explanation = async (config: EpochConfig, words: string) => {
  const { reason, excerpt } = await explainRefusal(config, words, '/no/envoy');
  return [reason.replaceAll(`${folder}/`, ''), excerpt];
};

const base = 'static_resources:\n  clusters:\n    - name: a\n    - name: b\n';

describe('explainRefusal', () => {
  it('names what is laid over a file if that is to blame, by its own lines', async () => {
    const path = file('envoy.yaml', base);
    const config: EpochConfig = {
      ...{ kind: 'given', path, overridePath: '/etc/over.yaml' },
      override:
        'admin:\n  adress: 1\nstatic_resources:\n  clusters:\n    - name: e\n      tipe: EDS',
      overlays: [
        {
          source: 'front',
          at: 'static_resources.clusters',
          text: '- name: c\n- name: d\n  kind: x',
        },
      ],
    };
    expect(await explanation(config, unknown('static_resources.clusters[1]', 'x'))).toEqual([
      "envoy.yaml:4:7: static_resources.clusters[1]: no such field: 'x'",
      '4 |     - name: b\n  |       ^^^^',
    ]);
    expect(await explanation(config, unknown('static_resources.clusters[3]', 'kind'))).toEqual([
      "source front:3:3: static_resources.clusters[1]: no such field: 'kind'",
      '3 |   kind: x\n  |   ^^^^',
    ]);
    expect(await explanation(config, unknown('static_resources.clusters[4]', 'tipe'))).toEqual([
      "ISTIO_BOOTSTRAP_OVERRIDE /etc/over.yaml:6:7: static_resources.clusters[0]: no such field: 'tipe'",
      '6 |       tipe: EDS\n  |       ^^^^',
    ]);
    expect(await explanation(config, unknown('admin', 'adress'))).toEqual([
      "ISTIO_BOOTSTRAP_OVERRIDE /etc/over.yaml:2:3: admin: no such field: 'adress'",
      '2 |   adress: 1\n  |   ^^^^^^',
    ]);
    expect((await explanation(config, 'no cluster can be made'))[0]).toBe(
      'envoy.yaml, with source front, with ISTIO_BOOTSTRAP_OVERRIDE /etc/over.yaml: no cluster can be made',
    );
  });

  it('blames what is laid over a field, and not the field below it', async () => {
    const config: EpochConfig = {
      kind: 'given',
      path: file('envoy.yaml', 'node:\n  id: a\n'),
      override: 'node: {id: [b]}',
    };
    const where = 'ISTIO_BOOTSTRAP_OVERRIDE:1:8: node.id: is a list, and a text is wanted';
    expect(
      (
        await explanation(config, unreadable('node.id', `unexpected character: '['; expected '"'`))
      )[0],
    ).toBe(where);
  });

  it('names a source that says all, and the bootstrap that the agent has made', async () => {
    const sourceConfig: EpochConfig = {
      kind: 'generated',
      text: base,
      origin: 'source url',
      extension: '.yaml',
      override: '',
    };
    expect(
      (await explanation(sourceConfig, unknown('static_resources.clusters[0]', 'name')))[0],
    ).toBe("source url:3:7: static_resources.clusters[0]: no such field: 'name'");
    const generatedConfig: EpochConfig = {
      kind: 'generated',
      text: '{"admin":{"x":1}}',
      extension: '.json',
      override: '',
    };
    expect(await explanation(generatedConfig, unknown('admin', 'x'))).toEqual([
      "the generated bootstrap: admin: no such field: 'x'",
      undefined,
    ]);
  });

  it('names the line of a template, whatever its variables are', async () => {
    const template = file('t.tmpl', '# {{ .a }}\nadmin:\n  x: 1\n  {{ .b }}: 1\nnode:\n  x: 1\n');
    const text = '# a\n# b\n\nadmin:\n  x: 1\n  c: 1\nnode:\n  x: 1\n';
    const config: EpochConfig = {
      kind: 'generated',
      text,
      template,
      extension: '.yaml',
      override: '',
    };
    expect(await explanation(config, unknown('admin', 'x'))).toEqual([
      "t.tmpl:3:3: admin: no such field: 'x'",
      '3 |   x: 1\n  |   ^',
    ]);
    expect(await explanation(config, unknown('admin', 'c'))).toEqual([
      "t.tmpl:4:3: admin: no such field: 'c'",
      '4 |   {{ .b }}: 1\n  |   ^^',
    ]);
    expect((await explanation(config, unknown('node', 'x')))[0]).toBe(
      "t.tmpl:6:3: node: no such field: 'x'",
    );
  });

  it('finds fields in camel case, and in a map whose order nobody knows', async () => {
    const path = file(
      'envoy.json',
      '{"staticResources": {"clusters": [\n{"typedExtensionProtocolOptions": {"a": {"@type": "t/x.Y"},\n"b.c": {"@type": "t/x.Z", "nope": 1}}}]}}',
    );
    expect(
      await explanation(
        { kind: 'given', path, override: '' },
        unknown('static_resources.clusters[0].typed_extension_protocol_options[0].<any>', 'nope'),
      ),
    ).toEqual([
      "envoy.json:3:27: staticResources.clusters[0].typedExtensionProtocolOptions.b.c: no such field: 'nope'",
      '3 | "b.c": {"@type": "t/x.Z", "nope": 1}}}]}}\n  |                           ^^^^^^',
    ]);
  });

  it('tells where a JSON file stops to be JSON', async () => {
    const path = file('envoy.json', '{"admin": {\n "address" {}}}');
    expect(
      await explanation(
        { kind: 'given', path, override: '' },
        "Unable to parse JSON as proto (INVALID_ARGUMENT: invalid JSON in envoy.config.bootstrap.v3.Bootstrap @ admin.address: message envoy.config.core.v3.Address, near 2:12 (offset 24): unexpected character: '{'; expected ':')",
      ),
    ).toEqual([
      "envoy.json:2:12: admin.address: unexpected character: '{'; expected ':'",
      '2 |  "address" {}}}\n  |            ^',
    ]);
  });

  it('shows nothing of a line that may have a secret', async () => {
    const path = file(
      'envoy.yaml',
      'admin:\n  x: {inline_string: hush}\n  y: Zk3jQ9xB7mPw2RtVnLs8YcHd\n',
    );
    const config: EpochConfig = { kind: 'given', path, override: '' };
    expect(await explanation(config, unknown('admin', 'x'))).toEqual([
      "envoy.yaml:2:3: admin: no such field: 'x'",
      undefined,
    ]);
    expect(await explanation(config, unreadable('admin.y', "invalid number: '2x'"))).toEqual([
      'envoy.yaml:3:6: admin.y: is not a number',
      undefined,
    ]);
    expect(
      await explanation(config, unreadable('admin.y', 'non-number characters in quoted number')),
    ).toEqual(['envoy.yaml:3:6: admin.y: is not a number', undefined]);
  });

  it('points to the one of several messages of a kind in which something is missing, and to none if that may be any', async () => {
    const path = file(
      'envoy.yaml',
      'a: {"@type": t/x.M, name: n}\nb: {"@type": t/x.M}\nc: {"@type": t/x.O}\nd: {"@type": t/x.O}\n',
    );
    const config: EpochConfig = { kind: 'given', path, override: '' };
    const missing = (message: string) =>
      `Proto constraint validation failed (${message}ValidationError.Name: value length must be at least 1 characters)`;
    expect((await explanation(config, missing('M')))[0]).toBe(
      'envoy.yaml:2:1: b.name: is missing or empty',
    );
    expect(await explanation(config, missing('O'))).toEqual([
      'envoy.yaml: name: is missing or empty',
      undefined,
    ]);
  });

  it('gives the words of Envoy if the file cannot be read, and if it has no words for it', async () => {
    expect(
      await explanation(
        { kind: 'given', path: '/no/envoy.yaml', override: '' },
        unknown('admin', 'x'),
      ),
    ).toEqual(["/no/envoy.yaml: admin: no such field: 'x'", undefined]);
    expect(await explanation({ kind: 'refused', reason: 'r' }, 'r')).toEqual(['r', undefined]);
  });

  it('is one line of at most 500 characters, with an excerpt of two lines of 80 columns, for any words and any file', async () => {
    const word = fc.constantFrom(
      'admin',
      'a',
      '[0]',
      '.',
      ': ',
      "'",
      '@ ',
      'no such field: ',
      '(',
      ')',
      ' | caused by ',
      'XValidationError.Y',
      '{',
      '\n',
      '\t',
    );
    const text = fc.array(word).map((words) => words.join(''));
    await fc.assert(
      fc.asyncProperty(text, text, text, async (words, content, override) => {
        const config: EpochConfig = {
          kind: 'generated',
          text: content,
          origin: 'source o',
          extension: '.yaml',
          override,
        };
        for (const all of [
          words,
          unknown(words, words),
          unreadable(words, words),
          `Proto constraint validation failed (${words})`,
        ]) {
          const { reason, excerpt = '' } = await explainRefusal(config, all, '/no/envoy');
          expect(reason.length).toBeLessThanOrEqual(500);
          expect(excerpt.split('\n').length).toBeLessThanOrEqual(2);
          expect(Math.max(...excerpt.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(
            80,
          );
        }
      }),
      { numRuns: 200 },
    );
  });
});
