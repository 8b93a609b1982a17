import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];
/** Returns text in a style if there are colours; otherwise returns the text. */
export type Paint = (style: Style, text: string) => string;

/**
 * Whether colours may be written to a stream: to a terminal that has them, or to anything if
 * `FORCE_COLOR` is set. `NO_COLOR`, `NODE_DISABLE_COLORS` and `TERM=dumb` turn them off, as in
 * Node.
 */
export function hasColours(
  stream: { readonly isTTY?: boolean },
  env: NodeJS.ProcessEnv = process.env,
): boolean {
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return !['0', 'false'].includes(forced);
  if ((env['NO_COLOR'] ?? '') !== '' || (env['NODE_DISABLE_COLORS'] ?? '') !== '') return false;
  return canRewrite(stream, env);
}

/** Whether a line of a stream can be rewritten: the stream is a terminal, and not a dumb one. */
export function canRewrite(
  { isTTY }: { readonly isTTY?: boolean },
  env: NodeJS.ProcessEnv = process.env,
): boolean {
  return isTTY === true && env['TERM'] !== 'dumb';
}

/** Returns the paint for a stream. */
export function paintFor(
  stream: { readonly isTTY?: boolean },
  env: NodeJS.ProcessEnv = process.env,
): Paint {
  return hasColours(stream, env) ? painted : (_, text) => text;
}

/**
 * Node itself would check stdout, whatever the target is; the types for Node 20 lack the option.
 */
const always = { validateStream: false };

/** Returns text in a style, for a caller that removes the styles if it must not write colours. */
export function painted(style: Style, text: string): string {
  return (styleText as (style: Style, text: string, options: typeof always) => string)(
    style,
    text,
    always,
  );
}
