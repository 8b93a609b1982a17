import { eventually } from '../support/eventually.ts';
import { allowed } from './allowed.ts';
import { askOnce, startClients } from './client.ts';
import { type Change, changesOf, firstState, plan, statuses, type Target } from './plan.ts';
import { drainSeconds, type Stage, startStage } from './stage.ts';

export interface EditsReport {
  /** Requests whose status no edit explains, and other things that should not happen. */
  readonly violations: readonly string[];
  readonly edits: number;
  /** The number of edits that change no answer. */
  readonly neutral: number;
  readonly requests: number;
  /** Requests by status. */
  readonly byStatus: Readonly<Record<string, number>>;
  /** Edits by kind. */
  readonly byKind: Readonly<Record<string, number>>;
  /** The longest time from the write of a file to the first answer that it changes. In ms. */
  readonly slowestEffect: number;
  /** The longest time from the write of a certificate to the first connection with it. In ms. */
  readonly slowestRotation: number;
  readonly seconds: number;
}

interface EditsOptions {
  readonly seed: number;
  readonly edits: number;
  readonly onEdit?: (text: string) => void;
}

/** The number of answers in a row that shows that an edit is in effect. */
const inARow = 5;
/**
 * A connection may still have the state before an edit if it was opened less than this time after
 * the edit was in effect. In ms.
 */
const grace = 500;
/** The time that an edit without an effect gets before the next one. In ms. */
const quiet = 400;
/** The pause between requests of one client. In ms. */
const pause = 25;

/** Edits a folder under load. Each request whose status no edit explains is a violation. */
export async function runEdits({
  seed,
  edits,
  onEdit = () => undefined,
}: EditsOptions): Promise<EditsReport> {
  const stage = await startStage(firstState);
  const begun = performance.now();
  try {
    const targets = [...statuses(firstState).keys()];
    await eventually(() => allAnswer(stage), { within: 90_000 });
    const troubles = stage.watchLogs();
    const explained = allowed(statuses(firstState), () => performance.now());
    const counts = { requests: 0, byStatus: new Map<string, number>(), violations: [] as string[] };
    let now = 'before the first edit';
    const clients = startClients(stage.doorOf, targets, pause, ({ target, status, why, since }) => {
      counts.requests += 1;
      count(counts.byStatus, String(status));
      if (!explained.explains(target, status, since))
        counts.violations.push(`${now}: ${target} had ${String(status)} ${why}`.trim());
    });
    const byKind = new Map<string, number>();
    let state = firstState;
    let [neutral, slowestEffect, slowestRotation] = [0, 0, 0];
    const edit = plan(seed);
    for (let index = 0; index < edits; index++) {
      const { what, after } = edit.next().value;
      const changes = changesOf(state, after);
      now = `edit ${String(index + 1)}, ${what} (${textOf(changes)})`;
      onEdit(now);
      count(byKind, what.split(':')[0] ?? what);
      for (const change of changes) explained.mayBecome(change.target, change.after);
      const written = performance.now();
      stage.write(after);
      if (after.rotated !== state.rotated) {
        const shown = await isShown(stage, await stage.rotate());
        if (shown === undefined) counts.violations.push(`${now}: no connection has it in 60 s`);
        else slowestRotation = Math.max(slowestRotation, shown - written);
      }
      state = after;
      if (changes.length === 0) {
        neutral += 1;
        await new Promise((done) => setTimeout(done, quiet));
      }
      for (const change of changes) {
        const effect = await inEffect(stage, change);
        if (effect === undefined) counts.violations.push(`${now}: no effect in 60 s`);
        else slowestEffect = Math.max(slowestEffect, effect - written);
        const isDrained =
          change.target.includes('echo') || change.after === 403 || change.before === 403;
        explained.has(change.target, change.after, isDrained ? drainSeconds * 1_500 : grace);
      }
    }
    await clients.stop();
    return {
      violations: [...counts.violations, ...troubles()],
      edits,
      neutral,
      requests: counts.requests,
      byStatus: sorted(counts.byStatus),
      byKind: sorted(byKind),
      slowestEffect: Math.round(slowestEffect),
      slowestRotation: Math.round(slowestRotation),
      seconds: Math.round((performance.now() - begun) / 1_000),
    };
  } finally {
    await stage.dispose();
  }
}

const count = (counts: Map<string, number>, name: string) =>
  counts.set(name, (counts.get(name) ?? 0) + 1);

const sorted = (counts: ReadonlyMap<string, number>) =>
  Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));

const textOf = (changes: readonly Change[]): string =>
  changes.length === 0
    ? 'no answer changes'
    : changes
        .map(({ target, before, after }) => `${target} from ${String(before)} to ${String(after)}`)
        .join(', ');

async function ask(stage: Stage, target: Target): Promise<number> {
  const [, host = ''] = target.split(' ');
  return (await askOnce(stage.doorOf(target), host, false)).status;
}

async function allAnswer(stage: Stage): Promise<boolean> {
  const answers = [...statuses(firstState)].map(
    async ([target, status]) => (await ask(stage, target)) === status,
  );
  return (await Promise.all(answers)).every((isRight) => isRight);
}

/**
 * Resolves to the time of the first answer with the status after an edit, when several in a row
 * have it.
 */
const inEffect = (stage: Stage, { target, after }: Change): Promise<number | undefined> =>
  firstInARow(async () => (await ask(stage, target)) === after);

/** Resolves to the time of the first new connection with a certificate, when several have it. */
const isShown = (stage: Stage, serial: string): Promise<number | undefined> =>
  firstInARow(async () => {
    const host = 'steady.example.com';
    return (await askOnce(stage.doorOf(`HTTPS ${host}`), host, false)).certificate === serial;
  });

/** Resolves to the time of the first of several answers in a row; undefined after a minute. */
async function firstInARow(isAnswered: () => Promise<boolean>): Promise<number | undefined> {
  const end = performance.now() + 60_000;
  let [row, first] = [0, 0];
  while (performance.now() < end) {
    const isAfter = await isAnswered();
    if (isAfter && row === 0) first = performance.now();
    row = isAfter ? row + 1 : 0;
    if (row === inARow) return first;
    await new Promise((done) => setTimeout(done, 10));
  }
  return undefined;
}
