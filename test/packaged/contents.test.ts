import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Ajv, type AnySchema } from 'ajv';
import addFormats from 'ajv-formats';
import { expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { carried } from '../support/packaged/carried.ts';

const require = createRequire(import.meta.url);
const folder = 'executable';
const programs = ['x64', 'arm64']
  .map((cpu) => `pilot-agent-linux-${cpu}`)
  .filter((name) => existsSync(join(folder, name)));

it('SHA256SUMS has the sum of each program', () => {
  const lines = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trim().split('\n');
  const sums = lines.map((line) => line.split('  '));
  expect(sums.map(([, name]) => name).sort()).toEqual(
    programs.flatMap((name) => [name, name.replace('-linux', '-guard-linux')]).sort(),
  );
  for (const [sum, name = ''] of sums)
    expect(
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ).toBe(sum);
});

it.each(programs)(
  'the bill of materials of %s is CycloneDX, and has Node and each package',
  (name) => {
    const schema = (file: string) => {
      const path = `node_modules/@cyclonedx/cyclonedx-library/res/schema/${file}.SNAPSHOT.schema.json`;
      return JSON.parse(
        readFileSync(path, 'utf8').replaceAll('.SNAPSHOT.schema', '.schema'),
      ) as AnySchema;
    };
    const ajv = new Ajv({ strict: false, schemas: [schema('spdx'), schema('jsf-0.82')] });
    addFormats.default(ajv);
    (require('ajv-formats-draft2019') as (ajv: Ajv) => void)(ajv);
    ajv.addFormat('iri-reference', true); // the format of ajv-formats-draft2019 refuses `git@host:path`
    const bom = JSON.parse(readFileSync(join(folder, `${name}.cdx.json`), 'utf8')) as {
      readonly metadata: {
        readonly component: {
          readonly version: string;
          readonly hashes: readonly { readonly content: string }[];
        };
      };
      readonly components: readonly { readonly name: string; readonly group?: string }[];
    };
    const validate = ajv.compile(schema('bom-1.6'));
    expect(validate(bom), JSON.stringify(validate.errors)).toBe(true);
    const { component } = bom.metadata;
    expect(component.version).toBe(packageJson.version);
    expect(readFileSync(join(folder, 'SHA256SUMS'), 'utf8')).toContain(
      `${component.hashes[0]?.content ?? ''}  ${name}\n`,
    );
    const names = bom.components.map((part) =>
      part.group === undefined ? part.name : `${part.group}/${part.name}`,
    );
    expect(names).toEqual(
      expect.arrayContaining([...carried, name.replace('pilot-agent', 'node')]),
    );
  },
);

it('the licences of Node, of the packages and of the program are beside it', () => {
  const text = (name: string) => readFileSync(join(folder, name), 'utf8');
  expect(text('LICENSE')).toBe(readFileSync('LICENSE', 'utf8'));
  expect(text('NODE-LICENSE.txt')).toMatch(/Node\.js is licensed/);
  for (const name of carried) expect(text('THIRD-PARTY-NOTICES.txt')).toContain(name);
});
