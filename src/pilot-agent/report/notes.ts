import { reasonName } from './reason-name.ts';

/** The anchor with the remedy for a note, by the first words of the note. */
const anchors: readonly (readonly [begins: RegExp, anchor: string])[] = [
  [/^control plane /, 'xds-unavailable'],
  [/^serving the configuration /, 'xds-stored-served'],
  [/^source /, 'source-unreadable'],
  [/^secret \S+ refused/, 'secret-refused'],
  [/^configuration refused/, 'config-refused'],
  [/^Envoy has crashed/, 'epoch-failed'],
];

/** Returns the anchor of a note in docs/troubleshooting.md. Pure. */
export function noteAnchor(note: string): string {
  return anchors.find(([begins]) => begins.test(note))?.[1] ?? reasonName(note);
}

/**
 * Returns the notes whose reason is not shown elsewhere. Probes get all notes, but a reader who
 * sees the reason learns nothing more from its note. Pure.
 */
export function furtherNotes(
  notes: readonly string[],
  shownReasons: readonly (string | undefined)[],
): readonly string[] {
  return notes.filter(
    (note) => !shownReasons.some((reason) => reason !== undefined && note.includes(reason)),
  );
}
