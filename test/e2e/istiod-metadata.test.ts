import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { controlPlane } from '../support/control-plane.ts';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { type Istiod, makeIstiod } from './support/istiod.ts';
import { makeRig, type Rig } from './support/rig.ts';

const within = { timeout: 20_000 };

let rig: Rig;
let istiod: Istiod;
let discovery: number;
let port: number;

beforeEach(async () => {
  rig = await makeRig();
  const [first = 0, , , free = 0] = await freePorts(4); // istiod takes the two after its own as well
  discovery = first;
  port = free;
  istiod = makeIstiod(controlPlane ?? '', discovery);
});
afterEach(async () => {
  await rig.dispose();
  await istiod.dispose();
});

if (controlPlane === undefined) leftOut('the tests of what a real istiod is told', 'a program');

const dump = async () => (await fetch(`http://127.0.0.1:${rig.ports.admin}/config_dump`)).text();

describe.skipIf(controlPlane === undefined)('a real istiod', () => {
  it('goes by what PROXY_CONFIG says to it alone, and is not confused by what nobody knows', async () => {
    istiod.put('gateway', { apiVersion: 'networking.istio.io/v1', kind: 'Gateway', metadata: { name: 'gateway', namespace: 'ns' }, spec: { selector: { app: 'gateway' }, servers: [{ port: { number: port, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }] } }); // prettier-ignore
    await istiod.start();
    const agent = rig.start(['--discoveryAddress', `127.0.0.1:${discovery}`], {
      generated: true,
      role: 'router',
      env: {
        POD_NAME: 'gateway',
        POD_NAMESPACE: 'ns',
        INSTANCE_IP: '127.0.0.1',
        ISTIO_METAJSON_LABELS: '{"app":"gateway"}',
        PROXY_CONFIG: 'gateway_topology: {numTrustedProxies: 3, later: [1]}\nnobody: {knows: {what: this is}}\ninterceptionMode: NONE',
      },
    });
    await agent.said('epoch.live', 0);
    await expect.poll(dump, within).toContain('"xff_num_trusted_hops": 3');
    expect((await rig.ready()).status).toBe(200);
    expect(agent.log().filter(({ event }) => event === 'config.warning').map(({ warning }) => warning)).toEqual([
      'PROXY_CONFIG.gatewayTopology.later is not known here: the control plane gets it as it is',
      'PROXY_CONFIG.nobody is not known here: the control plane gets it as it is',
    ]); // prettier-ignore
  }, 60_000);
});
