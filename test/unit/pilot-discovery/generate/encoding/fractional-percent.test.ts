import { expect, it } from 'vitest';
import {
  always,
  fractionalPercent,
} from '../../../../../src/pilot-discovery/generate/encoding/fractional-percent.ts';
import { FractionalPercentSchema } from '../../../../../src/shared/proto/envoy/type/v3/percent_pb.ts';
import { canonical, messageYaml } from '../../../../support/golden.ts';

it.each([
  [0, '{ denominator: MILLION }'],
  [0.0001, '{ numerator: 1, denominator: MILLION }'],
  [0.00019, '{ numerator: 1, denominator: MILLION }'],
  [0.57, '{ numerator: 5700, denominator: MILLION }'],
  [12.5, '{ numerator: 125000, denominator: MILLION }'],
  [99.9999, '{ numerator: 999999, denominator: MILLION }'],
  [100, '{ numerator: 1000000, denominator: MILLION }'],
])('%f percent has four places: %s', (percentage, envoy) => {
  expect(messageYaml(FractionalPercentSchema, fractionalPercent(percentage))).toBe(
    canonical(envoy),
  );
});

it('all is 100 of 100', () => {
  expect(messageYaml(FractionalPercentSchema, always)).toBe(canonical('{ numerator: 100 }'));
});
