import type { EpochConfig } from '../../epochs/ports.ts';
import type { ConfigEvent } from '../../epochs/model.ts';
import type { Reading } from '../../streams/reading.ts';
import type { SourceSign } from '../../streams/readings.ts';
import { type PartFailed, partFailed } from './state/part.ts';
import type { ShapedConfig } from './start/shape-source.ts';

type Read = Extract<SourceSign<ShapedConfig>, { type: 'read' }>;
type ReadSign = Exclude<SourceSign<ShapedConfig>, { type: 'source-failed' }>;
/** A report on the configuration: from its sources, or about the files that the agent waits for. */
export type ConfigSign = ReadSign | PartFailed | Extract<ConfigEvent, { type: 'files-awaited' }>;

export function filesAwaited(missing: readonly string[]): ConfigSign {
  return { type: 'files-awaited', missing };
}

export function toSign(sign: SourceSign<ShapedConfig>): ReadSign | PartFailed {
  return sign.type === 'source-failed' ? partFailed('sources', sign.error, sign.delayMs) : sign;
}

/**
 * Returns whether a sign becomes a sign of the run. A foreseen reading does not: a later one may
 * replace it.
 */
export function isSourceSign(
  sign: ConfigSign,
): sign is Exclude<ReadSign, { type: 'foreseen' }> | PartFailed {
  return sign.type !== 'files-awaited' && sign.type !== 'foreseen';
}

/** Converts a sign to an event of the agent; undefined if the agent does not need it. */
export function toConfigEvent(sign: ConfigSign): ConfigEvent | undefined {
  if (sign.type === 'files-awaited') return sign;
  if (sign.type !== 'read' || isOrdered(sign)) return undefined;
  return {
    type: sign.isNew ? 'config-changed' : 'config-confirmed',
    reading: toEpochReading(sign.reading),
  };
}

export function isOrdered(sign: Read): sign is Read & { readonly orderedBy: string } {
  return sign.orderedBy !== undefined;
}

export function toEpochReading(reading: Read['reading']): Reading<EpochConfig> {
  return {
    ...reading,
    config: reading.config?.epoch ?? {
      kind: 'refused',
      reason: 'no source gives a configuration for Envoy',
    },
  };
}
