import { ask } from '../support/ask.ts';
import { eventually } from '../support/eventually.ts';
import { hostOf, identityOf, type Side } from './apps.ts';
import type { MoveStage } from './move-stage.ts';
import type { MovedPod } from './pods.ts';
import type { Step, StepReport } from './step.ts';

const sides: readonly Side[] = ['istiod', 'pilot-discovery'];

/** Runs a step under load, and checks the state after it. */
export async function runStep(
  stage: MoveStage,
  { name, run, then }: Step,
  rule: string,
): Promise<StepReport> {
  const before = stage.traffic.counts();
  const begun = performance.now();
  const violations: string[] = [];
  const check = (what: string, checked: () => Promise<boolean>) =>
    eventually(checked, { within: 60_000, every: 200 }).catch((error: unknown) =>
      violations.push(`${name}: ${what}: ${(error as Error).message}`),
    );
  const note = await run(stage);
  await check('each proxy has its control plane', () => hasSides(stage, then));
  const seconds = (performance.now() - begun) / 1_000;
  await setRule(stage, rule);
  for (const pod of stage.pods())
    for (const to of stage.pods())
      if (to !== pod)
        await check(`${pod.app.name} calls ${to.app.name}`, () => calls(pod, to, rule));
  for (const pod of stage.pods())
    if ((await ask(pod.stranger, '/', { host: hostOf(pod.app) })).status !== 0)
      violations.push(`${name}: ${pod.app.name} takes plain text`);
  const after = stage.traffic.counts();
  const failed = after.failed - before.failed;
  if (failed > 0) violations.push(`${name}: ${after.why.join(', ')}; ${warningsOf(stage)}`);
  return {
    ...{ name, failed, violations, note },
    requests: after.requests - before.requests,
    seconds: Math.round(seconds * 10) / 10,
  };
}

/** Whether each control plane has the proxies that it should have, and no other. */
async function hasSides(stage: MoveStage, then: Step['then']): Promise<boolean> {
  for (const side of sides) {
    const wanted = stage
      .pods()
      .filter(({ app }) => then[app.name] === side)
      .map(({ app, sidecar }) => `${sidecar.name}-0.${app.namespace}`);
    const proxies = await stage.proxiesOf(side);
    if (wanted.length !== proxies.length || !wanted.every((proxy) => proxies.includes(proxy)))
      return false;
  }
  return true;
}

/** Gives each call a header with this text, by a rule of each namespace. */
export async function setRule(
  { kube, pods }: Pick<MoveStage, 'kube' | 'pods'>,
  text: string,
): Promise<void> {
  for (const {
    app: { name, namespace },
  } of pods()) {
    const headers = { request: { set: { 'x-rule': text } } };
    await kube.apply({
      apiVersion: 'networking.istio.io/v1',
      kind: 'VirtualService',
      metadata: { name, namespace },
      spec: { hosts: [name], http: [{ headers, route: [{ destination: { host: name } }] }] },
    });
  }
}

/** Whether a call has the header of this rule, and the identities of both apps. */
export async function calls(from: MovedPod, to: MovedPod, rule: string): Promise<boolean> {
  const { status, body } = await ask(from.calls, '/', { host: hostOf(to.app) });
  if (status !== 200) return false;
  const headers = JSON.parse(body) as Readonly<Record<string, string>>;
  const certificate = headers['x-forwarded-client-cert'] ?? '';
  return (
    headers['x-rule'] === rule &&
    certificate.includes(`By=${identityOf(to.app)};`) &&
    certificate.endsWith(`URI=${identityOf(from.app)}`)
  );
}

/** Whether each app gets answers from all others. */
export async function allAnswer(stage: Pick<MoveStage, 'pods'>): Promise<boolean> {
  for (const from of stage.pods())
    for (const { app } of stage.pods())
      if ((await ask(from.calls, '/', { host: hostOf(app) })).status !== 200) return false;
  return true;
}

/** Returns the last warnings of our agents and of `pilot-discovery`, with their times. */
function warningsOf(stage: MoveStage): string {
  const logs = [stage.lines(), ...stage.pods().map(({ sidecar }) => sidecar.agent.log())];
  return logs
    .flatMap((log) => log.filter(({ level }) => level !== 'info').slice(-10))
    .map(({ time, event, msg, reason = '' }) => [time, event, msg, reason].map(String).join(' '))
    .join('; ');
}
