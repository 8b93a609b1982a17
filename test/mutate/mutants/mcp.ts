import type { PlacedMutant } from '../mutant.ts';

export const mcp: readonly PlacedMutant[] = [
  {
    id: 'mcp/nobody-in-plain-text',
    file: 'pilot-discovery/identity/config-access.ts',
    find: "plaintext === 'anyone' ? undefined",
    replace: "plaintext !== '' ? undefined",
  },
  {
    id: 'mcp/account-of-another-namespace',
    file: 'pilot-discovery/identity/config-access.ts',
    find: 'accounts.has(account)',
    replace: "[...accounts].some((name) => name.endsWith('/' + caller.serviceAccount))",
  },
  {
    id: 'mcp/no-secrets',
    file: 'pilot-discovery/push/reduce-config.ts',
    find: 'typeUrl === secretTypeUrl',
    replace: 'false',
  },
  {
    id: 'mcp/waits-for-the-view',
    file: 'pilot-discovery/push/reduce-config.ts',
    find: '{ ...state, waiting: [...state.waiting, request] }',
    replace: 'state',
  },
  {
    id: 'mcp/most-waiting',
    file: 'pilot-discovery/push/reduce-config.ts',
    find: 'state.waiting.length === mostWaiting',
    replace: 'false',
  },
  {
    id: 'mcp/unsent-reason',
    file: 'pilot-discovery/push/reduce-config.ts',
    find: 'waitsFor !== before.waitsFor',
    replace: 'false',
  },
  {
    id: 'mcp/first-answer-is-empty',
    file: 'pilot-discovery/push/config-offers.ts',
    find: '=== 0 && subscription.answers > 0',
    replace: '=== 0',
  },
  {
    id: 'mcp/whole-answer',
    file: 'pilot-discovery/push/config-offers.ts',
    find: 'isDelta ? [...given.values()] : whole',
    replace: '[...given.values()]',
  },
  {
    id: 'mcp/removed-by-name',
    file: 'pilot-discovery/push/config-offers.ts',
    find: 'isDelta ? [...new Set([...removed, ...absent])] : []',
    replace: '[]',
  },
  {
    id: 'mcp/all-after-nack',
    file: 'pilot-discovery/push/config-offers.ts',
    find: "holdsBack: 'whole'",
    replace: "holdsBack: 'each'",
  },
  {
    id: 'mcp/known-by-its-first-node',
    file: 'pilot-discovery/push/reduce-call.ts',
    find: "config !== undefined || proxy.isKnown || event.type !== 'request'",
    replace: "config !== undefined || event.type !== 'request'",
  },
  {
    id: 'mcp/refused-is-its-document',
    file: 'pilot-discovery/mcp/write-body.ts',
    find: "verdict === 'refused'",
    replace: 'false',
  },
  {
    id: 'mcp/kept-objects',
    file: 'pilot-discovery/mcp/config-views.ts',
    find: 'isSame ? before.part.types.get(typeUrl) : undefined',
    replace: 'undefined',
  },
  {
    id: 'mcp/namespaces-of-a-reader',
    file: 'pilot-discovery/mcp/config-views.ts',
    find: "namespaces.has(name.slice(0, name.indexOf('/')))",
    replace: 'namespaces.size > 0',
  },
  {
    id: 'mcp/document-of-another-kind',
    file: 'pilot-discovery/registry/mcp/read-answer.ts',
    find: "document['kind'] !== kind",
    replace: 'false',
  },
  {
    id: 'mcp/sidecars-first',
    file: 'pilot-discovery/registry/mcp/reduce-mcp.ts',
    find: "order === 'all at once' ? []",
    replace: "order !== '' ? []",
  },
  {
    id: 'mcp/version-when-it-comes-back',
    file: 'pilot-discovery/registry/mcp/reduce-mcp.ts',
    find: "versions.get(kind) ?? '' }),",
    replace: "'' }),",
  },
  {
    id: 'mcp/sidecars-of-others',
    file: 'pilot-discovery/registry/mcp/needed-namespaces.ts',
    find: 'given.includes(resource.namespace)',
    replace: 'given.length > 0',
  },
  {
    id: 'mcp/any-namespace',
    file: 'pilot-discovery/registry/mcp/needed-namespaces.ts',
    find: "sidecarNamespaces.includes('*')",
    replace: 'false',
  },
  {
    id: 'mcp/waypoint',
    file: 'pilot-discovery/registry/mcp/mcp-source.ts',
    find: 'id: `waypoint~',
    replace: 'id: `sidecar~',
  },
];
