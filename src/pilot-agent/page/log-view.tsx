import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { EpochReport } from '../report/epoch-report.ts';
import type { Logged } from './page-state.ts';
import { countUpTo, filtered, levels, type LogFilter, noFilter, unfiltered } from './log-filter.ts';
import { LogLines } from './log-lines.tsx';
import { number } from './number-text.ts';

/** Shows the log with its filters; if the log is not visible, shows how to turn it on. */
export function LogView({
  log,
  epochs,
}: {
  readonly log: readonly Logged[] | undefined;
  readonly epochs: readonly EpochReport[];
}) {
  const [filter, setFilter] = useState<LogFilter>(noFilter);
  const before = useRef(unfiltered);
  const shown = filtered(before.current, log ?? [], filter);
  useLayoutEffect(() => void (before.current = shown));
  const components = useComponents(log ?? []);
  const change = (part: Partial<LogFilter>) => setFilter({ ...filter, ...part });
  if (log === undefined) {
    return (
      <section aria-labelledby="log" class="log">
        <h2 id="log">Log</h2>
        <p class="none">
          The log is not shown here, since every program of this machine may see the page.{' '}
          <code>--statusPageLog=true</code> shows it;
          <code>pilot-agent top</code> shows it to the user of the agent.
        </p>
      </section>
    );
  }
  return (
    <section aria-labelledby="log" class="log">
      <div class="title">
        <h2 id="log">Log</h2>
        <span class="dim">
          {shown.lines.length === log.length
            ? `${number(log.length)} lines`
            : `${number(shown.lines.length)} of ${number(log.length)} lines`}
        </span>
        <div class="filters" role="search" aria-label="Log">
          <label>
            <span>Level</span>
            <select
              value={filter.level}
              onChange={({ currentTarget }) =>
                change({ level: levels.find((level) => level === currentTarget.value) ?? 'trace' })
              }
            >
              {levels.map((level) => (
                <option key={level} value={level}>
                  {level === 'trace' ? 'all' : `${level} and above`}
                </option>
              ))}
            </select>
          </label>
          <label>
            <span>Component</span>
            <select
              value={filter.component}
              onChange={({ currentTarget }) => change({ component: currentTarget.value })}
            >
              <option value="">all</option>
              {components.map((component) => (
                <option key={component}>{component}</option>
              ))}
            </select>
          </label>
          <label>
            <span>Epoch</span>
            <select
              value={filter.epoch ?? ''}
              onChange={({ currentTarget: { value } }) =>
                change({ epoch: value === '' ? undefined : Number(value) })
              }
            >
              <option value="">all</option>
              {epochs
                .slice(-100)
                .reverse()
                .map(({ epoch }) => (
                  <option key={epoch}>{epoch}</option>
                ))}
            </select>
          </label>
          <label>
            <span>Text</span>
            <input
              type="search"
              value={filter.text}
              placeholder="words"
              onInput={({ currentTarget }) => change({ text: currentTarget.value })}
            />
          </label>
        </div>
      </div>
      <LogLines lines={shown.lines} />
    </section>
  );
}

/** Returns the components seen so far, sorted by name. */
function useComponents(log: readonly Logged[]): readonly string[] {
  const components = useRef<readonly string[]>([]);
  const last = useRef<Logged | undefined>(undefined);
  return useMemo(() => {
    const newLines = log.slice(countUpTo(log, last.current));
    last.current = log.at(-1);
    const distinct = new Set([
      ...components.current,
      ...newLines.map(({ component }) => component),
    ]);
    if (distinct.size !== components.current.length) components.current = [...distinct].sort();
    return components.current;
  }, [log]);
}
