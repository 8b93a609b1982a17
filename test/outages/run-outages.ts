import { askOnce, startClients } from '../edits/client.ts';
import type { Target } from '../edits/plan.ts';
import type { Stage } from '../edits/stage.ts';
import { eventually } from '../support/eventually.ts';
import { type Instance, lossesIn } from './control-planes.ts';
import type { Outage, OutageReport } from './outage.ts';

/** A mesh in which one target shows the state of the registry. */
export interface MarkedMesh {
  readonly stage: Stage;
  /** The targets of all clients. They answer with 200, whatever happens to the registry. */
  readonly steady: readonly Target[];
  /** The target that has the status of the mark in the registry. */
  readonly markedTarget: Target;
  /** The control plane to which proxies are connected. */
  readonly instance: () => Instance;
  readonly mark: (mark: Mark) => Promise<void>;
}

/** The pauses between requests of one client, and between requests to the control plane. In ms. */
const [pauseOfClient, pauseOfWatch] = [50, 250];
/** The longest time that a fault may take to heal. In ms. */
const longest = 180_000;

/** A change of the registry, by the status that it gives to a target. */
export type Mark = 418 | 429;
export const [before, after]: readonly [Mark, Mark] = [418, 429];

async function statusOf({ stage }: MarkedMesh, target: Target): Promise<number> {
  const [, host = ''] = target.split(' ');
  return (await askOnce(stage.doorOf(target), host, false)).status;
}

/** Resolves when clients get the status of a mark five times in a row. */
export async function inEffect(mesh: MarkedMesh, mark: Mark): Promise<void> {
  let row = 0;
  const isMarked = async () => {
    row = (await statusOf(mesh, mesh.markedTarget)) === mark ? row + 1 : 0;
    return row === 5;
  };
  await eventually(isMarked, { within: longest });
}

/** Watches the faults that a mesh reports, until it is stopped. */
function startWatch(mesh: MarkedMesh) {
  const begun = mesh.instance().lines.length;
  const first = mesh.instance();
  const [ready, down] = [new Set<string>(), new Set<'down'>()];
  const stopping = new AbortController();
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      const condition = await mesh.instance().said();
      if (condition.ready !== '' && condition.isReady) ready.add(condition.ready);
      if (!condition.isUp) down.add('down');
      await new Promise((done) => setTimeout(done, pauseOfWatch));
    }
  })();
  return async () => {
    stopping.abort();
    await loop;
    const losses = lossesIn(mesh.instance() === first ? first.lines.slice(begun) : []);
    return { ready: [...ready], losses, isDown: down.size > 0 };
  };
}

const shownReason = (reason: string): string =>
  reason.replaceAll(/https?:\/\/127\.0\.0\.1:\d+\S*:? ?/g, '').slice(0, 120);

/** Runs one fault under load. */
export async function runOutage<W extends MarkedMesh>(
  mesh: W,
  { name, named, run }: Outage<W>,
): Promise<OutageReport> {
  await mesh.mark(before);
  await inEffect(mesh, before);
  for (const target of mesh.steady)
    await eventually(async () => (await statusOf(mesh, target)) === 200, { within: longest });
  const counts = { requests: 0, failures: [] as string[] };
  const clients = startClients(mesh.stage.doorOf, mesh.steady, pauseOfClient, (answered) => {
    counts.requests += 1;
    if (answered.status !== 200)
      counts.failures.push(`${answered.target} had ${answered.status} ${answered.why}`.trim());
  });
  const watch = startWatch(mesh);
  let ended = 0;
  try {
    await run(mesh, () => (ended = performance.now()));
    await mesh.mark(after);
    await inEffect(mesh, after);
    await eventually(
      async () => {
        const { ready, isUp, isReady } = await mesh.instance().said();
        return isReady && isUp && ready === '';
      },
      { within: longest },
    );
  } finally {
    await clients.stop();
  }
  const seconds = (performance.now() - ended) / 1_000;
  const observed = await watch();
  const reason = [...observed.losses, ...observed.ready].find(
    (text) => typeof named === 'string' || named.test(text),
  );
  return {
    name,
    requests: counts.requests,
    failed: counts.failures.length,
    named: reason === undefined ? '' : shownReason(reason),
    seconds: Math.round(seconds * 10) / 10,
    violations: [...counts.failures.slice(0, 5), ...unnamed(named, observed)].map(
      (text) => `${name}: ${text}`,
    ),
  };
}

interface Seen {
  readonly ready: readonly string[];
  readonly losses: readonly string[];
  readonly isDown: boolean;
}

/** Returns the places that do not name a fault, or that name one if nothing is wrong. */
function unnamed(
  named: Outage<unknown>['named'],
  { ready, losses, isDown }: Seen,
): readonly string[] {
  const lists = { '/ready': ready, 'the log': losses };
  if (named === 'maybe') return [];
  if (named === 'nothing')
    return Object.entries(lists).flatMap(([where, texts]) =>
      texts.map((text) => `${where} has ${text}`),
    );
  return [
    ...Object.entries(lists)
      .filter(([, texts]) => !texts.some((text) => named.test(text)))
      .map(
        ([where, texts]) => `${where} does not name it, but has ${texts.join('; ') || 'nothing'}`,
      ),
    ...(isDown ? [] : ['no metric names it']),
  ];
}
