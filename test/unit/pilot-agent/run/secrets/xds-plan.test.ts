import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { environment } from '../../../../../src/pilot-agent/config/environment.ts';
import type { GivenFlags } from '../../../../../src/pilot-agent/config/flag-layer.ts';
import { resolveConfig } from '../../../../../src/pilot-agent/config/resolve-config.ts';
import { secretsPlan } from '../../../../../src/pilot-agent/run/secrets/secrets-plan.ts';
import { reloadedTarget, xdsPlan } from '../../../../../src/pilot-agent/run/secrets/xds-plan.ts';

const before = process.cwd();
let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'xds-plan-')));
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true });
});

const put = (path: string, text = 'x') => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
  return join(folder, path);
};
const token = () => put('var/run/secrets/tokens/istio-token');
const config = (flags: GivenFlags, env: NodeJS.ProcessEnv = {}) => {
  const layers = {
    mesh: undefined,
    proxyConfig: undefined,
    annotation: undefined,
    annotations: {},
    warnings: [],
  };
  const given = { configPath: folder, ...flags };
  const resolved = resolveConfig({
    given,
    leftover: [],
    surroundings: environment(env),
    addresses: [],
    layers,
  });
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.problems));
  return resolved.config;
};
const plan = (flags: GivenFlags = {}, env: NodeJS.ProcessEnv = {}) => {
  const agent = config(flags, env);
  return xdsPlan(agent, secretsPlan(agent));
};

describe('xdsPlan', () => {
  it('has the agent hold the connection wherever the bootstrap is generated', () => {
    expect(plan()).toMatchObject({
      socket: join(folder, 'XDS'),
      store: join(folder, 'xds-store'),
      maxAge: 24 * 3_600_000,
    });
    expect(plan({ xdsProxy: 'false' })).toBeUndefined();
  });

  it('does so for a configuration of the user’s that names the socket', () => {
    expect(plan({ customConfigFile: put('a.json', `{"path":"${folder}/XDS"}`) })).toBeDefined();
    expect(plan({ customConfigFile: put('b.json', '{"path":"/another/XDS"}') })).toBeUndefined();
    expect(
      plan({ customConfigFile: put('c.json', `{"path":"${folder}/XDS"}`), xdsProxy: 'false' }),
    ).toBeUndefined();
    expect(plan({ customConfigFile: join(folder, 'missing.json') })).toBeUndefined();
    expect(plan({ templateFile: put('d.json', `{"path":"${folder}/XDS"}`) })).toBeDefined();
    expect(plan({ templateFile: put('e.json', '{}') })).toBeUndefined();
  });

  it('shows the control plane the token if there is one, otherwise the certificate, and nothing in plain text', () => {
    const mutual = { controlPlaneAuthPolicy: 'MUTUAL_TLS' };
    expect(plan({ controlPlaneAuthPolicy: 'NONE' })?.target.tls).toBeUndefined();
    expect(plan(mutual)?.target.tls).toMatchObject({
      token: undefined,
      pair: { chain: expect.stringContaining('cert-chain.pem') as string },
    });
    token();
    expect(plan(mutual)?.target.tls).toMatchObject({
      pair: undefined,
      token: expect.stringContaining('istio-token') as string,
    });
    const both = {
      pair: { chain: '/prov/cert-chain.pem' },
      token: expect.stringContaining('istio-token') as string,
    };
    expect(plan(mutual, { PROV_CERT: '/prov' })?.target.tls).toMatchObject(both);
    expect(plan(mutual, { FILE_MOUNTED_CERTS: 'true' })?.target.tls).toMatchObject({
      token: undefined,
    });
  });

  it('names the control plane, the names that it has to prove, and the cluster', () => {
    const planned = plan(
      { discoveryAddress: 'istiod.istio-system.svc:15012', controlPlaneAuthPolicy: 'MUTUAL_TLS' },
      { ISTIO_META_CLUSTER_ID: 'c1' },
    );
    expect(planned?.target).toMatchObject({
      address: 'istiod.istio-system.svc:15012',
      clusterId: 'c1',
    });
    expect(planned?.target.tls?.names).toContain('DNS:istiod.istio-system.svc');
  });

  it('trusts the same roots after a reload, also if the workload socket has been removed since', async () => {
    const socket = 'var/run/secrets/workload-spiffe-uds/socket';
    const root = put('var/run/secrets/istio/root-cert.pem');
    mkdirSync(dirname(socket), { recursive: true });
    const server = createServer().listen(socket);
    await once(server, 'listening');
    const agent = config({ controlPlaneAuthPolicy: 'MUTUAL_TLS' });
    const start = secretsPlan(agent);
    server.close(); // this removes the socket
    await once(server, 'close');
    expect(reloadedTarget(agent, start)).toEqual(xdsPlan(agent, start)?.target);
    expect(reloadedTarget(agent, start)?.tls?.roots).toBe(root);
    expect(xdsPlan(agent, secretsPlan(agent))?.target.tls?.roots).not.toBe(root);
  });
});
