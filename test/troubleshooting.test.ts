import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { flaws, loggedFlaws } from '../src/pilot-agent/check/finding.ts';
import { seeAlso, troubleshooting } from '../src/shared/log/see-also.ts';
import { describedEvents } from '../scripts/docs/log-events.ts';
import { exitCodes, seeExit } from '../src/shared/program/exit.ts';
import { reasonName } from '../src/pilot-agent/report/reason-name.ts';

const page = 'docs/troubleshooting.md';
const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !name.startsWith('proto'),
);

function walk(file: string, visit: (node: ts.Node) => void): void {
  const down = (node: ts.Node): void => {
    visit(node);
    ts.forEachChild(node, down);
  };
  down(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true));
}

/** Returns the reasons of a file, as far as they do not vary. */
function reasons(file: string): readonly string[] {
  const texts: string[] = [];
  walk(file, (node) => {
    const isText =
      ts.isStringLiteral(node) ||
      ts.isNoSubstitutionTemplateLiteral(node) ||
      ts.isTemplateHead(node);
    if (
      isText &&
      !ts.isImportDeclaration(node.parent) &&
      (node.text.includes(' ') || ['draining', 'terminating'].includes(node.text))
    )
      texts.push(node.text);
  });
  return texts;
}

interface Entry {
  readonly anchor: string;
  readonly text: string;
}

function entries(heading: string): readonly Entry[] {
  const [, below = ''] = readFileSync(page, 'utf8').split(`\n## ${heading}\n`);
  const [section = ''] = below.split(/^## /m);
  return section
    .split(/^### /m)
    .slice(1)
    .map((text) => ({
      anchor: (text.split('\n')[0] ?? '').toLowerCase().replaceAll(' ', '-'),
      text,
    }));
}

const anchors = (heading: string) => entries(heading).map(({ anchor }) => anchor);
const anchorOf = (see: string | undefined) => (see ?? '').replace(`${page}#`, '');

describe(page, () => {
  it('has each reason for not being ready or live, and no other', () => {
    const names = ['status/probe/readiness', 'status/probe/liveness', 'run/state/secret-troubles']
      .flatMap((file) => reasons(`src/pilot-agent/${file}.ts`))
      .map((reason) => reasonName(reason))
      .filter((name) => name !== '');
    expect(names).toEqual(
      expect.arrayContaining([
        'waiting-for',
        'envoy-does-not-answer',
        'envoy-is-not-running',
        'envoy-hangs',
      ]),
    );
    expect([...anchors('The agent is not ready')].sort()).toEqual([...new Set(names)].sort());
  });

  it('has each exit code, in the order of the codes, and no other', () => {
    const codes = [...Object.values<number>(exitCodes).map(seeExit), seeExit(139)].map(anchorOf);
    expect(anchors('The agent has ended')).toEqual(
      codes.map((anchor) => (anchor === '' ? 'exit-0' : anchor)),
    );
  });

  it('has each event of a line that warns or tells an error, and no other', () => {
    const see = describedEvents().flatMap(({ event, levels }) =>
      levels.flatMap((level) => seeAlso({ level, event }) ?? []).map(anchorOf),
    );
    expect(anchors('Log events')).toEqual([...new Set(see)].sort());
  });

  it('has each flaw that check finds and no line of the log tells, and no other', () => {
    expect(anchors('What check finds')).toEqual(
      [...flaws].map((flaw) => anchorOf(troubleshooting(flaw))),
    );
    expect([...flaws].sort()).toEqual(flaws);
    const loggedAnchors = loggedFlaws.map((event) => anchorOf(troubleshooting(event)));
    expect(loggedAnchors.filter((anchor) => !anchors('Log events').includes(anchor))).toEqual([]);
  });

  it('has no flaw that check does not find', () => {
    const findingNames = new Set<string>();
    for (const source of sources.filter((name) => name.startsWith('pilot-agent/check/'))) {
      walk(join('src', source), (node) => {
        if (ts.isCallExpression(node) && /(?:^|\.)(?:warn|fail)$/.test(node.expression.getText()))
          for (const name of [...node.getText().matchAll(/^\S*?\((?:\s*)'([\w. ]+)'/g)])
            findingNames.add(name[1] ?? '');
      });
    }
    expect([...findingNames].sort()).toEqual([...flaws, ...loggedFlaws].sort());
  });

  it('says of each what is seen, why, what to look at and what to do', () => {
    const all = [
      'The agent is not ready',
      'The agent has ended',
      'What check finds',
      'Log events',
    ].flatMap(entries);
    const labels = ['You see', 'Cause', 'Command', 'Fix'];
    const labelsOf = ({ text }: Entry) =>
      [...text.matchAll(/^- \*\*(.*?):\*\*/gm)].map(([, label]) => label);
    expect(
      all.filter((entry) => labelsOf(entry).join() !== labels.join()).map(({ anchor }) => anchor),
    ).toEqual([]);
  });

  it('names in each entry of an event its code', () => {
    const without = entries('Log events').filter(({ anchor, text }) => {
      const [, code = ''] = /\*\*You see:\*\* `([\w.]+)`/.exec(text) ?? [];
      return code.replace(/[._]/g, '-') !== anchor;
    });
    expect(without.map(({ anchor }) => anchor)).toEqual([]);
  });
});
