import { expect, it } from 'vitest';
import { accepted, configOf, problemsOf } from '../../../support/resolved.ts';

const consul = {
  kind: 'consul',
  as: 'restart',
  at: '',
  address: 'http://127.0.0.1:8500',
  caFile: '',
  tokenFile: '',
};
const kube = { kind: 'kube', as: 'restart', at: '', namespace: 'shop', key: '', kubeconfig: '' };

it('makes a source of each flag, by a name of its own, with all that has a default', () => {
  const given = {
    watch: ['/a', 'b'],
    configUrl: 'https://host/envoy.yaml',
    watchKube: [
      'Secret/shop/front',
      'ConfigMap/shop/envoy',
      'Gateway.networking.istio.io/shop/front',
    ],
    watchConsul: ['kv/envoy/front', 'service/web'],
  };
  expect(configOf({ given }).sources).toEqual([
    { kind: 'files', name: 'watch', as: 'restart', at: '', paths: ['/a', 'b'] },
    {
      kind: 'http',
      name: 'url',
      as: 'envoy',
      at: '',
      url: 'https://host/envoy.yaml',
      every: 30_000,
      timeout: 10_000,
      largest: 16_777_216,
      caFile: '',
      tokenFile: '',
    },
    { ...kube, name: 'kube/Secret/shop/front', as: 'secret', resource: 'Secret', object: 'front' },
    { ...kube, name: 'kube/ConfigMap/shop/envoy', resource: 'ConfigMap', object: 'envoy' },
    {
      ...kube,
      name: 'kube/Gateway.networking.istio.io/shop/front',
      resource: 'Gateway.networking.istio.io',
      object: 'front',
    },
    { ...consul, name: 'consul/kv/envoy/front', watch: { prefix: 'envoy/front' } },
    { ...consul, name: 'consul/service/web', watch: { service: 'web' } },
  ]);
});

it('takes the same from variables, of which an empty one says nothing; a flag wins', () => {
  const env = {
    PILOT_AGENT_WATCH: '/a, /b',
    PILOT_AGENT_CONFIG_URL: '',
    PILOT_AGENT_WATCH_KUBE: 'ConfigMap/shop/envoy',
    PILOT_AGENT_WATCH_CONSUL: 'kv/envoy',
    KUBECONFIG: '/k',
    CONSUL_HTTP_ADDR: 'consul:8500',
    CONSUL_CACERT: '/ca',
    CONSUL_HTTP_TOKEN_FILE: '/token',
  };
  const { config, sources } = accepted({ env, given: { watch: ['/c'] } });
  expect(config.sources).toEqual([
    { kind: 'files', name: 'watch', as: 'restart', at: '', paths: ['/c'] },
    {
      ...kube,
      name: 'kube/ConfigMap/shop/envoy',
      resource: 'ConfigMap',
      object: 'envoy',
      kubeconfig: '/k',
    },
    {
      ...consul,
      name: 'consul/kv/envoy',
      address: 'http://consul:8500',
      watch: { prefix: 'envoy' },
      caFile: '/ca',
      tokenFile: '/token',
    },
  ]);
  expect([sources.watch, sources.watchKube]).toEqual(['--watch', '$PILOT_AGENT_WATCH_KUBE']);
  expect(configOf({ env }).watch).toEqual(['/a', '/b']);
});

it('tells a mistake in a variable at the variable, and repeats no URL', () => {
  const env = { PILOT_AGENT_CONFIG_URL: 'ftp://user:hush@host', PILOT_AGENT_WATCH_CONSUL: 'web' };
  expect(problemsOf({ env })).toEqual([
    { place: '$PILOT_AGENT_CONFIG_URL', text: 'is not an http or https URL' },
    { place: '$PILOT_AGENT_WATCH_CONSUL', text: "'web' is not kv/PREFIX or service/NAME" },
  ]);
});

it('refuses a source that is there twice', () => {
  expect(
    problemsOf({ given: { watchKube: ['Secret/a/b', 'ConfigMap/a/b', 'Secret/a/b'] } }),
  ).toEqual([{ place: '--watchKube', text: "there is a source 'kube/Secret/a/b' already" }]);
});

it('refuses an address of Consul that is not a URL only if Consul is asked', () => {
  const env = { CONSUL_HTTP_ADDR: 'unix:///consul.sock' };
  expect(problemsOf({ env })).toEqual([]);
  expect(problemsOf({ env, given: { watchConsul: ['kv/a'] } })).toEqual([
    { place: '$CONSUL_HTTP_ADDR', text: 'is not an http or https URL, nor host:port' },
  ]);
});

it('warns of a file that nobody uses, and of a token that is sent in plaintext', () => {
  expect(
    accepted({
      given: { configUrlCAFile: '/ca' },
      env: { PILOT_AGENT_CONFIG_URL_TOKEN_FILE: '/t' },
    }).warnings,
  ).toEqual([
    '--configUrlCAFile has no effect without --configUrl, and is ignored',
    '$PILOT_AGENT_CONFIG_URL_TOKEN_FILE has no effect without --configUrl, and is ignored',
  ]);
  expect(accepted({ given: { noProxy: ['a.example'] } }).warnings).toEqual([
    '--noProxy has no effect without --httpProxy, and is ignored',
  ]);
  expect(
    accepted({ given: { configUrl: 'http://host/', configUrlTokenFile: '/t' } }).warnings,
  ).toEqual(['--configUrlTokenFile is sent in plaintext: use an https URL']);
});
