/**
 * The text of a line, and its level. A text that varies is made from the arguments of the writer.
 */
export interface Sentence<Text extends FixedOrMade = FixedOrMade> {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  readonly msg: Text;
}

type FixedOrMade = string | ((...given: never[]) => string);

/** The texts of an event: one text, or several by a key. */
export type Sentences = Sentence | Readonly<Record<string, Sentence>>;

/** The arguments of a writer beside the fields: the key, and the values of the text. */
export type Given<S> =
  S extends Sentence<infer Text>
    ? Text extends (...given: infer Values) => string
      ? Values
      : []
    : { [Key in keyof S]: [key: Key, ...values: Given<S[Key]>] }[keyof S];

const at =
  (level: Sentence['level']) =>
  <Text extends FixedOrMade>(msg: Text): Sentence<Text> => ({ level, msg });

export const debug = at('debug');
export const info = at('info');
export const warn = at('warn');
export const error = at('error');
export const fatal = at('fatal');

/** A text of another program, at the level of that program. */
const said = (message: string) => message;
export const passedOn = {
  trace: at('trace')(said),
  debug: debug(said),
  info: info(said),
  warn: warn(said),
  error: error(said),
  fatal: fatal(said),
};
