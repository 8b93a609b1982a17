import type { PlacedMutant } from '../mutant.ts';

export const kube: readonly PlacedMutant[] = [
  {
    id: 'kube/token-over-http',
    file: 'shared/kube/kubeconfig.ts',
    find: "token !== '' || key !== undefined",
    replace: 'key !== undefined',
  },
  {
    id: 'kube/unchecked-server',
    file: 'shared/kube/kubeconfig.ts',
    find: "'insecure-skip-tls-verify', 'proxy-url');",
    replace: "'proxy-url');",
  },
  {
    id: 'kube/key-as-text',
    file: 'shared/kube/secret-bytes.ts',
    find: 'end - position > shortest && isData(path)',
    replace: 'false',
  },
  {
    id: 'kube/annotations',
    file: 'shared/kube/secret-bytes.ts',
    find: "path.at(-1) === 'annotations'",
    replace: 'false',
  },
  {
    id: 'kube/connection-once',
    file: 'shared/kube/kube-api.ts',
    find: '(agent ??= new',
    replace: '(agent = new',
  },
  {
    id: 'kube/silent-connection',
    file: 'shared/kube/kube-api.ts',
    find: "type !== 'silent', true",
    replace: 'true, true',
  },
  {
    id: 'kube/broken-watch',
    file: 'shared/kube/kube-api.ts',
    find: "sign.type === 'refused' && index > 0",
    replace: 'false',
  },
  {
    id: 'kube/gone-waits',
    file: 'shared/kube/follow-state.ts',
    find: 'status === gone && !before.isForgotten',
    replace: 'false',
  },
  {
    id: 'kube/gone-in-a-circle',
    file: 'shared/kube/follow-state.ts',
    find: 'status === gone && !before.isForgotten',
    replace: 'status === gone',
  },
  {
    id: 'kube/bookmark',
    file: 'shared/kube/follow-state.ts',
    find: "typeof version === 'string' ? {",
    replace: "type !== 'BOOKMARK' ? {",
  },
  {
    id: 'kube/early-end',
    file: 'shared/kube/follow-state.ts',
    find: 'lasted < early',
    replace: 'false',
  },
  {
    id: 'kube/backup',
    file: 'shared/kube/follow-state.ts',
    find: 'version: undefined, // the API may have another history now',
    replace: 'version: status === undefined ? before.version : undefined,',
  },
  {
    id: 'kube/list-of-differences',
    file: 'shared/kube/object-store.ts',
    find: 'before?.resourceVersion === resourceVersion',
    replace: 'false',
  },
  {
    id: 'kube/list-without',
    file: 'shared/kube/object-store.ts',
    find: '!listedKeys.has(key)',
    replace: 'false',
  },
  {
    id: 'kube/backup-version',
    file: 'pilot-discovery/registry/kubernetes/objects-state.ts',
    find: 'isTrusted && before?.resourceVersion',
    replace: 'before?.resourceVersion',
  },
  {
    id: 'kube/refusals-one-by-one',
    file: 'pilot-discovery/registry/kubernetes/objects-state.ts',
    find: "progress === 'asked' && trouble === undefined;",
    replace: 'false;',
  },
  {
    id: 'kube/refusals-again',
    file: 'pilot-discovery/registry/kubernetes/objects-state.ts',
    find: "isNews ? 'lost' : 'still-lost'",
    replace: "'lost'",
  },
  {
    id: 'kube/pages-without-end',
    file: 'shared/kube/list.ts',
    find: 'none.pages >= most.pages',
    replace: 'false',
  },
  { id: 'kube/last-page', file: 'shared/kube/list.ts', find: "read.next === ''", replace: 'true' },
];
