import { allAnswer, calls, setRule } from '../move/run-step.ts';
import { eventually } from '../support/eventually.ts';
import { agesOf, type CaStage, conditionOf, lastOf } from './ca-stage.ts';
import { type OutageReport, pause } from './outage.ts';

/** The place in which a fault is named. */
export type Voice = '/ready' | 'log' | 'metric' | 'agent';

type Undo = () => Promise<void>;

/** A fault of the world around the certificate authority, with its end. */
export interface CaOutage {
  readonly name: string;
  /**
   * The texts that must be reported, by place. If `/ready` or the metrics have no text here, a
   * control plane that was ready must report nothing there.
   */
  readonly named: Readonly<Partial<Record<Voice, RegExp>>>;
  /**
   * Begins and ends the fault. Calls `over` at its end; all that follows is part of healing. After
   * that, the functions that were passed to `later` run.
   */
  readonly run: (stage: CaStage, over: () => void, later: (undo: Undo) => void) => Promise<void>;
}

/** The reported texts. Each one has whether the control plane had been ready before. */
type Texts = ReadonlyMap<string, By>;
type By = 'starting' | 'settled';

/** The pause between two looks, and the longest time to wait for a condition. In ms. */
const [pauseOfWatch, longest] = [250, 120_000];

/** Watches the reports of the control planes and their agents, until it is stopped. */
async function startWatch(stage: CaStage) {
  const first = stage.instance();
  const before = (await conditionOf(first)).metrics;
  const lengths = new Map(stage.instances().map((each) => [each, each.lines().length]));
  const agents = new Map(stage.pods().map((pod) => [pod, pod.sidecar.agent.log().length]));
  const texts = { '/ready': new Map<string, By>(), metric: new Map<string, By>() };
  const settledInstances = new Set(stage.instances());
  const stopping = new AbortController();
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      for (const instance of stage.instances()) {
        const { ready, metrics } = await conditionOf(instance, before);
        if (ready.status === 200) settledInstances.add(instance);
        const by = settledInstances.has(instance) ? 'settled' : 'starting';
        const isQuiet = ready.status === 200 && ready.body === '';
        // A replaced control plane has no answer after its end.
        if (!isQuiet && ready.status !== 0 && !ready.body.includes('it ends'))
          texts['/ready'].set(`${ready.status === 200 ? '' : `${ready.status} `}${ready.body}`, by);
        for (const metric of metrics) texts.metric.set(metric.replace(/ \S+$/, ''), by);
      }
      await pause(pauseOfWatch);
    }
  })();
  return async (): Promise<Readonly<Record<Voice, Texts>>> => {
    stopping.abort();
    await loop;
    const log = stage
      .instances()
      .flatMap((each) => troublesIn(each.lines().slice(lengths.get(each) ?? 0)));
    const ofAgents = stage
      .pods()
      .flatMap((pod) => troublesIn(pod.sidecar.agent.log().slice(agents.get(pod) ?? 0)));
    return { ...texts, log: asTexts(log), agent: asTexts(ofAgents) };
  };
}

const asTexts = (all: readonly string[]): Texts => new Map(all.map((text) => [text, 'settled']));

const troublesIn = (lines: readonly Readonly<Record<string, unknown>>[]): readonly string[] =>
  lines
    .filter(({ level }) => level === 'warn' || level === 'error')
    .map(({ event, msg, reason = msg }) => `${String(event)}: ${String(reason)}`);

/** Whether a control plane and its agents report no fault. */
async function isWell(stage: CaStage, refusals: readonly string[]): Promise<boolean> {
  const { ready, metrics } = await conditionOf(stage.instance(), refusals);
  return (
    ready.status === 200 &&
    ready.body === '' &&
    metrics.every((metric) => !metric.endsWith(' 0')) &&
    stage.pods().every((pod) => {
      const last = lastOf(pod, ['certificate.issued', 'certificate.request_failed']);
      return last?.event === 'certificate.issued';
    })
  );
}

/** Changes a rule. Resolves when it is in effect, in calls between all pods. */
async function followsRule(stage: CaStage, rule: string): Promise<void> {
  await setRule(stage, rule);
  for (const from of stage.pods())
    for (const to of stage.pods())
      if (to !== from)
        await eventually(() => calls(from, to, rule), { within: longest, every: 100 });
}

/** Resolves when each pod has got another certificate since `begun`, or from now on. */
export async function renewed(stage: CaStage, begun = performance.now()): Promise<void> {
  const areNew = () => agesOf(stage).every((age) => age < performance.now() - begun);
  await eventually(areNew, { within: longest, every: 100 });
}

/** Runs one fault under load. Afterwards, a call has the header of `rule`. */
export async function runCaOutage(
  stage: CaStage,
  { name, named, run }: CaOutage,
  rule: string,
): Promise<OutageReport> {
  await eventually(() => allAnswer(stage), { within: longest, every: 200 });
  await eventually(() => isWell(stage, []), { within: longest, every: 200 });
  const before = stage.traffic.counts();
  const watch = await startWatch(stage);
  const violations: string[] = [];
  const times = { over: NaN, healed: NaN };
  const undoings: Undo[] = [];
  try {
    await run(
      stage,
      () => (times.over = performance.now()),
      (undo) => undoings.push(undo),
    );
    await eventually(() => isWell(stage, []), { within: longest, every: 50 });
    await followsRule(stage, rule);
    times.healed = performance.now();
    await renewed(stage, times.over);
  } catch (error) {
    violations.push((error as Error).message);
  }
  const texts = await watch();
  const after = stage.traffic.counts();
  const failed = after.failed - before.failed;
  const heard = (['/ready', 'log', 'metric', 'agent'] as const).map((voice) => {
    const pattern = named[voice];
    const all = [...texts[voice].keys()];
    const settledTexts = all.filter((each) => texts[voice].get(each) === 'settled');
    const isSilent = pattern === undefined && (voice === '/ready' || voice === 'metric');
    if (isSilent && settledTexts.length > 0)
      violations.push(`${voice} has ${settledTexts.join('; ')}`);
    const text = pattern && all.find((each) => pattern.test(each));
    if (pattern !== undefined && text === undefined)
      violations.push(`${voice} does not name it, but has ${all.join('; ') || 'nothing'}`);
    return text === undefined ? [] : [`${voice}: ${shown(text)}`];
  });
  if (failed > 0) violations.push(after.why.join(', '));
  for (const undo of undoings) await undo();
  return {
    ...{ name, failed },
    requests: after.requests - before.requests,
    named: heard.flat().join('; '),
    seconds: Math.round((times.healed - times.over) / 100) / 10,
    violations: violations.map((text) => `${name}: ${text}`),
  };
}

/** Shortens a text, and leaves out the parts that differ from run to run. */
const shown = (text: string): string =>
  text
    .replaceAll(/https?:\/\/127\.0\.0\.1:\d+\S*:? ?/g, '')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1')
    .replaceAll(/\/tmp\/pilot-agent-ca-\w+\//g, '')
    .replaceAll(/\s+/g, ' ')
    .slice(0, 130);
