import type { Observable, SchedulerLike } from 'rxjs';
import type { Launch, ProcessEvent, Signal } from '../agent/ports.ts';
import { envoyArgs } from './envoy-args.ts';
import type { EnvoyOptions } from './envoy-proxy.ts';
import type { Running } from './processes.ts';
import { spawnEnvoy } from './spawn-envoy.ts';
import type { Standing } from './stand-beside.ts';

export interface Start {
  readonly launch: Launch;
  readonly own: Running;
  readonly standing: Standing;
  readonly signals$: Observable<Signal>;
  readonly scheduler: SchedulerLike;
}

/** Starts the Envoy of an epoch: as a child that does not outlive the agent, or, where there is a keeper, as one that does. As `Proxy.run`. */
export function startEnvoy(
  { binary, args, folder, tools, keeper, onLine }: EnvoyOptions,
  { launch: { epoch, restartEpoch }, own, standing, signals$, scheduler }: Start,
): Observable<ProcessEvent> {
  const given = [...envoyArgs({ ...args, baseId: own.baseId }, { ...standing, restartEpoch }), '--admin-address-path', own.addressFile];
  if (keeper !== undefined) return keeper.start(own, binary, given, signals$);
  return spawnEnvoy({
    binary,
    args: given,
    fifo: `${folder}/envoy-rev${epoch}.stderr`,
    tools,
    stdout: 'inherit',
    onLine: (line) => onLine(line, epoch),
    signals$,
    scheduler,
  });
}
