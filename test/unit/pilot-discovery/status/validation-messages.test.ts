import { expect, it } from 'vitest';
import type { AnalysisFinding } from '../../../../src/pilot-discovery/analyze/finding.ts';
import { statusText } from '../../../../src/pilot-discovery/status/reduce-statuses.ts';
import { statusObject, statusParts } from '../../../../src/pilot-discovery/status/status-object.ts';
import { validationMessages } from '../../../../src/pilot-discovery/status/validation-messages.ts';

const finding = (more: Partial<AnalysisFinding>): AnalysisFinding => ({
  code: 'IST0101',
  key: 'VirtualService/a/one',
  origin: { source: 'Kubernetes', path: 'the Kubernetes API', line: 0 },
  field: 'spec.hosts',
  reason: 'it does not exist',
  ...more,
});

it('returns code, level, page and sentence of each finding of a source, in order', () => {
  const messages = validationMessages(
    [
      finding({ code: 'IST0133', field: '' }),
      finding({}),
      finding({ key: undefined }),
      finding({ origin: { source: 'rules', path: 'a.yaml', line: 1 } }),
    ],
    'Kubernetes',
  );
  const page = (code: string) => `https://istio.io/v1.26/docs/reference/config/analysis/${code}/`;
  expect([...messages]).toEqual([
    [
      'VirtualService/a/one',
      [
        {
          documentationUrl: page('ist0101'),
          level: 'ERROR',
          type: { code: 'IST0101', name: 'spec.hosts: it does not exist' },
        },
        {
          documentationUrl: page('ist0133'),
          level: 'WARNING',
          type: { code: 'IST0133', name: 'it does not exist' },
        },
      ],
    ],
  ]);
});

it('bounds the number of messages and their length, and breaks no character', () => {
  const many = Array.from({ length: 200 }, () => finding({ field: '', reason: '😀'.repeat(400) }));
  const [first, ...others] =
    validationMessages(
      [...many, finding({ field: '', reason: `a${'😀'.repeat(400)}` })],
      'Kubernetes',
    )
      .values()
      .next().value ?? [];
  expect(others).toHaveLength(99);
  expect(first?.type.name).toBe(`a${'😀'.repeat(255)}\uFFFD`);
});

it('reads a status as the API returns what was written', () => {
  const messages =
    validationMessages([finding({})], 'Kubernetes').get('VirtualService/a/one') ?? [];
  const object = {
    apiVersion: 'networking.istio.io/v1',
    kind: 'VirtualService',
    metadata: { name: 'o/ne', namespace: 'a', resourceVersion: '5', generation: 2, labels: {} },
    spec: {},
    status: {
      conditions: [],
      observedGeneration: '2',
      validationMessages: JSON.parse(JSON.stringify(messages)) as unknown,
    },
  };
  expect(statusObject(object)).toEqual({
    version: '5',
    path: '/apis/networking.istio.io/v1/namespaces/a/virtualservices/o%2Fne/status',
    generation: 2,
    status: statusText(2, messages),
  });
  expect(statusObject(statusParts(object))).toEqual(statusObject(object));
  expect(statusObject({ ...object, status: 'odd' }).status).not.toBe(statusText(2, []));
  const plurals = ['AuthorizationPolicy', 'Gateway', 'Telemetry'].map(
    (kind) => statusObject({ ...object, kind }).path.split('/')[6],
  );
  expect(plurals).toEqual(['authorizationpolicies', 'gateways', 'telemetries']);
});
