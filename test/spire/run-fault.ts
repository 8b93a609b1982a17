import { ask } from '../support/ask.ts';
import { eventually } from '../support/eventually.ts';
import { startLoad } from '../support/load.ts';
import type { OutageReport } from '../outages/outage.ts';
import type { Fault } from './faults.ts';
import { names, type SpireStage } from './spire-stage.ts';

/** The pause between requests of a client, and the longest duration of the load. In ms. */
const [pauseOfClient, longest] = [20, 3_600_000];

/** Runs a fault under load, and checks the state after it. `version` answers afterwards. */
export async function runFault(
  stage: SpireStage,
  { name, named, run }: Fault,
  version: 'v1' | 'v2',
): Promise<OutageReport> {
  const violations: string[] = [];
  const marks = names.map((agent) => stage.agents[agent].log().length);
  const target = { port: stage.rig.ports.service, host: 'echo.mesh', maxDuration: longest };
  const load = startLoad({ ...target, mode: 'keep-alive', clients: 3, pause: pauseOfClient });
  const begun = performance.now();
  let note = '';
  try {
    note = await run(stage);
    await followsChange(stage, version);
  } catch (error) {
    violations.push((error as Error).message);
  }
  const seconds = Math.round((performance.now() - begun) / 100) / 10;
  const { ok, failed, errors } = await load.stop();
  if (failed > 0) violations.push([...errors].map((entry) => entry.join(': ')).join(', '));
  const troubles = names.flatMap((agent, index) =>
    stage.agents[agent]
      .log()
      .slice(marks[index])
      .filter(({ level }) => level === 'error' || level === 'warn')
      .map(({ event, msg, reason = msg }) => `${event}: ${String(reason)}`),
  );
  const trouble = troubles.find((text) => named === undefined || named.test(text));
  if (named !== undefined && trouble === undefined)
    violations.push(`the log does not name it, but has: ${troubles.join('; ')}`);
  return {
    ...{ name, failed, seconds },
    requests: ok + failed,
    named: trouble ?? note,
    violations: violations.map((text) => `${name}: ${text}`),
  };
}

/** Sends all requests to a version, when both proxies are connected. */
async function followsChange({ rig }: SpireStage, version: 'v1' | 'v2'): Promise<void> {
  const areConnected = async () => {
    const { body } = await ask(rig.ports.http, '/debug/syncz');
    return names.every((name) => body.includes(`"${name}-0.`));
  };
  await eventually(areConnected, { within: 60_000, every: 200 });
  const weights = version === 'v1' ? [100, 0] : [0, 100];
  const route = (subset: string, weight: number | undefined) =>
    `{ destination: { host: echo.mesh, subset: ${subset} }, weight: ${weight} }`;
  rig.write(
    '40-route.yaml',
    rig
      .read('40-route.yaml')
      .replace(/\{ destination: .*subset: v1.*/, route('v1', weights[0]))
      .replace(/\{ destination: .*subset: v2.*/, route('v2', weights[1])),
  );
  const isOnly = async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => rig.ask()));
    return answers.every(({ body }) => body.trim() === version);
  };
  await eventually(isOnly, { within: 60_000, every: 200 });
}
