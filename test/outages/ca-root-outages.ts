import type { CaStage, Launch } from './ca-stage.ts';
import type { CaOutage } from './run-ca-outage.ts';

/** The places in which two control planes make their root. */
export const places = {
  'one file': { SELF_SIGNED_CA_FILE: './state/root.pem' },
  'a Secret': {},
} as const satisfies Readonly<Record<string, Launch['env']>>;

/** Returns the fingerprints of the keys with which control planes sign. */
const keysOf = (stage: CaStage): readonly unknown[] =>
  stage.instances().map((each) => each.lines('discovery.authority_ready').at(-1)?.['hash']);

/**
 * Returns an outage of one of two control planes that started at once. The pods have certificates
 * of the first one.
 */
export const twoRoots = (place: keyof typeof places): CaOutage => ({
  name: `CA: two start at once and make one root in ${place}; one is killed, its agents go to the other`,
  named: {},
  async run(stage, over) {
    const [key, other] = keysOf(stage);
    if (key === undefined || key !== other)
      throw new Error(`they have the keys ${String(key)} and ${String(other)}`);
    const [first, second] = stage.instances();
    if (first === undefined || second === undefined) throw new Error('there are no two');
    await first.kill();
    await stage.sendTo(second);
    over();
  },
});
