import { eventually } from '../support/eventually.ts';
import { type Name, names, type SpireStage } from './spire-stage.ts';

/** A fault of SPIRE, with its end. */
export interface Fault {
  readonly name: string;
  /**
   * The pattern of a line that the logs must have, as `EVENT: REASON`; undefined if none is
   * required.
   */
  readonly named: RegExp | undefined;
  /**
   * Runs the fault. Resolves when all is well again, to a note for the report; '' if there is none.
   */
  readonly run: (stage: SpireStage) => Promise<string>;
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Returns how many secrets of a name the Envoy of an agent has ACKed. */
const acked = ({ agents }: SpireStage, name: Name, secret: string): number =>
  agents[name].log().filter((line) => line.event === 'secret.accepted' && line['secret'] === secret)
    .length;

/** Resolves when each Envoy has ACKed this many more secrets of a name. */
async function moreOf(stage: SpireStage, secret: string, count: number): Promise<void> {
  const begun = names.map((name) => acked(stage, name, secret));
  const have = () =>
    names.every((name, index) => acked(stage, name, secret) >= (begun[index] ?? 0) + count);
  await eventually(have, { within: 120_000, every: 200 });
}

export const faults: readonly Fault[] = [
  {
    name: '90 s of rotations',
    named: undefined,
    async run(stage) {
      const count = () => names.map((name) => acked(stage, name, 'default'));
      const before = count();
      await pause(90_000);
      const counts = count().map((after, index) => after - (before[index] ?? 0));
      if (counts.some((rotations) => rotations < 2)) throw new Error(`rotations: ${counts.join()}`);
      const lives = names.map(
        (name) => stage.agents[name].log().filter(({ event }) => event === 'epoch.live').length,
      );
      return `${counts.join(' and ')} rotations; ${lives.join(' and ')} epoch`;
    },
  },
  {
    name: "SPIRE's agent is killed (SIGKILL), and starts 12 s later",
    named: /^secret\.refused: workload socket \S+: .*connection refused/,
    async run(stage) {
      await stage.spire.kill('agent');
      await pause(12_000);
      const given = moreOf(stage, 'default', 1);
      await stage.spire.startAgent();
      await given;
      return '';
    },
  },
  {
    name: "SPIRE's server is killed, and starts 12 s later",
    named: undefined,
    async run({ spire, ...stage }) {
      await spire.kill('server');
      await pause(12_000);
      await spire.startServer();
      await moreOf({ spire, ...stage }, 'default', 1);
      return '';
    },
  },
  {
    name: 'the entry of `echo` is deleted, and created again 4 s later',
    named: /^secret\.refused: .*workload is not authorized/,
    async run(stage) {
      const { spire, entries, entryOf, agents } = stage;
      const refused = () =>
        agents.echo.log().filter(({ event }) => event === 'secret.refused').length;
      const before = refused();
      spire.forget(entries.get('echo') ?? '');
      await eventually(() => refused() > before, { within: 20_000 });
      await pause(4_000);
      const begun = acked(stage, 'echo', 'default');
      entries.set('echo', spire.register(entryOf('echo')));
      await eventually(() => acked(stage, 'echo', 'default') > begun, { within: 60_000 });
      return '';
    },
  },
  {
    name: "the bundle changes: a new root is prepared, signs, and SPIRE's old root is removed",
    named: undefined,
    async run(stage) {
      await stage.spire.replaceAuthority(async (what) => {
        stage.spire.writeRoots();
        // A new root arrives before its certificates. Then both sides need certificates of the new
        // root.
        if (what === 'prepared') await pause(8_000);
        if (what === 'active') await moreOf(stage, 'default', 2);
        if (what !== 'prepared') await pause(8_000);
      });
      const roots = names.map((name) => acked(stage, name, 'ROOTCA'));
      return `each Envoy has ACKed roots ${roots.join(' and ')} times`;
    },
  },
  {
    name: 'the control plane starts again: both agents connect with their SVIDs',
    named: undefined,
    async run(stage) {
      await stage.restartDiscovery();
      return '';
    },
  },
  {
    name: 'both agents hot-restart, and certificates are renewed meanwhile',
    named: undefined,
    async run(stage) {
      const { rig, agents } = stage;
      const given = moreOf(stage, 'default', 5); // both epochs get each of them
      for (const name of names) {
        const { status } = rig.ports[name];
        await fetch(`http://127.0.0.1:${status}/restart`, { method: 'POST' });
      }
      for (const name of names)
        await eventually(
          () => agents[name].log().filter(({ event }) => event === 'epoch.live').length > 1,
          { within: 60_000 },
        );
      await given;
      return '';
    },
  },
];
