import { replace, untilAge } from './ca-stage.ts';
import { hasOtherTimes } from './control-planes.ts';
import { pause } from './outage.ts';
import { type CaOutage, renewed } from './run-ca-outage.ts';

/** A part of the life of a certificate of 60 s; it is renewed after 30 s. In ms. */
interface Part {
  readonly name: string;
  /** The age of the older certificate at which the fault begins. */
  readonly begin: number;
  /** The duration of the fault. */
  readonly lasts: number;
}

const parts: readonly Part[] = [
  { name: 'at the start of the life of certificates', begin: 1_000, lasts: 15_000 },
  { name: 'in the middle, as they are renewed', begin: 25_000, lasts: 15_000 },
  { name: 'until shortly before they expire', begin: 28_000, lasts: 20_000 },
];

const unreachable = /ECONNREFUSED|ECONNRESET|socket hang up|disconnected/;
const refusedCallers = /^pilot_refused_callers\{status="UNAVAILABLE"\}/;

const apiAway: readonly CaOutage[] = [
  {
    name: 'CA: the API is away when the control plane starts',
    named: { '/ready': unreachable, log: unreachable, metric: /pilot_source_up/ },
    async run(stage, over) {
      await stage.instance().kill();
      await stage.kube.stop();
      await stage.sendTo(await stage.start());
      await pause(15_000);
      await stage.kube.start();
      over();
    },
  },
  ...parts.map(({ name, begin, lasts }, index): CaOutage => ({
    name: `CA: the API is killed ${name}`,
    named: {
      ...{ '/ready': unreachable, log: unreachable, metric: /pilot_source_up/ },
      ...(index > 0 && { agent: /cannot be authenticated now/ }),
    },
    async run(stage, over) {
      await untilAge(stage, begin);
      await stage.kube.stop();
      await pause(lasts);
      await stage.kube.start();
      over();
    },
  })),
];

const noReview = {
  log: /caller_refused: .*tokenreviews: 403/,
  metric: refusedCallers,
  agent: /cannot be authenticated now/,
};

const reviewAway: readonly CaOutage[] = [
  {
    name: 'CA: TokenReview is not allowed when the control plane starts',
    named: noReview,
    async run(stage, over) {
      await stage.allow('tokenreviews');
      const before = stage.instance();
      await untilAge(stage, 20_000);
      await before.kill();
      await stage.sendTo(await stage.start());
      await pause(15_000);
      await stage.allow();
      over();
    },
  },
  ...parts.slice(1).map(({ name, begin, lasts }): CaOutage => ({
    name: `CA: TokenReview is not allowed ${name}`,
    named: noReview,
    async run(stage, over) {
      await replace(stage, {}); // the new one has no earlier refusal in its log
      await untilAge(stage, begin);
      await stage.allow('tokenreviews');
      await pause(lasts);
      await stage.allow();
      over();
    },
  })),
];

/**
 * The settings of an agent for a wrong clock. A certificate lasts 20 min, and half of that is over
 * at once. The agent requests the next one after 36 s.
 */
const long = { SECRET_TTL: '20m', SECRET_GRACE_PERIOD_RATIO: '0.97' };

const clocks: readonly CaOutage[] = (hasOtherTimes ? (['+10m', '-10m'] as const) : []).map(
  (clock) => ({
    name: `CA: the clock of the control plane is wrong: ${clock}`,
    named: {},
    async run(stage, over) {
      for (const { app } of stage.pods()) await stage.roll(app, 'pilot-discovery', long);
      await replace(stage, { clock });
      await renewed(stage);
      await renewed(stage);
      await replace(stage, {});
      over();
    },
  }),
);

/** Faults of the API and of the clock. */
export const caOutages: readonly CaOutage[] = [...apiAway, ...reviewAway, ...clocks];
