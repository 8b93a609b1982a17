import type { Exit } from '../agent/model.ts';

/** What Envoy 1.36 repeats behind its reason: the whole text of the configuration, secrets included. */
const repeated = /^(Unable to parse JSON as proto \(.*?\)): [{["].*$|^(Unable to convert YAML as JSON): .*$/s;
/** In characters. */
const longest = 500;

/** Why Envoy did not take a configuration, in its own words and on one line, from how `--mode validate` ended. */
export function refusalReason(exit: Exit): string {
  if (exit.kind === 'clean') return 'Envoy has nothing against it';
  if (exit.kind === 'spawn-failed') return exit.reason;
  const told = exit.tail
    .map((line) => /error initializing configuration '.*?': (.*)/s.exec(line)?.[1])
    .find((reason) => reason !== undefined);
  const ended = exit.kind === 'failed' ? `Envoy ended with ${exit.code}` : exit.kind === 'signaled' ? `Envoy was ended by ${exit.signal}` : 'Envoy is gone'; // prettier-ignore
  const reason = (told ?? exit.tail.at(-1) ?? ended).replace(repeated, '$1$2');
  return reason.replace(/\s+/g, ' ').trim().slice(0, longest);
}
