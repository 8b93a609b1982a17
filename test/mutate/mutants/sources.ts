import type { Mutant } from '../mutant.ts';

export const sources: readonly Mutant[] = [
  { id: 'sources/http-known', file: 'sources/http.ts', find: 'server.ask(last?.known ?? {})', replace: 'server.ask({})' },
  { id: 'sources/http-forgets', file: 'sources/http.ts', find: 'last = undefined; // nor', replace: '// nor' },
  { id: 'sources/http-sure-time', file: 'sources/http.ts', find: '>= 1_000', replace: '>= 0' },
  { id: 'sources/http-jitter', file: 'sources/http.ts', find: 'jitter(every, spread, random())', replace: 'every' },
  { id: 'sources/http-secret-bytes', file: 'sources/http.ts', find: "as === 'secret' ? answer.body : textOf", replace: 'textOf' },
  {
    id: 'sources/unpacked-size',
    file: 'sources/fetched.ts',
    find: 'bodyOf(decoded(answer), largest)',
    replace: 'bodyOf(decoded(answer), 1 << 30)',
  },
  {
    id: 'sources/shown-query',
    file: 'sources/fetched.ts',
    find: '${host}${pathname}',
    replace: '${host}${pathname}${new URL(url).search}',
  },
  { id: 'sources/consul-back', file: 'sources/blocking-queries.ts', find: 'now < from ? 0 : now', replace: 'now' },
  { id: 'sources/consul-zero', file: 'sources/blocking-queries.ts', find: 'Math.max(index, 1)', replace: 'index' },
  { id: 'sources/consul-owed', file: 'sources/blocking-queries.ts', find: 'paid - costs.owed', replace: 'paid' },
  { id: 'sources/consul-from', file: 'sources/blocking-queries.ts', find: 'from === 0 ? timeout : most', replace: 'timeout' },
  { id: 'sources/consul-below', file: 'sources/consul.ts', find: '!key.startsWith(below)', replace: '!key.startsWith(prefix)' },
  {
    id: 'sources/consul-leader',
    file: 'sources/consul.ts',
    find: "['x-consul-knownleader'] === 'false'",
    replace: "['x-consul-knownleader'] === '0'",
  },
  { id: 'sources/keeps-last', file: 'sources/source.ts', find: 'keepLastOnError ? before : unread', replace: 'unread' },
  { id: 'sources/missed-occasion', file: 'operators/repeat-on.ts', find: 'isAsked ? 0 : pause()', replace: 'pause()' },
  { id: 'sources/compose-guard', file: 'sources/compose.ts', find: 'tap((reading) => (last = reading)),', replace: '' },
  { id: 'sources/gate-holds', file: 'sources/combinators.ts', find: 'reading: last ?? readingOf([])', replace: 'reading: readingOf([])' },
  {
    id: 'sources/replayed-change',
    file: 'operators/shared-state.ts',
    find: 'filter((state) => state !== known)',
    replace: 'filter(() => true)',
  },
  { id: 'sources/runtime-hash', file: 'run/shape-source.ts', find: "use === 'restart' ?", replace: "use !== 'secret' ?" },
  {
    id: 'sources/runtime-taken-back',
    file: 'run/runtime-settings.ts',
    find: "wanted.values[key] ?? ''",
    replace: "wanted.values[key] ?? '0'",
  },
  { id: 'sources/runtime-per-epoch', file: 'run/apply-runtime.ts', find: 'told?.epoch === wish.epoch ? told.settings : noSettings', replace: 'told?.settings ?? noSettings' }, // prettier-ignore
  {
    id: 'sources/awaited-fallback',
    file: 'run/awaited-sources.ts',
    find: "customConfigFile === '' ? missing(config) : []",
    replace: 'missing(config)',
  },
];
