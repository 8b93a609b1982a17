import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Target } from './control-plane.ts';
import { rows } from './rows.ts';

/** An attacker in a process of its own, so that its work costs the healthy proxy no time. */
export interface Attacker {
  /** Begins the attack of a row, and resolves while it continues. The returned function ends it. */
  attack(row: string, target: Target): Promise<() => Promise<void>>;
  dispose(): Promise<void>;
}

interface Order {
  readonly row: string;
  readonly target: Target;
}

export async function startAttacker(): Promise<Attacker> {
  const child = fork(import.meta.filename, {
    execArgv: ['--import', 'tsx'],
    serialization: 'json',
  });
  const awaitWord = async (word: string): Promise<void> => {
    const [message] = (await once(child, 'message')) as [unknown];
    if (message !== word)
      throw new Error(`the attacker says ${JSON.stringify(message)}, not ${word}`);
  };
  await awaitWord('ready');
  return {
    async attack(row, target) {
      child.send({ row, target } satisfies Order);
      await awaitWord('begun');
      return async () => {
        child.send('end');
        await awaitWord('over');
      };
    },
    async dispose() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

if (process.argv[1] === import.meta.filename && process.send !== undefined) {
  const ends: (() => void)[] = [];
  const carryOut = async (order: Order | 'end'): Promise<string> => {
    if (order === 'end') {
      for (const end of ends.splice(0)) end();
      return 'over';
    }
    const row = rows.find(({ name }) => name === order.row);
    if (row === undefined) return `there is no row ${order.row}`;
    ends.push(await row.attack(order.target));
    return 'begun';
  };
  process.on('message', (order: Order | 'end') => {
    carryOut(order).then(
      (word) => process.send?.(word),
      (error: unknown) => process.send?.(String(error)),
    );
  });
  process.on('disconnect', () => process.exit());
  process.send('ready');
}
