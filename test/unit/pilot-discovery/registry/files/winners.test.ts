import { expect, it } from 'vitest';
import type { FileContent } from '../../../../../src/pilot-discovery/registry/files/file-content.ts';
import { noWinners, withFiles } from '../../../../../src/pilot-discovery/registry/files/winners.ts';
import { anyResource, virtualService } from '../../../../support/mesh-resources.ts';

it('a file that has a resource 60,000 times is looked at in a moment', () => {
  const resource = anyResource('VirtualService/a/one', virtualService({}));
  const after: FileContent = {
    path: 'many.yaml',
    digest: 'x',
    documents: new Map(),
    resources: Array.from({ length: 60_000 }, () => resource),
    flaws: [],
    closing: [],
    kept: new Map(),
  };
  const before = process.cpuUsage();
  const { resources, flaws } = withFiles(noWinners, [{ before: undefined, after }]);
  // 0.2 s, and 8 s if each resource copied those before it.
  expect(process.cpuUsage(before).user / 1e6).toBeLessThan(2);
  expect([...resources.values()]).toEqual([resource]);
  expect([...flaws.values()].flat()).toHaveLength(59_999);
});
