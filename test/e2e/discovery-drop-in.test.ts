import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeKubernetesVolume } from '../../demo/certificates.ts';
import { ask } from '../support/ask.ts';
import { hostOf, identity, istiodPlace, strict } from '../support/e2e/istiod-place.ts';
import { kubeProgram } from '../support/e2e/kube-server.ts';
import { hasNetworks } from '../support/e2e/network.ts';
import { ports } from '../support/e2e/sidecar-pod.ts';
import { leftOut } from '../support/left-out.ts';
import { pluggedAuthority } from '../support/plugged-authority.ts';

const isPossible = kubeProgram !== undefined && hasNetworks;
if (kubeProgram === undefined) leftOut('the place of istiod, taken', 'a program');
else if (!hasNetworks) leftOut('the place of istiod, taken in networks of their own');

describe.skipIf(!isPossible)('pilot-discovery in the place of istiod', () => {
  const place = istiodPlace(async (folder) => {
    const authority = await pluggedAuthority();
    writeKubernetesVolume(join(folder, 'etc/cacerts'), {
      'ca-cert.pem': authority.certificate,
      'ca-key.pem': authority.key.toString(),
      'cert-chain.pem': authority.chain,
      'root-cert.pem': authority.roots,
    });
  });

  it('gives two sidecars, by their tokens, certificates for STRICT mTLS and configuration', async () => {
    const { kube, network, program, sidecar, issued } = place();
    await kube.apply(strict);
    const [server, client] = await Promise.all([sidecar('server'), sidecar('client')]);
    const host = hostOf('server');
    const application = await client.connection(server);
    await expect.poll(() => ask(application, '/', { host })).toMatchObject({ status: 200 });
    const { body } = await ask(application, '/', { host });
    expect(body).toContain(`By=${identity('server')};`);
    expect(body).toContain(`URI=${identity('client')}"`);
    const stranger = join(network.folder, 'stranger');
    await network.outside.relay([[stranger, `${server.address}:${ports.application}`]]);
    expect(await ask(stranger, '/', { host })).toMatchObject({ status: 0 });
    expect(issued()).toEqual(new Set(['server', 'client'].map(identity)));
    expect(program.lines('discovery.caller_refused')).toEqual([]);
    expect(program.lines('discovery.rejected')).toEqual([]);
  });
});
