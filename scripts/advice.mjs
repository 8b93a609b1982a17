import { readFileSync } from 'node:fs';

const sections = ['The agent is not ready', 'Log events'];

/**
 * What docs/troubleshooting.md says of each thing that the page may show: cause, command and fix,
 * by anchor. Links are their words, for the page leads nowhere.
 */
export function advice(page = readFileSync('docs/troubleshooting.md', 'utf8')) {
  const all = page
    .split(/^## /m)
    .filter((text) => sections.some((name) => text.startsWith(`${name}\n`)));
  const entries = all.flatMap((text) => text.split(/^### /m).slice(1));
  return Object.fromEntries(
    entries.map((text) => {
      const anchor = text.slice(0, text.indexOf('\n')).toLowerCase().replaceAll(' ', '-');
      const partOf = (name) => {
        const [, words = ''] =
          new RegExp(`^- \\*\\*${name}:\\*\\* ([^]*?)(?=\\n- \\*\\*|\\n\\n|$(?![^]))`, 'm').exec(
            text,
          ) ?? [];
        return words
          .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
          .replace(/\s+/g, ' ')
          .trim();
      };
      return [anchor, { cause: partOf('Cause'), command: partOf('Command'), fix: partOf('Fix') }];
    }),
  );
}
