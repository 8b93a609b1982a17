import {
  FractionalPercent_DenominatorType as Denominator,
  type FractionalPercentSchema,
} from '../../../shared/proto/envoy/type/v3/percent_pb.ts';
import type { Init } from './typed-config.ts';

/** Returns a percentage with four decimal places, in the form of Envoy. */
export function fractionalPercent(percentage: number): Init<typeof FractionalPercentSchema> {
  return { numerator: Math.floor(percentage * 10_000 + 1e-6), denominator: Denominator.MILLION };
}

/** 100 %. */
export const always: Init<typeof FractionalPercentSchema> = { numerator: 100 };
