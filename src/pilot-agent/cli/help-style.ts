import type { Argument, HelpConfiguration, Option, OutputConfiguration } from 'commander';
import { hasColours, painted } from '../../shared/log/paint.ts';

/** Choices are in the text already. */
function described({ description, defaultValueDescription: standard }: Option | Argument): string {
  return standard === undefined ? description : `${description} (default: ${standard})`;
}

/** How a page is painted; commander takes the colours out again where there are none. */
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

/** Where a page has colours. */
export const helpColours: OutputConfiguration = {
  getOutHasColors: () => hasColours(process.stdout),
  getErrHasColors: () => hasColours(process.stderr),
};

/** The examples of a page, painted as a page is. Pure. */
export function styledExamples(text: string): string {
  return text.replace(/^\w.*:$|^ {2}#.*$|^ {2}\$/gm, (piece) =>
    painted(piece.startsWith(' ') ? 'gray' : 'bold', piece),
  );
}
