import type { Content } from '../config/layers.ts';

/** What a text of YAML says, of which JSON is a part; an empty text says null. The parser of YAML is loaded only for what is no JSON. */
export async function parseText(text: string): Promise<Content> {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return parseYaml(text);
  }
}

async function parseYaml(text: string): Promise<Content> {
  const { LineCounter, parseDocument } = await import('yaml');
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, merge: true, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = lineCounter.linePos(error.pos[0]);
    return { ok: false, reason: `line ${line}, column ${col}: ${withoutContent(error.message)}` };
  }
  try {
    return { ok: true, value: document.toJS() as unknown };
  } catch (error) {
    return { ok: false, reason: withoutContent((error as Error).message) }; // an alias without its anchor, or too many
  }
}

/** Some messages end with what was found there, which may be a secret. */
function withoutContent(message: string): string {
  return message.replace(/:? ["'].*$/s, '');
}
