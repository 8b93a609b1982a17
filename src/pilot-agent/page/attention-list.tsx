import type { Advices } from './advice.ts';
import { AdviceView } from './advice-view.tsx';
import type { Attention } from './attention.ts';
import { age, dayAndClock } from './time-text.ts';

interface Props {
  readonly all: readonly Attention[];
  readonly advices: Advices;
  readonly now: number;
}

const marks: Readonly<Record<Attention['kind'], string>> = { crash: '×', refused: '⊘', other: '!' };

/** Shows what is wrong, why, and what to do; nothing if all is well. */
export function AttentionList({ all: troubles, advices, now }: Props) {
  if (troubles.length === 0) return null;
  return (
    <section class="attention" aria-labelledby="attention">
      <h2 id="attention" class="unseen">
        What needs attention
      </h2>
      <ul>
        {troubles.map(({ level, kind, text, see, at: time }) => {
          const advice = Object.hasOwn(advices, see) ? advices[see] : undefined;
          return (
            <li key={`${kind}${text.replace(/\d+/g, '')}`} class={`${level} ${kind}`}>
              <span class="mark" aria-hidden="true">
                {marks[kind]}
              </span>
              <div class="said">
                <span>{text}</span>
                {advice === undefined ? null : <AdviceView advice={advice} anchor={see} />}
              </div>
              {time === undefined ? null : (
                <time dateTime={time} title={dayAndClock(time)}>
                  {age(now - Date.parse(time))} ago
                </time>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
