import type { Json } from './json.ts';
import type { StatsInclusion } from './stats-inclusion.ts';
import type { statsTags } from './stats-tags.ts';

/** Envoy's `stats_config`: which statistics there are, and how labels are taken out of their names. Pure. */
export function statsConfig(tags: ReturnType<typeof statsTags>, { prefixes, suffixes, regexes }: StatsInclusion): Json {
  return {
    use_all_default_tags: false,
    stats_tags: tags,
    stats_matcher: {
      inclusion_list: {
        patterns: [
          { prefix: 'reporter=' },
          ...prefixes.map((prefix) => ({ prefix })),
          ...suffixes.map((suffix) => ({ suffix })),
          ...regexes.map((regex) => ({ safe_regex: { regex } })),
          { prefix: 'component' },
        ],
      },
    },
  };
}
