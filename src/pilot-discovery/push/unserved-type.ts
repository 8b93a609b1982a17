import type { Step } from '../../operators/reduce-with-effects.ts';
import type { EnvoyRequest } from '../../shared/xds/messages.ts';
import { clientLimits } from './client-limits.ts';
import type { Answer, ProxyEffect } from './proxy-stream.ts';

/** The largest number of unserved types that a client may request. Real clients request a few. */
const mostUnknown = clientLimits.unservedTypes.value;

/** Answers the first request for an unserved type without resources: so no client waits. Pure. */
export function unservedType<State extends { readonly unknown: ReadonlySet<string> }>(
  state: State,
  { typeUrl, names }: EnvoyRequest,
  snapshot: number,
): Step<State, ProxyEffect> {
  if (state.unknown.has(typeUrl)) return [state, []];
  if (state.unknown.size === mostUnknown)
    return [
      state,
      [
        {
          type: 'end',
          fault: 'limit',
          reason: `it asks for more than ${mostUnknown} types that are not served`,
        },
      ],
    ];
  const unknown = new Set(state.unknown).add(typeUrl);
  const answer: Answer = {
    typeUrl,
    nonce: 'none',
    version: '',
    resources: [],
    removed: [],
    snapshot,
    purpose: 'first',
  };
  return [
    { ...state, unknown },
    [
      { type: 'asked', typeUrl, names: new Set(names.kind === 'all' ? names.names : names.add) },
      { type: 'unknown-type', typeUrl },
      { type: 'answer', answer },
    ],
  ];
}
