import { CommanderError } from 'commander';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';

/**
 * Returns the exit code for an error, and the message: one line for a mistake of the user, with the
 * relevant lines of a text, or a stack trace for a bug.
 */
export function ending(error: unknown): readonly [code: number, why?: string, excerpt?: string] {
  if (error instanceof Fatal) {
    const { code, message, excerpt } = error;
    if (message === '') return [code];
    return excerpt === undefined ? [code, oneLine(message)] : [code, oneLine(message), excerpt];
  }
  if (error instanceof CommanderError)
    return [error.exitCode === 0 ? exitCodes.ok : exitCodes.usage]; // a page has been printed
  return [
    exitCodes.software,
    `this is a bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  ];
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
