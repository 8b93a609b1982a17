import { describe, expect, it } from 'vitest';
import { readResources } from '../../../../../src/pilot-discovery/istio/documents/read-resources.ts';

const noEffect =
  'warning 4 spec: it has no effect: injectors apply it, and there is none here. Give its settings to the agents: PROXY_CONFIG';

/** Returns the flaws of a ProxyConfig: the severity, the line, the field and a sentence. */
const flawsOf = (spec: string, apiVersion = 'networking.istio.io/v1beta1') =>
  readResources(
    `apiVersion: ${apiVersion}\nkind: ProxyConfig\nmetadata: { name: a }\nspec:\n${spec.replace(/^/gm, '  ')}\n`,
    { source: 'files', path: 'a.yaml', defaultNamespace: 'default' },
  ).flaws.map(
    ({ origin, field, reason, severity }) => `${severity} ${origin.line} ${field}: ${reason}`,
  );

describe('a mistake in a ProxyConfig', () => {
  it.each<[spec: string, reason: string]>([
    ['a', "error 4 spec: 'a' is not an object"],
    [
      'concurency: 2',
      'warning 5 spec.concurency: there is no such field: did you mean concurrency?',
    ],
    ['concurrency: -1', 'error 5 spec.concurrency: -1 is not a whole number from 0 to 2147483647'],
    [
      'concurrency: 1.5',
      'error 5 spec.concurrency: 1.5 is not a whole number from 0 to 2147483647',
    ],
    [
      'concurrency: two',
      "error 5 spec.concurrency: 'two' is not a whole number from 0 to 2147483647",
    ],
    [
      'concurrency: { value: 2 }',
      'error 5 spec.concurrency: {"value":2} is not a whole number from 0 to 2147483647',
    ],
    ['environmentVariables: [A]', 'error 5 spec.environmentVariables: ["A"] is not an object'],
    ['environmentVariables: { A: 1 }', 'error 5 spec.environmentVariables.A: 1 is not a text'],
    [
      'environmentVariables: { A: true }',
      'error 5 spec.environmentVariables.A: true is not a text',
    ],
    [
      'environmentVariables: { "": a }',
      'error 5 spec.environmentVariables: a variable has no name',
    ],
    [
      'environmentVariables: { A=B: a }',
      "error 5 spec.environmentVariables.A=B: 'A=B' is not a valid name of a variable: Kubernetes refuses a pod with it",
    ],
    [
      'environmentVariables: { 1A: a }',
      "error 5 spec.environmentVariables.1A: '1A' is not a valid name of a variable: Kubernetes refuses a pod with it",
    ],
    [
      `environmentVariables: { A: ${'a'.repeat(2_049)} }`,
      'error 5 spec.environmentVariables.A: it has 2049 characters, and the limit is 2048',
    ],
    [
      'environmentVariables: { A: "a\\0" }',
      'error 5 spec.environmentVariables.A: NUL cannot be in a variable',
    ],
    ['environment: { A: a }', 'warning 5 spec.environment: there is no such field'],
    ['image: distroless', "error 5 spec.image: 'distroless' is not an object"],
    ['image: { type: distroless }', 'warning 5 spec.image.type: there is no such field'],
    ['image: { imageType: 1 }', 'error 5 spec.image.imageType: 1 is not a text'],
    [
      'image: { imageType: a/b }',
      "error 5 spec.image.imageType: 'a/b' cannot be in the tag of an image",
    ],
    ['selector: { app: a }', 'warning 5 spec.selector.app: there is no such field'],
    ['selector: { matchLabels: a }', "error 5 spec.selector.matchLabels: 'a' is not an object"],
    [
      'selector: { matchLabels: { app: "*" } }',
      'error 5 spec.selector.matchLabels.app: a * is not a wildcard here: leave the label out to select all',
    ],
    ['selector: {}', 'warning 5 spec.selector: it has no labels, so it selects all workloads'],
    ['tracing: { sampling: 5 }', 'warning 5 spec.tracing: there is no such field'],
    ['concurrency: 2', noEffect],
  ])('%s', (spec, reason) => {
    expect(flawsOf(spec)).toContain(reason);
  });

  it('is none in what is right, but for the warning that it has no effect', () => {
    const right = `selector: { matchLabels: { app: a } }
concurrency: 0
environmentVariables: { ISTIO_META_A: a, b.c-d: "" }
image: { imageType: distroless }`;
    expect(flawsOf(right)).toEqual([noEffect]);
  });
});
