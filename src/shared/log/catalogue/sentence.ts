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

const atLevel =
  (level: Sentence['level']) =>
  <Text extends FixedOrMade>(msg: Text): Sentence<Text> => ({ level, msg });

export const debug = atLevel('debug');
export const info = atLevel('info');
export const warn = atLevel('warn');
export const error = atLevel('error');
export const fatal = atLevel('fatal');

/** A text of another program, at the level of that program. */
const verbatim = (message: string) => message;
export const passedOn = {
  trace: atLevel('trace')(verbatim),
  debug: debug(verbatim),
  info: info(verbatim),
  warn: warn(verbatim),
  error: error(verbatim),
  fatal: fatal(verbatim),
};
