import { type Advice, partsOf } from './advice.ts';

/** Shows what to do about a trouble, after a click on its line. */
export function AdviceView({
  advice: { cause, command, fix },
  anchor,
}: {
  readonly advice: Advice;
  readonly anchor: string;
}) {
  const rows = [
    ['Cause', cause],
    ['Look', command],
    ['Fix', fix],
  ] as const;
  return (
    <details class="advice">
      <summary>What to do</summary>
      <dl class="pairs">
        {rows.map(([name, text]) =>
          text === '' ? null : (
            <>
              <dt>{name}</dt>
              <dd>
                {partsOf(text).map((part) =>
                  part.kind === 'code' ? <code>{part.text}</code> : part.text,
                )}
              </dd>
            </>
          ),
        )}
        <dt>More</dt>
        <dd class="mono">docs/troubleshooting.md#{anchor}</dd>
      </dl>
    </details>
  );
}
