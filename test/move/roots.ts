import { connect } from 'node:tls';
import type { AuthorityParts } from '../../src/pilot-discovery/ca/signing-authority.ts';
import { eventually } from '../support/eventually.ts';
import { pluggedAuthority, testIssuer } from '../support/plugged-authority.ts';
import { apps } from './apps.ts';
import type { MoveStage } from './move-stage.ts';
import type { MovedPod } from './pods.ts';
import type { Step } from './step.ts';

const nameOfNext = 'CN=next intermediate';

const then: Step['then'] = Object.fromEntries(apps.map(({ name }) => [name, 'pilot-discovery']));

/** Resolves when each app has got this many certificates from now on, and its Envoy has them. */
async function renewed({ lines }: MoveStage, count: number): Promise<void> {
  const issued = () => lines('discovery.certificate_issued').map((line) => line['identity']);
  const begun = issued().length;
  await eventually(
    () => {
      const identities = issued().slice(begun);
      return apps.every(
        ({ name }) =>
          identities.filter((identity) => String(identity).endsWith(`/sa/${name}`)).length >= count,
      );
    },
    { within: 180_000, every: 200 },
  );
  await new Promise((done) => setTimeout(done, 1_000));
}

/** Restarts the Envoys of our agents. Resolves when those before them have ended. */
async function restarted(stage: MoveStage): Promise<void> {
  const ours = stage.pods().filter(({ app }) => app.agentOf === undefined);
  await Promise.all(
    ours.map(async ({ sidecar }) => {
      const ended = () => sidecar.agent.log().filter(({ event }) => event === 'epoch.ended').length;
      const begun = ended();
      const { status } = await sidecar.restart();
      if (status !== 200) throw new Error(`${sidecar.name} refuses to restart: ${status}`);
      await eventually(() => ended() > begun, { within: 120_000 });
    }),
  );
}

/** Returns steps in which the root changes while Envoys restart and certificates are renewed. */
export function roots(first: AuthorityParts): readonly Step[] {
  const next = testIssuer({ subject: 'CN=next root' });
  const plugged = async (stage: MoveStage, parts: AuthorityParts, count: number) => {
    const ready = () => stage.lines('discovery.authority_ready').length;
    const begun = ready();
    await stage.plug(parts);
    await eventually(() => ready() > begun);
    await renewed(stage, count);
  };
  const second = next.then((root) => pluggedAuthority({ subject: nameOfNext }, root));
  return [
    {
      name: 'each certificate is renewed, and both sidecars with our agent hot-restart',
      async run(stage) {
        await Promise.all([renewed(stage, 1), restarted(stage)]);
        return '';
      },
      then,
    },
    {
      name: '`root-cert.pem` gets the new root too; a hot restart',
      async run(stage) {
        const parts = { ...first, roots: first.roots + (await next).certificate };
        await Promise.all([plugged(stage, parts, 2), restarted(stage)]);
        return '';
      },
      then,
    },
    {
      name: 'the new root signs; a hot restart',
      async run(stage) {
        const parts = await second;
        const both = { ...parts, roots: parts.roots + first.roots };
        await Promise.all([plugged(stage, both, 2), restarted(stage)]);
        return '';
      },
      then,
    },
    {
      name: 'the old root is removed; a hot restart',
      async run(stage) {
        await Promise.all([plugged(stage, await second, 2), restarted(stage)]);
        const issuers = await Promise.all(stage.pods().map(issuerOf));
        if (issuers.some((issuer) => issuer !== nameOfNext)) throw new Error(issuers.join());
        return 'each pod shows a certificate of the new authority';
      },
      then,
    },
  ];
}

/** Resolves to the issuer of the certificate that a pod shows; rejects if it shows none. */
function issuerOf({ stranger }: MovedPod): Promise<string | undefined> {
  return new Promise((done, fail) => {
    const socket = connect({ path: stranger, rejectUnauthorized: false, ALPNProtocols: ['istio'] });
    socket
      .on('secureConnect', () => {
        done(socket.getPeerX509Certificate()?.issuer);
        socket.destroy();
      })
      .on('error', fail);
  });
}
