import { clock } from './time-text.ts';
import type { Window } from './window.ts';

const choices: readonly (readonly [name: string, window: Window])[] = [
  ['1 min', { kind: 'last', ms: 60_000 }],
  ['10 min', { kind: 'last', ms: 600_000 }],
  ['1 h', { kind: 'last', ms: 3_600_000 }],
  ['all', { kind: 'all' }],
];

/** Lets the user choose the part of the past that is shown. */
export function WindowPicker({
  window,
  choose,
}: {
  readonly window: Window;
  readonly choose: (window: Window) => void;
}) {
  const isChosen = (choice: Window) => JSON.stringify(choice) === JSON.stringify(window);
  return (
    <div class="picker" role="group" aria-label="Time that is shown">
      {window.kind === 'span' ? (
        <button
          type="button"
          aria-pressed="true"
          title="Back to the last 10 minutes"
          onClick={() => choose({ kind: 'last', ms: 600_000 })}
        >
          {clock(window.from)} – {clock(window.to)} ×
        </button>
      ) : null}
      {choices.map(([name, choice]) => (
        <button
          type="button"
          key={name}
          aria-pressed={isChosen(choice)}
          onClick={() => choose(choice)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}
