import { expect, it } from 'vitest';
import { stringMatcher } from '../../../../../src/pilot-discovery/generate/encoding/string-matcher.ts';
import { StringMatcherSchema } from '../../../../../src/shared/proto/envoy/type/matcher/v3/string_pb.ts';
import { canonical, messageYaml } from '../../../../support/golden.ts';

it.each([
  ['exact', '{ exact: a }'],
  ['prefix', '{ prefix: a }'],
  ['regex', '{ safe_regex: { regex: a } }'],
] as const)('a text that matches by %s is %s', (type, envoy) => {
  expect(messageYaml(StringMatcherSchema, stringMatcher({ type, value: 'a' }))).toBe(
    canonical(envoy),
  );
});
