import { reasonName } from './reason-name.ts';

/** Where it is said what to do about a note, by its first words. */
const anchors: readonly (readonly [begins: RegExp, anchor: string])[] = [
  [/^control plane /, 'xds-unavailable'],
  [/^serving the configuration /, 'xds-stored-served'],
  [/^source /, 'source-unreadable'],
  [/^secret \S+ refused/, 'secret-refused'],
  [/^configuration refused/, 'config-refused'],
  [/^Envoy has crashed/, 'epoch-failed'],
];

/** The anchor of a note in docs/troubleshooting.md. Pure. */
export function noteAnchor(note: string): string {
  return anchors.find(([begins]) => begins.test(note))?.[1] ?? reasonName(note);
}

/**
 * Notes are for probes too. Those whose reason is told elsewhere say nothing more to who has it.
 * Pure.
 */
export function untoldNotes(
  notes: readonly string[],
  told: readonly (string | undefined)[],
): readonly string[] {
  return notes.filter(
    (note) => !told.some((reason) => reason !== undefined && note.includes(reason)),
  );
}
