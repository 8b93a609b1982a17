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
];
