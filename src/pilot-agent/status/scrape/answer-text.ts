/** A text that combines received bytes, unchanged, with other text. */
export interface AnswerText {
  copy(bytes: Buffer, start: number, end: number): void;
  write(text: string): void;
  /** Returns the size in bytes of the text so far. Text outside of ASCII may count as less. */
  size(): number;
  /** Returns the text so far in one piece; the next text starts empty. */
  take(): Buffer;
}

/**
 * Makes an empty text. Bytes that follow each other at their origin become one part, so that most
 * are copied once.
 */
export function answerText(): AnswerText {
  let parts: Buffer[] = [];
  let [written, size] = ['', 0];
  let copied: { readonly bytes: Buffer; readonly start: number; end: number } | undefined;

  const flush = () => {
    if (copied !== undefined) parts.push(copied.bytes.subarray(copied.start, copied.end));
    if (written !== '') parts.push(Buffer.from(written));
    [copied, written] = [undefined, ''];
  };
  return {
    copy(bytes, start, end) {
      size += end - start;
      if (copied?.bytes === bytes && copied.end === start) {
        copied.end = end;
        return;
      }
      flush();
      copied = { bytes, start, end };
    },
    write(text) {
      if (text === '') return;
      size += text.length;
      if (copied !== undefined) flush();
      written += text;
    },
    size: () => size,
    take() {
      flush();
      const [only = Buffer.alloc(0), ...others] = parts;
      const whole = others.length === 0 ? only : Buffer.concat(parts);
      [parts, size] = [[], 0];
      return whole;
    },
  };
}
