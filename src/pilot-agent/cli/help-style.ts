import type { Argument, HelpConfiguration, Option, OutputConfiguration } from 'commander';
import { hasColours, painted } from '../../shared/log/paint.ts';

/** Describes an option or argument, without its choices: the text already contains them. */
function described({ description, defaultValueDescription: standard }: Option | Argument): string {
  return standard === undefined ? description : `${description} (default: ${standard})`;
}

/** The colours of a page; commander removes them if the output has none. */
export const helpStyle: HelpConfiguration = {
  optionDescription: described,
  argumentDescription: described,
  styleTitle: (text) => painted('bold', text),
  styleCommandText: (text) => painted('bold', text),
  styleOptionText: (text) => painted('cyan', text),
  styleArgumentText: (text) => painted('cyan', text),
  styleSubcommandText: (text) => painted('cyan', text),
  styleOptionDescription: (text) =>
    text.replace(/\(default: [^)]*\)$/, (standard) => painted('gray', standard)),
};

/** Says whether a page has colours. */
export const helpColours: OutputConfiguration = {
  getOutHasColors: () => hasColours(process.stdout),
  getErrHasColors: () => hasColours(process.stderr),
};

/** Returns the examples of a page in the colours of a page. Pure. */
export function styledExamples(text: string): string {
  return text.replace(/^\w.*:$|^ {2}#.*$|^ {2}\$/gm, (piece) =>
    painted(piece.startsWith(' ') ? 'gray' : 'bold', piece),
  );
}
