/** What a line says, and how bad that is. A text that varies is made of what the writer gives. */
export interface Sentence<Text extends FixedOrMade = FixedOrMade> {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  readonly msg: Text;
}

type FixedOrMade = string | ((...given: never[]) => string);

/** What the lines of an event say: always the same, or one of these, by a key. */
export type Sentences = Sentence | Readonly<Record<string, Sentence>>;

/** What the writer of a line gives beside its fields: the key, and what the text is made of. */
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

/** What another program says, at the level that it says. */
const said = (message: string) => message;
export const passedOn = {
  trace: at('trace')(said),
  debug: debug(said),
  info: info(said),
  warn: warn(said),
  error: error(said),
  fatal: fatal(said),
};
