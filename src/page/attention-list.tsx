import type { Attention } from './attention.ts';
import { age, dayAndClock } from './time-text.ts';

/** What is not as it should be; nothing where all is well. */
export function AttentionList({ all, now }: { readonly all: readonly Attention[]; readonly now: number }) {
  if (all.length === 0) return null;
  return (
    <section class="attention" aria-labelledby="attention">
      <h2 id="attention" class="unseen">
        What needs attention
      </h2>
      <ul>
        {all.map(({ level, text, at }) => (
          <li key={`${level}${text.slice(0, 40)}`} class={level}>
            <span class="mark" aria-hidden="true">
              {level === 'bad' ? '×' : '!'}
            </span>
            <span class="said">{text}</span>
            {at === undefined ? null : (
              <time dateTime={at} title={dayAndClock(at)}>
                {age(now - Date.parse(at))} ago
              </time>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
