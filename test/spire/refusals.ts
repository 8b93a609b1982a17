import { askSecurely } from '../support/secure-client.ts';
import { uri, workloadAuthority, type WorkloadPair } from '../support/workload-authority.ts';
import { trustDomain } from './spire.ts';
import { identityOf, ownSvid, type SpireStage } from './spire-stage.ts';

/** An attempt to get the configuration of `client`, and its result. */
export interface Refusal {
  readonly name: string;
  readonly status: string;
  /** The line in the log of the control plane. */
  readonly line: string;
}

const mine = 'client';
const node = {
  id: 'sidecar~127.0.0.20~client-0.shop~shop.svc.cluster.local',
  metadata: { NAMESPACE: 'shop', SERVICE_ACCOUNT: mine },
};

/** Requests the configuration of `client` with SVIDs of others. */
export async function refusals(stage: SpireStage): Promise<readonly Refusal[]> {
  const thief = `spiffe://${trustDomain}/ns/bank/sa/thief`;
  stage.spire.register({ id: thief, user: process.getuid?.() ?? 0, lifetime: 300 });
  const other = await workloadAuthority('another root');
  return [
    await attempt(stage, `SPIRE's SVID of ${thief}`, await ownSvid(stage)),
    await attempt(
      stage,
      `an SVID of ${identityOf(mine)}, signed by another root`,
      await other.issue({ names: [uri(identityOf(mine))] }),
    ),
  ];
}

async function attempt(
  { secure, root, discovery }: SpireStage,
  name: string,
  pair: WorkloadPair,
): Promise<Refusal> {
  const { lines } = discovery();
  const begun = lines.length;
  const { status } = await askSecurely({ port: secure, root, pair, nodes: [node] });
  await new Promise((done) => setTimeout(done, 1_000));
  const line = lines
    .slice(begun)
    .find(({ level, event }) => level === 'warn' && event !== undefined);
  const reason = line?.['reason'];
  return {
    name,
    status,
    line: `${line?.event ?? ''}: ${typeof reason === 'string' ? reason : ''}`,
  };
}
