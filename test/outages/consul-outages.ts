import { writeFileSync } from 'node:fs';
import { eventually } from '../support/eventually.ts';
import type { ConsulStage } from './consul-stage.ts';
import { type Outage, pause } from './outage.ts';

/** An outage that kills Consul, which keeps no data, and starts it again. */
export const indexReset: Outage<ConsulStage> = {
  name: 'Consul is killed, and comes back without its data: its index begins again',
  named: /ECONNREFUSED|hang up|ECONNRESET/,
  async run({ servers, register }, over) {
    const [consul] = servers;
    await consul?.stop();
    await pause(10_000);
    await consul?.start();
    await pause(3_000);
    await register();
    over();
  },
};

/** An outage that leaves one of three servers, which is not the leader. */
export const leaderLost: Outage<ConsulStage> = {
  name: 'two of three servers of Consul are killed, one of them the leader',
  named: /leader|answers 500/,
  async run({ servers, instance }, over) {
    const [, ...others] = servers;
    for (const server of others) await server.stop();
    await eventually(async () => /leader|answers 500/.test((await instance().said()).ready));
    await pause(10_000);
    await Promise.all(others.map((server) => server.start()));
    over();
  },
};

/** The rules of a token that may read all services. */
export const readAll = 'service_prefix "" { policy = "read" } node_prefix "" { policy = "read" }';

/** @param tokenFile the file of the token that the control plane uses */
export function aclDenied(tokenFile: string): Outage<ConsulStage> {
  return {
    name: 'the token may not read all services of Consul any longer, and is replaced',
    named: /may not read/,
    async run({ servers, instance, mark }, over) {
      const [consul] = servers;
      if (consul === undefined) throw new Error('there is no Consul');
      writeFileSync(
        tokenFile,
        await consul.token(readAll.replace('service_prefix ""', 'service "web"')),
      );
      await mark(418); // Consul answers the pending query
      await eventually(async () => (await instance().said()).ready.includes('may not read'));
      await pause(10_000);
      writeFileSync(tokenFile, await consul.token(readAll));
      over();
    },
  };
}
