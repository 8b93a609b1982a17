import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as yaml from 'yaml';
import { readMeshConfig } from '../../../../../src/pilot-discovery/istio/mesh/read-mesh-config.ts';
import {
  readObject,
  readResources,
  readResourcesInSteps,
} from '../../../../../src/pilot-discovery/istio/documents/read-resources.ts';
import { changedEntries } from '../../../../../src/streams/changed-entries.ts';
import { lookAtFolder } from '../../../../../src/pilot-discovery/registry/files/folder-reader.ts';
import {
  reduceFolder,
  unknownFolder,
} from '../../../../../src/pilot-discovery/registry/files/folder-state.ts';
import {
  lookAtTree,
  unknownTree,
} from '../../../../../src/pilot-discovery/registry/files/folder-tree.ts';
import { parseYaml } from '../../../../../src/shared/text/parse-yaml.ts';
import { atOnce } from '../../../../../src/shared/text/steps.ts';
import { growthRatio } from '../../../../support/growth-ratio.ts';

const place = { source: 'files', path: 'a.yaml', defaultNamespace: 'default' };
const times = (count: number) => Array.from({ length: count }, (_, index) => index);
const entry = (spec: object, name = 'a') =>
  JSON.stringify({
    apiVersion: 'networking.istio.io/v1',
    kind: 'ServiceEntry',
    metadata: { name },
    spec,
  });
const small = {
  hosts: ['a.mesh'],
  resolution: 'DNS',
  ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
};
const port = (index: number) => ({ number: index + 1, name: `p${index}`, protocol: 'HTTP' });

describe('a resource', () => {
  it.each([
    [
      '5,000 hosts',
      { ...small, hosts: times(5_000).map((index) => `h${index}.mesh`) },
      'spec.hosts',
      256,
    ],
    ['3,000 ports', { ...small, ports: times(3_000).map(port) }, 'spec.ports', 256],
    [
      '257 addresses',
      { ...small, addresses: times(257).map((index) => `10.0.${index >> 8}.${index & 255}`) },
      'spec.addresses',
      256,
    ],
    [
      '4,097 endpoints',
      {
        ...small,
        resolution: 'STATIC',
        endpoints: times(4_097).map(() => ({ address: '10.0.0.1' })),
      },
      'spec.endpoints',
      4_096,
    ],
  ])('with %s is refused', (what, spec, field, most) => {
    const { resources, flaws } = readResources(entry(spec), place);
    expect(resources).toEqual([]);
    const reasons = flaws.filter((flaw) => flaw.field === field).map(({ reason }) => reason);
    expect(reasons).toContain(
      `it has ${what.split(' ')[0]?.replace(',', '') ?? ''} entries, and the limit is ${most}`,
    );
  });

  it('with as much as Istio takes is taken', () => {
    const spec = {
      ...small,
      hosts: times(256).map((index) => `h${index}.mesh`),
      ports: times(256).map(port),
    };
    expect(readResources(entry(spec), place)).toMatchObject({
      resources: [{ name: 'a' }],
      flaws: [],
    });
  });

  it('with 5,000 mistakes has a line for 20 of them, and one for the others', () => {
    const spec = { ...small, ...Object.fromEntries(times(5_000).map((index) => [`x${index}`, 1])) };
    const { resources, flaws } = readResources(entry(spec), place);
    expect([resources.length, flaws.length]).toEqual([1, 21]);
    expect(flaws.at(-1)).toMatchObject({
      severity: 'warning',
      reason: '4980 more things are wrong with it',
    });
    const bad = {
      ...small,
      ports: times(250).map(() => ({ number: 0, name: 'p', protocol: 'HTTP' })),
    };
    const reading = readResources(entry(bad), place);
    expect([reading.resources.length, reading.flaws.at(-1)?.severity]).toEqual([0, 'error']);
  });
});

describe('a list of a resource', () => {
  const names = (count: number, textOf: (index: number) => string) => times(count).map(textOf);
  const route = [{ destination: { host: 'a.mesh' } }];

  it.each<[field: string, kind: string, specOf: (count: number) => object]>([
    [
      'distribute[].to',
      'DestinationRule',
      (count) => {
        const to = Object.fromEntries(names(count, (index) => `r/z${index}`).map((z) => [z, 1]));
        const localityLbSetting = { distribute: [{ from: 'r/z', to }] };
        return { host: 'a.mesh', trafficPolicy: { loadBalancer: { localityLbSetting } } };
      },
    ],
    [
      'subsets',
      'DestinationRule',
      (count) => ({
        host: 'a.mesh',
        subsets: names(count, (index) => `v${index}`).map((name) => ({ name })),
      }),
    ],
    [
      'exportTo',
      'DestinationRule',
      (count) => ({ host: 'a.mesh', exportTo: names(count, (index) => `n${index}`) }),
    ],
    [
      'hosts',
      'VirtualService',
      (count) => ({ hosts: names(count, (index) => `h${index}.mesh`), http: [{ route }] }),
    ],
    [
      'sniHosts',
      'VirtualService',
      (count) => {
        const hosts = names(count, (index) => `h${index}.mesh`);
        return { hosts, tls: [{ match: [{ sniHosts: hosts.toReversed() }], route }] };
      },
    ],
    [
      'egress[].hosts',
      'Sidecar',
      (count) => ({ egress: [{ hosts: names(count, (index) => `./h${index}.mesh`) }] }),
    ],
  ])('costs by its length: %s', (_, kind, specOf) => {
    const read = (count: number) => {
      const apiVersion = 'networking.istio.io/v1';
      const object = { apiVersion, kind, metadata: { name: 'a' }, spec: specOf(count) };
      return () => readObject(object, place);
    };
    expect(growthRatio(read(500), read(16_000), 128)).toBeLessThan(128);
  });
});

describe('a MeshConfig', () => {
  it('with 2,000 fields that have no effect has a line for 100 of them, and one for the others', () => {
    const { mesh, flaws } = readMeshConfig(
      `enableAutoMtls: false\n${times(2_000)
        .map((index) => `k${index}: a\n`)
        .join('')}`,
      'mesh',
    );
    expect([mesh.enableAutoMtls, flaws.length]).toEqual([false, 101]);
    expect(flaws.at(-1)).toMatchObject({
      severity: 'warning',
      reason: '1900 more fields have no effect here',
    });
    expect(flaws[99]).toMatchObject({ field: 'k99', origin: { line: 101 } });
  });
});

describe('a text', () => {
  const keys = (count: number) =>
    times(count)
      .map((index) => `k${index}: a\n`)
      .join('');

  it('costs by its length, however many keys a map has', () => {
    const read = (count: number) => {
      const text = keys(count);
      return () => parseYaml(yaml, text, {});
    };
    expect(growthRatio(read(2_000), read(32_000), 64)).toBeLessThan(64);
  });

  it.each([
    ['a: 1\nb: 2\na: 3\n', 10],
    ['x: { b: 1, b: 2 }\n', 11],
    ['- a: 1\n  a: 2\n', 9],
    ['? 1\n: a\n? 1\n: b\n', 10],
  ])('with a key twice is not YAML: %j', (text, offset) => {
    const parsed = parseYaml(yaml, text, {});
    if (!parsed.ok) throw new Error(parsed.reason);
    expect(parsed.documents[0]?.errors.map(({ code, pos }) => [code, pos[0]])).toEqual([
      ['DUPLICATE_KEY', offset],
    ]);
    const lax = parseYaml(yaml, text, { uniqueKeys: false });
    expect(lax.ok && lax.documents[0]?.errors).toEqual([]);
  });

  it('has the documents and errors that the parser itself finds', () => {
    for (const text of [
      '',
      '# a\n',
      '---\n',
      'a\n---\nb\n',
      '%YAML 1.2\n---\na: [1\n',
      'a: b: c\n',
      '{"a": 1}',
      'a: 1\r\nb: 2\n',
    ]) {
      const parsed = parseYaml(yaml, text, {});
      const lines = new yaml.LineCounter();
      const libraryDocuments = yaml.parseAllDocuments(text, {
        prettyErrors: false,
        lineCounter: lines,
      });
      const expected = 'empty' in libraryDocuments ? [yaml.parseDocument(text)] : libraryDocuments;
      if (!parsed.ok) throw new Error(parsed.reason);
      expect(
        parsed.documents.map(({ errors }) => errors.map(({ code, pos }) => [code, pos])),
      ).toEqual(expected.map(({ errors }) => errors.map(({ code, pos }) => [code, pos])));
      expect(parsed.documents.map((document) => String(document.toJS()))).toEqual(
        expected.map((document) => String(document.toJS())),
      );
      expect(parsed.lines.lineStarts).toEqual(lines.lineStarts);
    }
  });

  it('is read in steps, none of which takes three quarters of its time', () => {
    const spec = {
      hosts: ['a'],
      http: times(1_500).map((index) => ({
        match: [{ uri: { prefix: `/${index}` } }],
        route: [{ destination: { host: 'a' } }],
      })),
    };
    const documentText = yaml.stringify({
      apiVersion: 'networking.istio.io/v1',
      kind: 'VirtualService',
      metadata: { name: 'a' },
      spec,
    });
    const text = `# \t\n${documentText}`; // the quick parser does not know tabs
    const costsOfReading = () => {
      const steps = readResourcesInSteps(text, place);
      const costs: number[] = [];
      const step = () => {
        const before = process.cpuUsage();
        const { done } = steps.next();
        costs.push(process.cpuUsage(before).user);
        return done !== true;
      };
      while (step());
      return costs;
    };
    // V8 collects garbage in any step, on other threads too: the cheapest of three counts.
    const [first = [], ...others] = times(3).map(costsOfReading);
    const costs = first.map((cost, index) =>
      Math.min(cost, ...others.map((other) => other[index] ?? cost)),
    );
    expect(costs.length).toBeGreaterThan(100);
    const whole = costs.reduce((sum, cost) => sum + cost, 0);
    expect(Math.max(...costs)).toBeLessThan(whole * 0.75);
  });
});

describe('a folder', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'large-files-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const reading = () => {
    const looked = atOnce(
      lookAtFolder(folder, unknownFolder, changedEntries().take(), {
        source: 'files',
        read: readResourcesInSteps,
        defaultNamespace: 'default',
        now: () => 0,
      }),
    );
    const [, events] = reduceFolder(unknownFolder, looked, 'files');
    const names = events.flatMap((event) =>
      event.type === 'changed' ? event.upserts.map(({ name }) => name) : [],
    );
    return {
      names,
      reasons: events.flatMap((event) =>
        event.type === 'flaws' ? event.flaws.map(({ reason }) => reason) : [],
      ),
    };
  };

  it('has a line for a document that is too large, and the others are read', () => {
    writeFileSync(
      join(folder, 'a.yaml'),
      `${entry(small, 'before')}\n---\n# ${'x'.repeat(9 << 20)}\n---\n${entry(small, 'after')}\n`,
    );
    const { names, reasons } = reading();
    expect(names).toEqual(['after', 'before']);
    expect(reasons).toEqual([
      expect.stringMatching(
        /^the document has 94371\d\d bytes, and 524288 are read at most: divide it by '---'$/,
      ),
    ]);
  });

  it('has a line for a link into a special file system, which is not followed', () => {
    mkdirSync(join(folder, 'below'));
    symlinkSync('/proc', join(folder, 'system'));
    symlinkSync('/proc/self/environ', join(folder, 'below', 'link.yaml'));
    writeFileSync(join(folder, 'below', 'a.yaml'), entry(small));
    const { names, reasons } = reading();
    expect(names).toEqual(['a']);
    expect(reasons.map((reason) => reason.replace(/^.*: /, ''))).toEqual(
      Array.from({ length: 2 }, () => 'it is in proc, which has no files of users'),
    );
  });

  it('is looked at in steps, also if no file in it is meant', () => {
    for (const index of times(300)) mkdirSync(join(folder, String(index)));
    expect([...lookAtTree(folder, unknownTree, changedEntries().take())].length).toBeGreaterThan(3);
  });
});
