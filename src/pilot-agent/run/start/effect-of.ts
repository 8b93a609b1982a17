import type { Contribution, Use } from '../../sources/contribution.ts';
import { noSettings, type RuntimeSettings } from './runtime-settings.ts';

/** The consequence of a change of configuration. */
export type ConfigEffect = 'nothing' | 'push' | 'runtime' | 'epoch';

/** The effect of a change of a source, by its use. */
export const effects: Readonly<Record<Use, ConfigEffect>> = {
  restart: 'epoch',
  envoy: 'epoch',
  merge: 'epoch',
  runtime: 'runtime',
  secret: 'push',
};

/** A new reading, and the settings before it. */
export interface EffectInputs {
  /** Its hash differs: the hash covers everything that requires a new epoch. */
  readonly isNew: boolean;
  /** The settings before, and now; undefined if they stay the same. */
  readonly had: RuntimeSettings | undefined;
  readonly settings: RuntimeSettings | undefined;
  readonly contributions: readonly Contribution[];
}

/**
 * Returns the effect of a reading, and the reason for the log. A secret is pushed when it arrives,
 * and is not part of a reading. Pure.
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
      because: 'what Envoy starts from has changed, or a source asks for a restart',
    };
  if (JSON.stringify(settings) === JSON.stringify(had))
    return { effect: 'nothing', because: 'the content is the same as before' };
  const names = contributions
    .filter(({ use }) => effects[use] === 'runtime')
    .map(({ source }) => source);
  return {
    effect: 'runtime',
    because: `only runtime settings differ (source ${names.join(', ')})`,
  };
}
