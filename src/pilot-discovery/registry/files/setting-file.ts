import { largest, type OutsideFile, readOutsideSync } from '../../../shared/files/outside-file.ts';
import type { Flaw } from '../../istio/documents/model.ts';

/** The content of a file with settings; `error` is why it is not used. */
export type SettingFile<T> =
  | Exclude<OutsideFile, { readonly kind: 'read' }>
  | {
      readonly kind: 'read';
      readonly content: T;
      readonly flaws: readonly Flaw[];
      readonly error: Flaw | undefined;
    };

/**
 * Reads a file with settings, at the start and after each change: both times by the same rules.
 * Does not wait for a FIFO. Never throws.
 */
export function readSettingFile<T extends { readonly flaws: readonly Flaw[] }>(
  path: string,
  read: (text: string, path: string) => T,
): SettingFile<T> {
  const file = readOutsideSync(path, largest.text);
  if (file.kind !== 'read') return file;
  const content = read(file.bytes.toString(), path);
  const { flaws } = content;
  return {
    kind: 'read',
    content,
    flaws,
    error: flaws.find(({ severity }) => severity === 'error'),
  };
}
