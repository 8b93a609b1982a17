import type { Contribution, Use } from '../../sources/contribution.ts';
import { noSettings, type RuntimeSettings } from './runtime-settings.ts';

/** What a change of configuration leads to. */
export type ConfigEffect = 'nothing' | 'push' | 'runtime' | 'epoch';

/** The effect of a change of a source, by what the source is for. */
export const effects: Readonly<Record<Use, ConfigEffect>> = {
  restart: 'epoch',
  envoy: 'epoch',
  merge: 'epoch',
  runtime: 'runtime',
  secret: 'push',
};

/** What a new reading is compared with, and what it says. */
export interface EffectInputs {
  /** Its hash differs, which is of all that a new epoch is started from or for. */
  readonly isNew: boolean;
  /** The settings before, and now; undefined where they stay as they were. */
  readonly had: RuntimeSettings | undefined;
  readonly settings: RuntimeSettings | undefined;
  readonly contributions: readonly Contribution[];
}

/**
 * What follows from a reading, and why, as the log says it. A secret is pushed as it comes, and is
 * no part of a reading. Pure.
 */
export function effectOf({
  isNew,
  had = noSettings,
  settings = had,
  contributions,
}: EffectInputs): {
  readonly effect: ConfigEffect;
  readonly because: string;
} {
  if (isNew)
    return {
      effect: 'epoch',
      because: 'Envoy is started from something else, or a source asks for a restart',
    };
  if (JSON.stringify(settings) === JSON.stringify(had))
    return { effect: 'nothing', because: 'it says the same as before' };
  const names = contributions
    .filter(({ use }) => effects[use] === 'runtime')
    .map(({ source }) => source);
  return {
    effect: 'runtime',
    because: `only runtime settings differ (source ${names.join(', ')})`,
  };
}
