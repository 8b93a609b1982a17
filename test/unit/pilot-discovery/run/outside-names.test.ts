import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { Linter, type Rule } from 'eslint';
import ts from 'typescript';
import tseslint from 'typescript-eslint';
import { debugRoutes } from '../../../../src/pilot-discovery/debug/debug-routes.ts';
import { discoveryFamilies } from '../../../../src/pilot-discovery/debug/discovery-families.ts';
import type { DiscoveryEvent } from '../../../../src/pilot-discovery/state/discovery-event.ts';
import { foldView, initialView } from '../../../../src/pilot-discovery/state/fold-view.ts';
import { narrateDiscovery } from '../../../../src/pilot-discovery/state/narrate-discovery.ts';
import { readNode } from '../../../../src/pilot-discovery/generate/scope/read-node.ts';
import { readResources } from '../../../../src/pilot-discovery/istio/documents/read-resources.ts';
import { printFamilies } from '../../../../src/shared/metrics/metric-family.ts';
import { NodeSchema } from '../../../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { ownMember } from '../../../../src/shared/text/own-member.ts';
import { shortName } from '../../../../src/shared/xds/resources.ts';

/** The names that every plain object has, and `__proto__`, by which it can get more. */
const inherited = ['__proto__', ...Object.getOwnPropertyNames(Object.prototype)];

describe.each(inherited)('the name %s, from outside', (name) => {
  it('is not a member of an empty object', () => {
    expect(ownMember({}, name)).toBeUndefined();
    expect(ownMember({ [name]: 1 }, name)).toBe(1);
  });

  it('is a type that nobody serves, in what the control plane knows, logs and counts', () => {
    const subscription = { connection: 1, typeUrl: name } as const;
    const node = create(NodeSchema, { id: 'sidecar~10.0.0.1~a.b~c', metadata: {} });
    const events: readonly DiscoveryEvent[] = [
      { type: 'connected', connection: 1, node, variant: 'delta', address: '' },
      { type: 'asked', ...subscription, names: new Set([name]) },
      { type: 'unknown-type', ...subscription },
      { type: 'answered', ...subscription, nonce: 'n', snapshot: 1, version: '', resources: 0 },
      { type: 'written', ...subscription, bytes: 7, queuedMs: 0, writingMs: 0 },
      { type: 'rejected', ...subscription, nonce: 'n', reason: name, names: [name], keys: [] },
    ];
    const view = events.reduce((before, event) => {
      narrateDiscovery(before, event, 0, 1);
      return foldView(before, event, 1);
    }, initialView);
    const text = printFamilies(discoveryFamilies(view, '1')).join('\n');
    expect(text).toContain('pilot_xds_pushes{type="other"} 1\n');
    expect(text).not.toMatch(/NaN|native code|object Object/);
    expect(shortName(name)).toBe('other');
  });

  it('is a kind, a protocol, a label and a member like any other in a resource', () => {
    const resource = (kind: string, protocol: string) =>
      `apiVersion: networking.istio.io/v1\nkind: ${kind}\nmetadata: { name: a, labels: { ${name}: x } }\nspec: { hosts: [a.b], ports: [{ number: 1, name: p, protocol: ${protocol} }], resolution: DNS }\n`;
    const place = { source: 'files', path: 'a.yaml', defaultNamespace: 'default' };
    expect(readResources(resource(name, 'TCP'), place).flaws).toEqual([
      expect.objectContaining({ field: 'kind', severity: 'error' }),
    ]);
    expect(readResources(resource('ServiceEntry', name), place).flaws).toEqual([
      expect.objectContaining({ field: 'spec.ports[0].protocol' }),
    ]);
    expect(readResources(`${resource('ServiceEntry', 'TCP')}${name}: 1\n`, place).flaws).toEqual([
      expect.objectContaining({ field: name, severity: 'warning' }),
    ]);
    const [read] = readResources(resource('ServiceEntry', 'TCP'), place).resources;
    expect(Object.entries(read?.labels ?? {})).toEqual([[name, 'x']]);
  });

  it('is metadata that a proxy does not have', () => {
    const metadata = JSON.parse(`{ "${name}": { "NAMESPACE": "of-another" } }`) as Record<
      string,
      never
    >;
    expect(readNode({ id: 'sidecar~10.0.0.1~a.b~c', metadata }, '')).toMatchObject({
      namespace: 'b',
      labels: {},
    });
  });

  it('is not a path of the debug port', () => {
    expect(
      debugRoutes(
        null as never,
        () => 0,
        () => undefined,
        () => undefined,
      )(name).name,
    ).toBe('missing');
  });
});

it('is found by a rule, wherever a plain object is asked for a name that is known only at run time', async () => {
  const { outsideNames } = (await import(resolve('scripts/lint-outside-names.mjs'))) as {
    readonly outsideNames: Rule.RuleModule;
  };
  const text = [
    'declare const some: Readonly<Record<string, number>>;',
    'declare const name: string;',
    "declare const known: 'a' | 'b';",
    'export const bad = [some[name], name in some, some[`x${name}`]];',
    'export const good = [some[known], Object.hasOwn(some, name) ? some[name] : 0, new Map<string, number>().get(name)];',
    'export const more: number[] = [];',
    'for (const each in some) more.push(some[each] ?? 0);',
  ].join('\n');
  const folder = mkdtempSync(join(tmpdir(), 'outside-names-'));
  const filename = join(folder, 'some.ts');
  writeFileSync(filename, text);
  const programs = [
    ts.createProgram([filename], { strict: true, target: ts.ScriptTarget.ES2022, types: [] }),
  ];
  const config = {
    files: ['**/*.ts'],
    plugins: { local: { rules: { 'outside-names': outsideNames } } },
    languageOptions: { parser: tseslint.parser, parserOptions: { programs } },
    rules: { 'local/outside-names': 'error' as const },
  };
  const messages = new Linter({ cwd: folder }).verify(text, [config], filename);
  rmSync(folder, { recursive: true });
  expect(messages.map(({ line, ruleId }) => [line, ruleId])).toEqual(
    Array.from({ length: 3 }, () => [4, 'local/outside-names']),
  );
});
