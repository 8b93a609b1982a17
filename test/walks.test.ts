import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const walks = readFileSync('docs/architecture/walks.md', 'utf8');

interface Step {
  readonly module: string;
  /** The module from which the walk goes on to this one. */
  readonly from: string | undefined;
}

/**
 * The walks by their headings. Each step has the module that it follows; that is the module before
 * it, unless the line names another.
 */
const steps = walks
  .split(/^## /m)
  .slice(1)
  .map((text): readonly [string, readonly Step[]] => {
    const [heading = '', ...lines] = text.split('\n');
    const walkSteps = lines.flatMap((line) => {
      const [, module, from] = /^\d+\. `([^`]+)`(?: \(from `([^`]+)`\))?: ./.exec(line) ?? [];
      return module === undefined ? [] : [{ module, from }];
    });
    return [
      heading,
      walkSteps.map(({ module, from }, index) => ({
        module,
        from: from ?? walkSteps[index - 1]?.module,
      })),
    ];
  });

/** Returns the modules of src that a module of src imports, with types and lazy imports. */
function importsOf(module: string): readonly string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(module, 'utf8'), true, true);
  return importedFiles.map(({ fileName }) => normalize(join(dirname(module), fileName)));
}

describe('docs/architecture/walks.md', () => {
  it('has the walks that a newcomer asks for', () => {
    expect(steps.map(([heading]) => heading)).toEqual([
      'A file changed',
      'Envoy crashed',
      'SIGTERM',
      'A bug of the core',
      'A readiness probe came',
      'A secret rotates',
      'An agent has left its Envoy',
      'The control plane sends a change',
      'An Envoy starts while the control plane is away',
      'A rule of the control plane changed',
      'A proxy connects to the control plane',
      'A proxy refuses an answer',
      'The control plane ends',
    ]);
    expect(steps.filter(([, walkSteps]) => walkSteps.length < 6)).toEqual([]);
  });

  it.each(
    steps.flatMap(([heading, walkSteps]) =>
      walkSteps.slice(1).map(({ module, from = '' }) => ({ heading, from, module })),
    ),
  )('$heading: from $from to $module there is an import', ({ from, module }) => {
    expect(importsOf(from).includes(module) || importsOf(module).includes(from)).toBe(true);
  });
});
