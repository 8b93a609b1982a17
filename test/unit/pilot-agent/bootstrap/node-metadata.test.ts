import { describe, expect, it } from 'vitest';
import { environment } from '../../../../src/pilot-agent/config/environment.ts';
import {
  nodeMetadata,
  type NodeMetadataInputs,
} from '../../../../src/pilot-agent/bootstrap/node-metadata.ts';
import { proxyConfig } from '../../../golden/cases.ts';
import type { NodeMetadata } from '../../../../src/pilot-agent/bootstrap/bootstrap-inputs.ts';

const inputs: Omit<NodeMetadataInputs, 'variables'> = {
  config: proxyConfig,
  labels: {},
  annotations: {},
  addresses: [],
  platform: {},
  stsPort: 0,
  sds: undefined,
};
interface Given extends Partial<typeof inputs> {
  readonly env?: NodeJS.ProcessEnv;
}
const result = ({ env = {}, ...changes }: Given) =>
  nodeMetadata({ ...inputs, variables: environment(env).values, ...changes });
function metadataOf(changes: Given): NodeMetadata {
  const outcome = result(changes);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.problems));
  return outcome.metadata;
}
function problems(changes: Given): readonly string[] {
  const outcome = result(changes);
  return outcome.ok ? [] : outcome.problems.map(({ place, text }) => `${place}: ${text}`);
}
function warnings(changes: Given): readonly string[] {
  const outcome = result(changes);
  return outcome.ok ? outcome.warnings : [];
}

describe('nodeMetadata', () => {
  it('takes ISTIO_META_ names without what they begin with, and no other', () => {
    const metadata = metadataOf({ env: { NOT_AN_ISTIO_META_foo: 'bar', ISTIO_META_foo: 'baz' } });
    expect(metadata).toMatchObject({ foo: 'baz' });
    expect(Object.keys(metadata).join()).not.toContain('ISTIO_META_');
  });

  it('has version and labels', () => {
    const metadata = metadataOf({
      env: { ISTIO_META_ISTIO_VERSION: '1.0.0', ISTIO_METAJSON_LABELS: '{"foo":"bar"}' },
    });
    expect(metadata).toMatchObject({ ISTIO_VERSION: '1.0.0', LABELS: { foo: 'bar' }, foo: 'bar' });
  });

  it.each([{}, { ISTIO_META_ISTIO_VERSION: '' }])(
    'has the version whose dialect it speaks if none is given: %j',
    (env) => {
      expect(metadataOf({ env })['ISTIO_VERSION']).toMatch(/^1\.26\.\d+$/);
    },
  );

  it('merges labels and annotations at the top', () => {
    const env = {
      ISTIO_METAJSON_LABELS: '{"l1":"v1","l2":"v2","istio":"sidecar"}',
      ISTIO_METAJSON_ANNOTATIONS: '{"istio.io/enable":"{20: 20}"}',
    };
    expect(metadataOf({ env })).toMatchObject({
      l1: 'v1',
      l2: 'v2',
      istio: 'sidecar',
      'istio.io/enable': '{20: 20}',
    });
  });

  it('leaves out JSON that does not parse, with a warning, and does not repeat it', () => {
    expect(warnings({ env: { ISTIO_METAJSON_X: '{"token": secret' } })).toEqual([
      `ISTIO_METAJSON_X: is not JSON, such as '{"app":"shop"}': it is left out`,
    ]);
  });

  it.each([
    ['ISTIO_METAJSON_X', '[1]', 'ISTIO_METAJSON_X: is not a JSON object'],
    ['ISTIO_METAJSON_X', 'null', 'ISTIO_METAJSON_X: is not a JSON object'],
    ['ISTIO_METAJSON_X', '', `ISTIO_METAJSON_X: is not JSON, such as '{"app":"shop"}'`],
    [
      'ISTIO_METAJSON_X',
      '{"a":'.repeat(40) + '1' + '}'.repeat(40),
      'ISTIO_METAJSON_X: is nested more than 30 levels deep',
    ],
    [
      'ISTIO_METAJSON_X',
      '{"a":' + '['.repeat(50_000) + ']'.repeat(50_000) + '}',
      'ISTIO_METAJSON_X: is nested more than 30 levels deep',
    ],
    ['ISTIO_META_SDS', 'maybe', 'ISTIO_META_SDS: SDS is not "true" or "false"'],
    ['ISTIO_METAJSON_X', '{"CLUSTER_ID":5}', 'ISTIO_METAJSON_X: CLUSTER_ID is not a text'],
    [
      'ISTIO_META_PLATFORM_METADATA',
      'x',
      'ISTIO_META_PLATFORM_METADATA: PLATFORM_METADATA is not an object',
    ],
    ['ISTIO_META_PROXY_CONFIG', 'x', 'ISTIO_META_PROXY_CONFIG: PROXY_CONFIG is not an object'],
    [
      'ISTIO_META_POD_PORTS',
      '[{',
      'ISTIO_META_POD_PORTS: POD_PORTS is not a text with a JSON list of ports',
    ],
    [
      'ISTIO_META_POD_PORTS',
      '[{"containerPort":"x"}]',
      'ISTIO_META_POD_PORTS: POD_PORTS is not a text with a JSON list of ports',
    ],
    ...['[null]', '[5]', '["http"]', '[[]]'].map((text) => [
      'ISTIO_META_POD_PORTS',
      text,
      'ISTIO_META_POD_PORTS: POD_PORTS is not a text with a JSON list of ports',
    ]),
  ])('names the variable of what it leaves out: %s=%s', (name, text, flaw) => {
    const env = { [name]: text, ISTIO_META_OTHER: 'x' };
    const member = / (\w+) is not .*(?:text|object|JSON list|"false")/.exec(flaw)?.[1] ?? 'it';
    expect(warnings({ env })).toEqual([`${flaw}: ${member} is left out`]);
    expect(metadataOf({ env })).toEqual(metadataOf({ env: { ISTIO_META_OTHER: 'x' } }));
  });

  it.each([
    ['ISTIO_META_LABELS', 'text', 'ISTIO_META_LABELS: LABELS is not an object of texts'],
    [
      'ISTIO_METAJSON_X',
      '{"LABELS":{"a":1}}',
      'ISTIO_METAJSON_X: LABELS is not an object of texts',
    ],
    ['ISTIO_METAJSON_X', '{"LABELS":["a"]}', 'ISTIO_METAJSON_X: LABELS is not an object of texts'],
    [
      'ISTIO_METAJSON_LABELS',
      '{"app": ',
      `ISTIO_METAJSON_LABELS: is not JSON, such as '{"app":"shop"}'`,
    ],
  ])(
    'has a problem with wrong labels, which say who may talk to the proxy: %s=%s',
    (name, text, problem) => {
      expect(problems({ env: { [name]: text } })).toEqual([problem]);
    },
  );

  it('names all problems at once', () => {
    expect(problems({ env: { ISTIO_META_LABELS: 'a', ISTIO_METAJSON_LABELS: '{' } })).toHaveLength(
      2,
    );
  });

  it('takes a member that is null for one that is not there', () => {
    expect(
      metadataOf({ env: { ISTIO_METAJSON_X: '{"LABELS":null,"CLUSTER_ID":null}' } }),
    ).toMatchObject({
      LABELS: null,
      CLUSTER_ID: null,
    });
  });

  it('has the texts of the environment whole', () => {
    expect(metadataOf({ env: { ISTIO_META_A: 'a=b=c', ISTIO_META_EMPTY: '' } })).toMatchObject({
      A: 'a=b=c',
      EMPTY: '',
    });
  });

  it('takes of the ISTIO_META_WORKLOAD variables the name alone', () => {
    const metadata = metadataOf({
      env: { ISTIO_META_WORKLOAD_NAME: 'web', ISTIO_META_WORKLOAD_X: 'y', ISTIO_META_OWNER: 'o' },
    });
    expect(metadata).toMatchObject({ WORKLOAD_NAME: 'web', OWNER: 'o' });
    expect(metadata).not.toHaveProperty('WORKLOAD_X');
  });

  it('lets the later of two variables win', () => {
    expect(metadataOf({ env: { ISTIO_META_A: '1', ISTIO_METAJSON_X: '{"A":2}' } })).toMatchObject({
      A: 2,
    });
    expect(metadataOf({ env: { ISTIO_METAJSON_X: '{"A":2}', ISTIO_META_A: '1' } })).toMatchObject({
      A: '1',
    });
  });

  it('has what the agent knows, whatever the environment says', () => {
    const metadata = metadataOf({
      env: {
        POD_NAME: 'pod',
        POD_NAMESPACE: 'ns',
        SERVICE_ACCOUNT: 'sa',
        ISTIO_META_NAME: 'x',
        ISTIO_META_CONFIG_NAMESPACE: 'x',
        ISTIO_META_INSTANCE_IPS: 'x',
        ISTIO_ADDITIONAL_METADATA_EXCHANGE_KEYS: 'MORE, AND_MORE,',
      },
      addresses: ['10.0.0.1', '10.0.0.2', '10.0.0.1'],
      platform: { gcp_project: 'p' },
      stsPort: 15_463,
    });
    expect(metadata).toMatchObject({
      NAME: 'pod',
      NAMESPACE: 'ns',
      CONFIG_NAMESPACE: 'ns',
      SERVICE_ACCOUNT: 'sa',
      INSTANCE_IPS: '10.0.0.1,10.0.0.2',
      PLATFORM_METADATA: { gcp_project: 'p' },
      STS_PORT: '15463',
      EXCHANGE_KEYS:
        'NAME,NAMESPACE,INSTANCE_IPS,LABELS,OWNER,PLATFORM_METADATA,WORKLOAD_NAME,MESH_ID,SERVICE_ACCOUNT,CLUSTER_ID,MORE,AND_MORE',
    });
  });

  it('leaves out what it does not know', () => {
    expect(Object.keys(metadataOf({}))).toEqual(['EXCHANGE_KEYS', 'ISTIO_VERSION', 'PROXY_CONFIG']);
    expect(metadataOf({ env: { ISTIO_META_NAME: 'given' } })).toMatchObject({ NAME: 'given' });
  });

  it('puts the labels of the pod before those of the environment, label by label', () => {
    const env = {
      ISTIO_METAJSON_LABELS: '{"a":"env","b":"env"}',
      ISTIO_METAJSON_X: '{"LABELS":{"c":"x"}}',
    };
    expect(metadataOf({ env, labels: { a: 'pod' } })['LABELS']).toEqual({
      a: 'pod',
      b: 'env',
      c: 'x',
    });
  });

  it('leaves out a label that is not a text, with a warning', () => {
    const outcome = result({ env: { ISTIO_METAJSON_LABELS: '{"a":1,"b":"2"}' } });
    expect(outcome).toMatchObject({ ok: true, metadata: { LABELS: { b: '2' } } });
    expect(outcome.ok && outcome.warnings).toEqual([
      'ISTIO_METAJSON_LABELS: the label a is left out: it is not a text',
    ]);
  });

  it('writes ports as Pilot reads them', () => {
    const ports =
      '[ {"protocol":"TCP","containerPort":80,"other":1}, {"name":"x","containerPort":81} ]';
    expect(metadataOf({ env: { ISTIO_META_POD_PORTS: ports } })['POD_PORTS']).toBe(
      '[{"containerPort":80,"protocol":"TCP"},{"name":"x","containerPort":81,"protocol":""}]',
    );
    expect(metadataOf({ env: { ISTIO_METAJSON_X: '{"POD_PORTS":5}' } })['POD_PORTS']).toBe(5);
  });

  it('takes proxyMetadata for environment, beneath the real one', () => {
    const config = {
      ...proxyConfig,
      proxyMetadata: { ISTIO_META_A: 'config', ISTIO_META_B: 'config', C: 'config' },
    };
    const metadata = metadataOf({ config, env: { ISTIO_META_A: 'env' } });
    expect(metadata).toMatchObject({ A: 'env', B: 'config' });
    expect(metadata).not.toHaveProperty('C');
  });

  it('tells no secret (the Go agent tells the access token)', () => {
    const tracing = {
      zipkin: undefined,
      datadog: undefined,
      stackdriver: undefined,
      openTelemetry: undefined,
      tlsSettings: undefined,
      lightstep: { address: 'a:1', accessToken: 'sesame', secure: false, cacertPath: '' },
    };
    const annotation = {
      'proxy.istio.io/config': 'tracing: {lightstep: {accessToken: sesame}}',
      'kubectl.kubernetes.io/last-applied-configuration': 'sesame',
    };
    const metadata = metadataOf({
      config: { ...proxyConfig, tracing, proxyMetadata: { TOKEN: 'sesame' } },
      env: {
        TOKEN: 'sesame',
        ISTIO_METAJSON_ANNOTATIONS: JSON.stringify({
          ...annotation,
          told: 'yes',
          ANNOTATIONS: annotation,
        }),
      },
      annotations: annotation,
    });
    expect(JSON.stringify(metadata)).not.toContain('sesame');
    expect(metadata).toMatchObject({
      told: 'yes',
      ANNOTATIONS: {},
      PROXY_CONFIG: { tracing: { lightstep: { address: 'a:1' } } },
    });
  });

  it('takes from the annotations of the pod what is about statistics, beneath the environment', () => {
    const annotations = {
      'sidecar.istio.io/statsInclusionPrefixes': 'pod',
      'sidecar.istio.io/extraStatTags': 'pod',
      'sidecar.istio.io/inject': 'true',
    };
    const metadata = metadataOf({
      annotations,
      env: { ISTIO_METAJSON_A: '{"sidecar.istio.io/extraStatTags":"env"}' },
    });
    expect(metadata).toMatchObject({
      'sidecar.istio.io/statsInclusionPrefixes': 'pod',
      'sidecar.istio.io/extraStatTags': 'env',
    });
    expect(metadata).not.toHaveProperty(['sidecar.istio.io/inject']);
  });

  it('is the same in whatever order it is told', () => {
    const first = metadataOf({
      env: { ISTIO_META_B: '1', ISTIO_METAJSON_LABELS: '{"y":"1","x":"2"}' },
    });
    const second = metadataOf({
      env: { ISTIO_METAJSON_LABELS: '{"x":"2","y":"1"}', ISTIO_META_B: '1' },
    });
    expect(JSON.stringify(first)).toBe(JSON.stringify(second));
  });

  it('takes a name that every object has for a name', () => {
    const metadata = metadataOf({
      env: {
        ISTIO_METAJSON_X: '{"__proto__":{"a":1},"constructor":"b"}',
        ISTIO_META_toString: 'c',
      },
    });
    expect(JSON.parse(JSON.stringify(metadata))).toEqual(
      JSON.parse(JSON.stringify({ ...metadata })),
    );
    expect(JSON.stringify(metadata)).toContain('"__proto__":{"a":1}');
    expect(metadata).toMatchObject({ constructor: 'b', toString: 'c' });
  });

  it('replaces half a character, which Envoy refuses', () => {
    expect(
      metadataOf({ env: { ISTIO_METAJSON_X: String.raw`{"a":"\ud800","\udc00":["\ud800"]}` } }),
    ).toMatchObject({
      a: '\ufffd',
      '\ufffd': ['\ufffd'],
    });
  });
});
