import { apps, type App, type Side } from './apps.ts';
import type { MoveStage } from './move-stage.ts';
import { rootMapOf } from './pods.ts';
import type { Step } from './step.ts';

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
const [shop, bank, depot] = apps;

/** Returns one control plane for all apps, except some. */
const allAt = (side: Side, others: Readonly<Record<string, Side>> = {}): Step['then'] => ({
  ...Object.fromEntries(apps.map(({ name }) => [name, side])),
  ...others,
});

/** Resolves to the versions of the ConfigMaps with the roots. Both control planes write them. */
const mapVersions = async ({ kube }: MoveStage): Promise<string> => {
  const maps = await Promise.all(apps.map(({ namespace }) => rootMapOf(kube, namespace)));
  return maps.map((map) => map?.metadata.resourceVersion).join();
};

/** The time for which both run side by side, in ms. */
const together = 15_000;

const roll =
  (app: App, service: Side): Step['run'] =>
  async (stage) => {
    await stage.roll(app, service);
    return '';
  };

/** The steps from istiod to `pilot-discovery` and back. */
export const moves: readonly Step[] = [
  {
    name: '`pilot-discovery` starts beside istiod',
    async run(stage) {
      const before = await mapVersions(stage);
      await stage.start('pilot-discovery');
      await stage.lead('pilot-discovery', 'pilot-discovery');
      await pause(together);
      if ((await mapVersions(stage)) !== before) throw new Error('a ConfigMap was written');
      return 'no ConfigMap `istio-ca-root-cert` was written again';
    },
    then: allAt('istiod'),
  },
  {
    name: `${shop.namespace} moves: a new pod of our agent looks for \`pilot-discovery\``,
    run: roll(shop, 'pilot-discovery'),
    then: allAt('istiod', { web: 'pilot-discovery' }),
  },
  {
    name: `${bank.namespace} moves: a new pod of Istio's agent`,
    run: roll(bank, 'pilot-discovery'),
    then: allAt('pilot-discovery', { stock: 'istiod' }),
  },
  {
    name: `${depot.namespace} moves: a new pod of our agent`,
    run: roll(depot, 'pilot-discovery'),
    then: allAt('pilot-discovery'),
  },
  {
    name: 'istiod is stopped for 90 s, in which all certificates are renewed',
    async run(stage) {
      await stage.stop('istiod');
      const begun = issued(stage);
      await pause(90_000);
      const renewed = issued(stage) - begun;
      if (renewed < apps.length) throw new Error(`only ${renewed} certificates were issued`);
      return `${renewed} certificates were issued`;
    },
    then: allAt('pilot-discovery'),
  },
  {
    name: `istiod starts again, and ${depot.namespace} moves back`,
    async run(stage) {
      await stage.start('istiod');
      await stage.roll(depot, 'istiod');
      return '';
    },
    then: allAt('pilot-discovery', { stock: 'istiod' }),
  },
  {
    name: `${bank.namespace} moves back`,
    run: roll(bank, 'istiod'),
    then: allAt('istiod', { web: 'pilot-discovery' }),
  },
  {
    name: `${shop.namespace} moves back, and \`pilot-discovery\` is stopped`,
    async run(stage) {
      await stage.roll(shop, 'istiod');
      await stage.stop('pilot-discovery');
      return '';
    },
    then: allAt('istiod'),
  },
  {
    name: 'the Service `istiod` selects `pilot-discovery`: all pods stay, and connect again',
    async run(stage) {
      await stage.start('pilot-discovery');
      await stage.lead('istiod', 'pilot-discovery');
      return '';
    },
    then: allAt('pilot-discovery'),
  },
  {
    name: 'the Service `istiod` selects istiod again',
    async run(stage) {
      await stage.lead('istiod', 'istiod');
      return '';
    },
    then: allAt('istiod'),
  },
];

const issued = ({ lines }: MoveStage) => lines('discovery.certificate_issued').length;
