import { type FleetFigures, runFleet } from '../fleet.ts';
import type { Contender } from '../control-planes.ts';
import { over } from './control-plane.ts';
import { disturbed } from './disturbances.ts';
import { type Scene, sidecarsOf } from './scenes.ts';

/** Resolves with the figures of a control plane in a scene. */
export async function measured(
  who: Contender,
  scene: Scene,
  rounds: number,
): Promise<FleetFigures> {
  const { services, proxies, namespaces, variant, beside } = scene;
  const delta = variant === 'delta';
  const changes = ['eds', 'rds', 'cds'] as const;
  return over(who, { services, yaml: sidecarsOf(scene) }, (running) =>
    disturbed(beside, running, () =>
      runFleet({ ...running, proxies, delta, namespaces, rounds, changes }),
    ),
  );
}
