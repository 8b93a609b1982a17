import { describe, expect, it } from 'vitest';
import { retryPolicy } from '../../../../../src/pilot-discovery/generate/routes/retry-policy.ts';
import { RetryPolicySchema } from '../../../../../src/shared/proto/envoy/config/route/v3/route_components_pb.ts';
import { canonical, httpRouteIn, messageYaml } from '../../../../support/golden.ts';

const usual = `
host_selection_retry_max_attempts: "5"
retry_on: connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes`;

const otherHost = `
retry_host_predicate:
  - name: envoy.retry_host_predicates.previous_hosts
    typed_config: { "@type": type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate }`;

describe('the retries of a route as a RetryPolicy of Envoy', () => {
  it.each([
    ['two on another host, if nothing is said', '', `${usual}\nnum_retries: 2`],
    ['attempts', '{ attempts: 5 }', `${usual}\nnum_retries: 5`],
    [
      'the time for one attempt',
      '{ attempts: 1, perTryTimeout: 1.5s }',
      `${usual}\nnum_retries: 1\nper_try_timeout: 1.500s`,
    ],
    [
      'conditions',
      '{ attempts: 3, retryOn: "5xx,reset" }',
      `
host_selection_retry_max_attempts: "5"
retry_on: 5xx,reset
num_retries: 3`,
    ],
    [
      'status codes, to which their condition is added',
      '{ attempts: 3, retryOn: "gateway-error,409,429" }',
      `
host_selection_retry_max_attempts: "5"
retry_on: gateway-error,retriable-status-codes
num_retries: 3
retriable_status_codes: [409, 429]`,
    ],
    [
      'status codes beside their condition',
      '{ attempts: 3, retryOn: "retriable-status-codes,503" }',
      `
host_selection_retry_max_attempts: "5"
retry_on: retriable-status-codes
num_retries: 3
retriable_status_codes: [503]`,
    ],
    [
      'the pause before the next attempt',
      '{ attempts: 3, backoff: 250ms }',
      `${usual}\nnum_retries: 3\nretry_back_off: { base_interval: 0.250s }`,
    ],
    [
      'other localities',
      '{ attempts: 3, retryRemoteLocalities: true }',
      `${usual}
num_retries: 3
retry_priority:
  name: envoy.retry_priorities.previous_priorities
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig
    update_frequency: 2`,
    ],
    [
      'no other localities',
      '{ attempts: 3, retryRemoteLocalities: false }',
      `${usual}\nnum_retries: 3`,
    ],
  ])('%s', (_, retries, policy) => {
    const routeRetries = httpRouteIn(retries === '' ? '' : `retries: ${retries}`).retries;
    expect(messageYaml(RetryPolicySchema, retryPolicy(routeRetries, 'any'))).toBe(
      canonical(policy + otherHost),
    );
  });

  it('are none for 0 attempts', () => {
    const { retries } = httpRouteIn('retries: { attempts: 0 }');
    expect(messageYaml(RetryPolicySchema, retryPolicy(retries, 'any'))).toBe(canonical('none'));
  });

  it('stay on the host if the rule says so', () => {
    const { retries } = httpRouteIn('retries: { attempts: 3, retryIgnorePreviousHosts: false }');
    expect(messageYaml(RetryPolicySchema, retryPolicy(retries, 'any'))).toBe(
      canonical(`${usual}\nnum_retries: 3`),
    );
  });

  it.each([
    ['nothing said', '', `${usual}\nnum_retries: 2`],
    ['attempts', 'retries: { attempts: 3 }', `${usual}\nnum_retries: 3`],
    [
      'another host asked for',
      'retries: { attempts: 3, retryIgnorePreviousHosts: true }',
      `${usual}\nnum_retries: 3${otherHost}`,
    ],
  ])('stay on the host that a hash has chosen: %s', (_, http, policy) => {
    const { retries } = httpRouteIn(http);
    expect(messageYaml(RetryPolicySchema, retryPolicy(retries, 'by-hash'))).toBe(canonical(policy));
  });
});
