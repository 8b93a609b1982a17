import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { format } from 'prettier';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderTemplate } from '../../../../src/pilot-agent/bootstrap/template.ts';
import { templateVariables } from '../../../../src/pilot-agent/bootstrap/template-variables.ts';
import { bootstrapOf, goldenCases, inputsOf } from '../../../golden/cases.ts';
import { trialEnvoy, type TrialEnvoy } from '../../../golden/envoy.ts';
import { meanings } from '../../../golden/meanings.ts';
import { summary } from '../../../golden/summary.ts';

const update = process.env['UPDATE_GOLDEN'] === '1';
const path = (name: string) => `test/golden/${name}.json`;

/**
 * Compares with a golden file, or writes it (`UPDATE_GOLDEN=1`). The order of members counts too.
 */
async function isGolden(name: string, content: unknown): Promise<void> {
  if (update)
    writeFileSync(
      path(name),
      await format(JSON.stringify(content, undefined, 2), { parser: 'json', printWidth: 140 }),
    );
  const golden: unknown = JSON.parse(readFileSync(path(name), 'utf8'));
  expect(content).toEqual(golden);
  expect(JSON.stringify(content)).toBe(JSON.stringify(golden));
}

function rendered(): string {
  const variables = templateVariables(inputsOf(goldenCases['all'] ?? {}));
  if (!variables.ok) throw new Error(JSON.stringify(variables.problems));
  const result = renderTemplate(
    readFileSync('test/golden/template.json.tmpl', 'utf8'),
    variables.variables,
  );
  if (!result.ok) throw new Error(result.reason);
  return result.text;
}

describe('a golden bootstrap', () => {
  let envoy: TrialEnvoy;
  beforeAll(async () => {
    envoy = await trialEnvoy();
  });
  afterAll(() => envoy.dispose());

  it.each(Object.entries(goldenCases))('%s is made as it was', async (name, golden) => {
    const result = bootstrapOf(golden);
    await isGolden(name, result.ok ? result.bootstrap : result.problems);
  });

  it.each(Object.entries(goldenCases))('%s leads where its inputs say', (name, golden) => {
    const result = bootstrapOf(golden);
    expect(result.ok && summary(result.bootstrap)).toEqual(meanings[name]);
  });

  it('template is made as it was', async () => {
    await isGolden('template', JSON.parse(rendered()));
  });

  it('is there for each case, and for nothing else', () => {
    const files = readdirSync('test/golden').filter((file) => file.endsWith('.json'));
    expect(files.sort()).toEqual(
      [...Object.keys(goldenCases), 'template'].map((name) => `${name}.json`).sort(),
    );
  });

  it.each([...Object.keys(goldenCases), 'template'])(
    '%s is accepted by Envoy, without a word',
    async (name) => {
      const { accepted, output } = await envoy.validate(readFileSync(path(name), 'utf8'));
      expect(accepted, output).toBe(true);
      // Envoy warns of this field, but a tracer for listeners that name none has no other place.
      const words = output
        .split('\n')
        .filter(
          (line) => line !== '' && !line.includes("'envoy.config.bootstrap.v3.Bootstrap.tracing'"),
        );
      expect(words).toEqual([]);
    },
  );
});
