import { readFileSync } from 'node:fs';
import { expect, expectTypeOf, it } from 'vitest';
import { settingsPath, settingsText } from '../../../../scripts/settings.ts';
import type { AgentSettings, Duration } from '../../../../src/pilot-agent/config/agent-settings.ts';
import type { Flag } from '../../../../src/shared/text/flag.ts';
import { flags } from '../../../../src/pilot-agent/config/flags.ts';
import { logFlags } from '../../../../src/shared/log/log-flags.ts';

/** A value of a flag, by its kind. */
type ValueOf<F extends Flag> = F['value'] extends 'duration'
  ? Duration
  : F['value'] extends 'bool'
    ? boolean
    : F['value'] extends 'port' | 'n' | 'days' | 'megabytes'
      ? number | `${number}`
      : F['value'] extends 'levels'
        ? string
        : F extends { readonly choices: readonly (infer Choice extends string)[] }
          ? F['value'] extends 'level'
            ? Choice | `${Choice},${string}`
            : Choice
          : F['text'] extends `${string}may be repeated`
            ? string | readonly string[]
            : string;

type ValuesOf<Table extends Readonly<Record<string, Flag>>> = {
  readonly [Name in keyof Table]?: ValueOf<Table[Name]>;
};

it('is what the flags make of it: run `npm run schema`', async () => {
  expect(readFileSync(settingsPath, 'utf8')).toBe(await settingsText());
});

it('has a type by its kind for each flag, and no other member', () => {
  type Flags = ValuesOf<typeof flags> & ValuesOf<typeof logFlags>;
  expectTypeOf<Omit<AgentSettings, 'role'>>().branded.toEqualTypeOf<Flags>();
});

it('has a doc comment for each flag, which says what it means', () => {
  const comments = new Map(
    [
      ...readFileSync(settingsPath, 'utf8').matchAll(
        /\/\*\*((?:(?!\*\/)[^])*)\*\/\s+readonly '?([\w-]+)'?\?:/g,
      ),
    ].map(([, comment = '', name = '']) => [
      name,
      comment
        .replace(/\n\s+\*/g, '')
        .replace(/\s+/g, ' ')
        .toLowerCase(),
    ]),
  );
  for (const [name, flag] of Object.entries<Flag>({ ...flags, ...logFlags })) {
    expect(comments.get(name)).toContain(flag.text.toLowerCase());
    if (flag.default !== '')
      expect(comments.get(name)).toContain(`\`${flag.default.toLowerCase()}\` if left out.`);
  }
});
