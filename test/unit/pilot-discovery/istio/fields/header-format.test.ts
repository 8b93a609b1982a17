import { describe, expect, it } from 'vitest';
import {
  formatFlaw,
  headerFlaw,
} from '../../../../../src/pilot-discovery/istio/fields/header-format.ts';

describe('a format', () => {
  it.each([
    '',
    'plain',
    '100 %%',
    'a%%b',
    '%PROTOCOL%',
    '%PROTOCOL%%RESPONSE_CODE%',
    '%REQ(A)%%REQ(B):3%',
    '%PROTOCOL()%',
    '%START_TIME%',
    '%START_TIME(%s)%',
    '%PATH(NQ):3%',
    '%COALESCE({"operators":["PROTOCOL"]})%',
    "%CEL(request.headers['a'].size())%",
  ])('%s is right', (format) => {
    expect(formatFlaw(format)).toBeUndefined();
  });

  it.each([
    ['100 %', 'Envoy has no %: write %% for a percent sign'],
    ['%%%', 'Envoy has no %: write %% for a percent sign'],
    ['%nothing%', 'Envoy has no %nothing%: write %% for a percent sign'],
    ['%NOTHING%', 'Envoy has no %NOTHING%: write %% for a percent sign'],
    ['%NOTHING(a)%', 'Envoy has no %NOTHING%: write %% for a percent sign'],
    ['a %PROTOCOL', 'Envoy has no %PROTOCOL: write %% for a percent sign'],
    ['%REQ%', '%REQ% needs arguments: %REQ(...)%'],
    ['%REQ()%', '%REQ% needs arguments: %REQ(...)%'],
    ['%PROTOCOL(x)%', '%PROTOCOL% has no arguments: leave (x) out'],
    ['%UPSTREAM_CLUSTER:3%', '%UPSTREAM_CLUSTER% cannot be cut: leave :3 out'],
  ])('%s is refused', (format, flaw) => {
    expect(formatFlaw(format)).toBe(flaw);
  });

  it('of a header has no line end', () => {
    expect(headerFlaw('a\nb')).toBe('a line end or NUL cannot be in a header');
    expect(formatFlaw('a\n')).toBeUndefined();
  });
});
