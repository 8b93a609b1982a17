import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { writePage } from '../support/write-page.ts';
import { startAttacker } from './attacker.ts';
import { attackedControlPlane } from './control-plane.ts';
import { type Outcome, report } from './report.ts';
import { type Row, rows } from './rows.ts';

const page = 'test/hostile/report.md';
const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });

/** The largest number of control planes that wait for their minute beside the one under attack. */
const most = 12;

/**
 * A mesh of 500 services. Beside it, the memory of the program itself hardly affects the memory in
 * use.
 */
const services = Object.fromEntries(
  Array.from({ length: 10 }, (_, file) => [
    `services-${file}.yaml`,
    Array.from({ length: 50 }, (_each, index) => {
      const name = `service-${file}-${index}`;
      const spec = {
        hosts: [`${name}.mesh`],
        resolution: 'DNS',
        ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
      };
      return JSON.stringify({
        apiVersion: 'networking.istio.io/v1',
        kind: 'ServiceEntry',
        metadata: { name },
        spec,
      });
    }).join('\n---\n'),
  ]),
);

/** Attacks a control plane of its own. `outcome` resolves a minute later. */
async function attacked({ name, logged }: Row): Promise<{ readonly outcome: Promise<Outcome> }> {
  const [plane, attacker] = await Promise.all([
    attackedControlPlane({ files: services }),
    startAttacker(),
  ]);
  for (let count = 0; count < 3; count += 1) await plane.change();
  const before = await plane.inUse();
  const from = plane.lines.length;
  const [end, change] = await Promise.all([
    attacker.attack(name, plane.target),
    sleep(50).then(() => plane.change()),
  ]);
  const during = plane.memory();
  const isTold = () =>
    logged === undefined ||
    plane.lines
      .slice(from)
      .some(({ event, reason }) => event === logged[0] && String(reason).includes(logged[1]));
  for (let tries = 0; !isTold() && tries < 200; tries += 1) await sleep(50);
  await end();
  await attacker.dispose();
  const aMinuteLater = async (): Promise<Outcome> => {
    await sleep(60_000);
    const after = plane.exitCode() === undefined ? await plane.inUse() : NaN;
    const outcome = {
      name,
      change,
      during,
      before,
      after,
      isTold: isTold(),
      exitCode: plane.exitCode(),
    };
    await plane.dispose();
    return outcome;
  };
  return { outcome: aMinuteLater() };
}

const waiting: Promise<Outcome>[] = [];
for (const row of rows.filter(({ name }) => name.includes(values.only))) {
  if (waiting.length >= most) await waiting.at(-most);
  waiting.push((await attacked(row)).outcome);
  console.log(row.name);
}
const outcomes = await Promise.all(waiting);
const { text, failed } = report(
  outcomes,
  `${cpus().length} processors, Node ${process.versions.node}`,
);
console.log(text);
if (failed.length > 0) process.exitCode = 1;
if (values.only === '') await writePage(page, text);
