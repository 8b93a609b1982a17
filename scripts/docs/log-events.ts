import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { Sentence, Sentences } from '../../src/shared/log/catalogue/sentence.ts';
import { type LogEvent, logEvents } from '../../src/shared/log/log-event.ts';

/** An event of the catalogue, as the reference describes it. */
export interface DescribedEvent {
  readonly event: LogEvent;
  /** The levels of its lines, the lowest first. */
  readonly levels: readonly Sentence['level'][];
  /** The comment above it; empty if there is none. */
  readonly meaning: string;
}

const folder = 'src/shared/log/catalogue';
const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

/**
 * The comments of the catalogue, by event. They are read from the source because the bundle has no
 * comments.
 */
function meanings(): ReadonlyMap<string, string> {
  const meaningsByEvent = new Map<string, string>();
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node) && ts.isStringLiteral(node.name)) {
      const comments = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
      const text = comments.map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '').join(' ');
      meaningsByEvent.set(node.name.text, text.replace(/\s+/g, ' '));
    }
    ts.forEachChild(node, visit);
  };
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name), 'utf8');
    visit(ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true));
  }
  return meaningsByEvent;
}

const isOne = (sentences: Sentences): sentences is Sentence => 'msg' in sentences;

/** All events of the log, in the order of the catalogue. */
export function describedEvents(): readonly DescribedEvent[] {
  const meaning = meanings();
  return Object.entries<Sentences>(logEvents).map(([event, sentences]) => {
    const all = isOne(sentences) ? [sentences] : Object.values(sentences);
    return {
      event: event as LogEvent,
      levels: levels.filter((level) => all.some((sentence) => sentence.level === level)),
      meaning: meaning.get(event) ?? '',
    };
  });
}
