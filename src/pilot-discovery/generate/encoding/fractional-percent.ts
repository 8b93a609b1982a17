import {
  FractionalPercent_DenominatorType as Denominator,
  type FractionalPercentSchema,
} from '../../../shared/proto/envoy/type/v3/percent_pb.ts';
import type { Init } from './typed-config.ts';

/** A percentage with four places, as Envoy has it. */
export function fractionalPercent(percentage: number): Init<typeof FractionalPercentSchema> {
  return { numerator: Math.floor(percentage * 10_000 + 1e-6), denominator: Denominator.MILLION };
}

/** All, without exception. */
export const always: Init<typeof FractionalPercentSchema> = { numerator: 100 };
