import { useMemo, useState } from 'preact/hooks';
import { AgentFacts } from './agent-facts.tsx';
import { announcement, attention } from './attention.ts';
import { AttentionList } from './attention-list.tsx';
import { Certificates } from './certificates.tsx';
import { ControlPlane } from './control-plane.tsx';
import { EpochDetails } from './epoch-details.tsx';
import { EpochTable } from './epoch-table.tsx';
import { Facts } from './facts.tsx';
import type { Known } from './known.ts';
import { LogView } from './log-view.tsx';
import { Masthead } from './masthead.tsx';
import { Pushes } from './pushes.tsx';
import { SourceTable } from './source-table.tsx';
import { wholeSpan } from './timeline.ts';
import { TimelineView } from './timeline-view.tsx';
import { TrafficView } from './traffic-view.tsx';
import { spanOf, type Window } from './window.ts';
import { WindowPicker } from './window-picker.tsx';

/**
 * The whole page, of what is known at a moment; `now` in ms since 1970 by the clock of the agent.
 */
export function Page({ known, now }: { readonly known: Known; readonly now: number }) {
  const { link, report, epochs, traffic, log } = known;
  const [window, setWindow] = useState<Window>({ kind: 'last', ms: 600_000 });
  const [chosen, setChosen] = useState<number>();
  const selected = epochs.find(({ epoch }) => epoch === chosen) ?? epochs.at(-1);
  const span = useMemo(() => spanOf(window, wholeSpan(epochs, now), now), [window, epochs, now]);
  const marked = report?.pushes;
  const refused = report?.refused;
  // What has not changed is not made again: lines of the log come often.
  const timeline = useMemo(
    () => (
      <TimelineView
        {...{ epochs, span, now, marked: marked ?? [], refused, selected: selected?.epoch, select: setChosen, zoom: setWindow }}
      />
    ),
    [epochs, span, now, JSON.stringify(marked), refused?.at, selected?.epoch],
  );
  const table = useMemo(
    () => <EpochTable epochs={epochs} selected={selected?.epoch} select={setChosen} now={now} />,
    [epochs, selected?.epoch, now],
  );
  const charts = useMemo(() => <TrafficView traffic={traffic} span={span} />, [traffic, span]);
  const logView = useMemo(() => <LogView log={log} epochs={epochs} />, [log, epochs]);
  return (
    <>
      <a class="skip" href="#epochs">
        Skip to the epochs
      </a>
      <Masthead link={link} report={report} now={now} />
      <p class="unseen" role="status">
        {announcement(known)}
      </p>
      {report === undefined ? (
        <main id="main">
          <p class="waiting">{link.state === 'away' ? `${link.reason}. The page asks again each second.` : 'Asking the agent …'}</p>
        </main>
      ) : (
        <main id="main" class={link.state === 'away' ? 'stale' : ''}>
          <Facts report={report} epochs={epochs} traffic={traffic} now={now} />
          <AttentionList all={attention(report, now)} now={now} />
          <div class="columns">
            <div class="wide">
              <section aria-labelledby="epochs">
                <div class="title">
                  <h2 id="epochs">Epochs</h2>
                  <WindowPicker window={window} choose={setWindow} />
                </div>
                {timeline}
                {charts}
                <div class="epochs">
                  {table}
                  {selected === undefined ? null : <EpochDetails epoch={selected} now={now} />}
                </div>
              </section>
              {logView}
            </div>
            <div class="narrow">
              <Certificates all={report.certificates} now={now} />
              <SourceTable all={report.sources} now={now} />
              <ControlPlane controlPlane={report.controlPlane} now={now} />
              <Pushes all={report.pushes} />
              <AgentFacts report={report} />
            </div>
          </div>
        </main>
      )}
    </>
  );
}
