import { describe, expect, it } from 'vitest';
import { looksSecret } from '../../../../src/pilot-agent/config/looks-secret.ts';

describe('a text of proxyMetadata', () => {
  it.each([
    ['DB_PASSWD', 'x'],
    ['DB_PASS', 'x'],
    ['BASIC_AUTH', 'x'],
    ['API_KEY', 'x'],
    ['SENTRY', 'https://user:hush@sentry.example/1'],
    ['HEADER', 'Bearer hush'],
    ['IDENTITY', 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln'],
    ['PEM', '-----BEGIN EC PRIVATE KEY-----\nMHc'],
    ['GITHUB', 'ghp_0123456789abcdefghij'],
    ['AWS', 'AKIAIOSFODNN7EXAMPLE'],
    ['SALT', 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY'],
    ['DIGEST', '9f86d081884c7d659a2feaa0c55ad015'],
  ])('seems to be a secret: %s=%s', (name, text) => {
    expect(looksSecret(name, text)).toBe(true);
  });

  it.each([
    ['ISTIO_META_DNS_CAPTURE', 'true'],
    ['SECRET_TTL', '24h0m0s'],
    ['TOKEN_AUDIENCES', 'istio-ca'],
    ['CREDENTIAL_FETCHER_TYPE', 'GoogleComputeEngine'],
    ['ISTIO_META_CLUSTER_ID', 'Kubernetes'],
    ['PROXY_CONFIG_XDS_AGENT', 'true'],
    ['FILE', '/var/run/secrets/workload-Spiffe-credentials/Key1.pem'],
    ['URL', 'http://collector.observability:9411/api/v2/spans'],
    ['BYPASS', 'x'],
    ['IMAGE', 'docker.io/istio/proxyv2:1.26.0'],
  ])('seems to be none: %s=%s', (name, text) => {
    expect(looksSecret(name, text)).toBe(false);
  });
});
