import { describe, expect, it } from 'vitest';
import { keyOf } from '../../../../../src/pilot-discovery/istio/documents/model.ts';
import { initialView } from '../../../../../src/pilot-discovery/state/fold-view.ts';
import { narrateDiscovery } from '../../../../../src/pilot-discovery/state/narrate-discovery.ts';
import type { LogLine } from '../../../../../src/shared/log/log-line.ts';
import {
  readResources,
  readResourcesInSteps,
} from '../../../../../src/pilot-discovery/istio/documents/read-resources.ts';
import {
  digestOf,
  type FileContent,
  readFileContent,
} from '../../../../../src/pilot-discovery/registry/files/file-content.ts';
import { atOnce } from '../../../../../src/shared/text/steps.ts';
import {
  emptyStore,
  reduceStore,
  type Store,
} from '../../../../../src/pilot-discovery/environment/store.ts';

const place = { source: 'files', path: 'f.yaml', defaultNamespace: 'default' };

/** Returns the content of a file after its versions were written, one after the other. */
function after(...versions: readonly string[]): FileContent | undefined {
  let content: FileContent | undefined;
  for (const text of versions) {
    const reading = readFileContent(
      content,
      Buffer.from(text),
      digestOf(Buffer.from(text)),
      place,
      readResourcesInSteps,
    );
    content = atOnce(reading);
  }
  return content;
}

const foreign = {
  'a ConfigMap': [
    'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: web }\ndata: { a: b }\n',
    'ConfigMap (v1) is not a rule of Istio',
  ],
  'a Service of Knative': [
    'apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: { name: web }\nspec: {}\n',
    'Service (serving.knative.dev/v1) is not a rule of Istio',
  ],
  'a Deployment': [
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web }\n',
    'Deployment (apps/v1) is not a rule of Istio',
  ],
  'an HTTPRoute': [
    'apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: { name: web }\n',
    'HTTPRoute (gateway.networking.k8s.io/v1) is of the Gateway API, which is not served',
  ],
  'a Gateway of the Gateway API': [
    'apiVersion: gateway.networking.k8s.io/v1beta1\nkind: Gateway\nmetadata: { name: web }\n',
    'Gateway (gateway.networking.k8s.io/v1beta1) is of the Gateway API, which is not served',
  ],
  'an IstioOperator': [
    'apiVersion: install.istio.io/v1alpha1\nkind: IstioOperator\nspec: { profile: default }\n',
    'IstioOperator (install.istio.io/v1alpha1) is not a rule of Istio',
  ],
  'values of a chart': ['replicas: 2\nimage: { tag: v1 }\n', 'it has neither apiVersion nor kind'],
} as const;
const istioResources = {
  'a VirtualService':
    'apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: { name: a }\nspec: { hosts: [a.mesh], http: [{ route: [{ destination: { host: a.mesh } }] }] }\n',
  'a PeerAuthentication':
    'apiVersion: security.istio.io/v1\nkind: PeerAuthentication\nmetadata: { name: a }\nspec: { mtls: { mode: STRICT } }\n',
};

describe.each(Object.entries(foreign))('%s in a file', (_, [manifest, reason]) => {
  it('is passed over, and is not an error', () => {
    const { resources, flaws } = readResources(manifest, place);
    expect(resources).toEqual([]);
    expect(flaws).toMatchObject([{ severity: 'info', reason }]);
  });

  it.each(Object.entries(istioResources))(
    'leaves %s in force no longer than it is there',
    (_name, resource) => {
      const both = after(`${manifest}---\n${resource}`);
      expect(both?.resources.map(keyOf)).toHaveLength(1);
      for (const without of [manifest, `# another\n${manifest}`]) {
        const gone = after(`${manifest}---\n${resource}`, without);
        expect([gone?.resources, [...(gone?.kept.keys() ?? [])]]).toEqual([[], []]);
      }
    },
  );
});

it.each([
  [
    'a misspelt kind',
    'apiVersion: networking.istio.io/v1\nkind: VirtualServic\nmetadata: { name: a }\n',
  ],
  ['a rule without a kind', 'apiVersion: networking.istio.io/v1\nmetadata: { name: a }\n'],
  ['a rule without a version', 'kind: AuthorizationPolicy\nmetadata: { name: a }\nspec: {}\n'],
  ['the first letters of a rule', 'apiV'],
  ['a list', '- a\n'],
  ['a rule without both', 'metadata: { name: a }\nspec: { hosts: [a.mesh] }\n'],
])('%s is an error', (_, text) => {
  expect(readResources(text, place).flaws.slice(0, 1)).toMatchObject([{ severity: 'error' }]);
});

describe('the log', () => {
  const afterTold = (
    before: Store | undefined,
    text: string,
  ): readonly [Store, readonly LogLine[]] => {
    const event = {
      type: 'flaws',
      source: 'files',
      flaws: readResources(text, place).flaws,
    } as const;
    const [store, changes] = reduceStore(before ?? emptyStore(['files']), event);
    const view = { ...initialView, ...(before && { store: before }) };
    return [store, narrateDiscovery(view, { type: 'source-event', event, store, changes }, 0, 0)];
  };

  it('has one line for all of them, with counts, and none for those that it has told', () => {
    const manifests = Object.values(foreign).map(([text]) => text);
    const text = [
      ...Array.from({ length: 1_000 }, () => foreign['a Deployment'][0]),
      ...manifests,
    ].join('---\n');
    const [store, lines] = afterTold(undefined, text);
    expect(lines).toEqual([
      {
        level: 'info',
        event: 'discovery.passed_over',
        msg: 'documents that are not Istio rules are skipped',
        documents: 1_007,
        reasons: [
          '1001× Deployment (apps/v1) is not a rule of Istio',
          ...Object.values(foreign).flatMap(([, reason]) =>
            reason.startsWith('Deployment') ? [] : [`1× ${reason}`],
          ),
        ],
      },
    ]);
    expect(afterTold(store, text)[1]).toEqual([]);
  });

  it('has a hundred lines of what is wrong in one reading, errors first', () => {
    const rule = (name: number, spec: string) =>
      `apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: { name: s-${name} }\nspec: ${spec}\n`;
    const names = Array.from({ length: 150 }, (_, index) => index);
    const text = [
      ...names.map((name) => rule(name, '{ egress: [] }')),
      ...names.map((name) => rule(200 + name, '7')),
    ].join('---\n');
    const [, lines] = afterTold(undefined, text);
    expect(lines).toHaveLength(101);
    expect(new Set(lines.map(({ level }) => level))).toEqual(new Set(['error']));
    expect(lines.at(-1)).toMatchObject({
      reason: expect.stringMatching(/^\d+ more: \/debug\/flawz has all$/) as string,
    });
  });
});
