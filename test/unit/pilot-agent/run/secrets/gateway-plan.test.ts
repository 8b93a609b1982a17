import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gatewayPlan } from '../../../../../src/pilot-agent/run/secrets/gateway-plan.ts';
import { resolved } from '../../../../support/resolved.ts';

const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-ingress-'));
const plan = (
  env: NodeJS.ProcessEnv,
  role: 'router' | 'sidecar' = 'router',
  configPath = folder,
) => {
  const result = resolved({ env });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return gatewayPlan({ ...result.config, role }, configPath);
};
const sds = join(folder, 'sds');

describe('where the secrets of a gateway come from', () => {
  it.each([
    [
      'a folder that is named',
      { GATEWAY_SECRETS: '/secrets' },
      { source: { kind: 'folder', path: '/secrets' }, link: sds },
    ],
    [
      'the namespace of the pod',
      { GATEWAY_SECRETS: 'kubernetes://', POD_NAMESPACE: 'ns', KUBECONFIG: '/k' },
      { source: { kind: 'api', namespace: 'ns', kubeconfig: '/k' } },
    ],
    [
      'another namespace',
      { GATEWAY_SECRETS: 'kubernetes://other', POD_NAMESPACE: 'ns' },
      { source: { kind: 'api', namespace: 'other', kubeconfig: '' } },
    ],
    [
      'for the folder of an ingress gateway, the namespace of the pod',
      { POD_NAMESPACE: 'ns' },
      { source: { kind: 'api', namespace: 'ns' }, link: sds },
    ],
    [
      'no namespace, which is a warning',
      {},
      {
        source: { kind: 'none' },
        warnings: [expect.stringContaining('set POD_NAMESPACE') as string],
      },
    ],
  ])('%s', (_, env, expected) => {
    expect(plan(env)).toMatchObject(expected);
  });

  it('a sidecar, and a router without that folder, look for none that nobody has named', () => {
    expect(plan({ POD_NAMESPACE: 'ns' }, 'sidecar')).toEqual({
      source: { kind: 'none' },
      link: undefined,
      warnings: [],
    });
    rmSync(folder, { recursive: true });
    expect(plan({ POD_NAMESPACE: 'ns' })).toEqual({
      source: { kind: 'none' },
      link: undefined,
      warnings: [],
    });
  });
});
