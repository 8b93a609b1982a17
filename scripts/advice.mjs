import { readFileSync } from 'node:fs';

const sections = ['The agent is not ready', 'Log events'];

/**
 * The cause, command and fix in docs/troubleshooting.md of each problem that the page may show, by
 * anchor. Only the text of a link stays, because the page has no links.
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
