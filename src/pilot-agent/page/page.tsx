import { useMemo, useState } from 'preact/hooks';
import { AgentFacts } from './agent-facts.tsx';
import type { Advices } from './advice.ts';
import { announcement, attention } from './attention.ts';
import { AttentionList } from './attention-list.tsx';
import { Certificates } from './certificates.tsx';
import { ControlPlane } from './control-plane.tsx';
import { EpochDetails } from './epoch-details.tsx';
import { EpochTable } from './epoch-table.tsx';
import { Facts } from './facts.tsx';
import type { PageState } from './page-state.ts';
import { LogView } from './log-view.tsx';
import { Masthead } from './masthead.tsx';
import { Pushes } from './pushes.tsx';
import { ServiceView } from './request-view.tsx';
import { SourceTable } from './source-table.tsx';
import { servingEpoch } from '../report/standing.ts';
import { TimelineView } from './timeline-view.tsx';
import { TrafficView } from './traffic-view.tsx';
import { spanOf, type Window } from './window.ts';
import { WindowPicker } from './window-picker.tsx';

/** Shows the whole page at one moment; `now` in ms since 1970 by the clock of the agent. */
export function Page({
  state: view,
  now,
  advices,
}: {
  readonly state: PageState;
  readonly now: number;
  readonly advices: Advices;
}) {
  const { link, report, epochs, traffic, service, log } = view;
  const startedAt = report === undefined ? now : Date.parse(report.agent.startedAt);
  const isAway = link.kind === 'away';
  const [window, setWindow] = useState<Window>({ kind: 'last', ms: 600_000 });
  const [chosen, setChosen] = useState<number>();
  const selected = epochs.find(({ epoch }) => epoch === chosen) ?? epochs.at(-1);
  const span = useMemo(() => spanOf(window, startedAt, now), [window, startedAt, now]);
  const marked = report?.pushes;
  const refused = report?.refused;
  // Parts without a change are not rendered again: lines of the log come often.
  const timeline = useMemo(
    () => (
      <TimelineView
        {...{
          epochs,
          span,
          now,
          marked: marked ?? [],
          refused,
          selected: selected?.epoch,
          select: setChosen,
          zoom: setWindow,
        }}
      />
    ),
    [epochs, span, now, JSON.stringify(marked), refused?.at, selected?.epoch],
  );
  const table = useMemo(
    () => <EpochTable epochs={epochs} selected={selected?.epoch} select={setChosen} now={now} />,
    [epochs, selected?.epoch, now],
  );
  const who = isAway ? 'away' : servingEpoch(epochs) === undefined ? 'nobody' : 'envoy';
  const charts = useMemo(() => <TrafficView {...{ traffic, span, who }} />, [traffic, span, who]);
  const serviceView = useMemo(() => <ServiceView service={service} who={who} />, [service, who]);
  const attentionList = useMemo(
    () =>
      report === undefined ? null : (
        <AttentionList all={attention(report, epochs, now)} advices={advices} now={now} />
      ),
    [report, epochs, now],
  );
  const logView = useMemo(() => <LogView log={log} epochs={epochs} />, [log, epochs]);
  return (
    <>
      <a class="skip" href="#epochs">
        Skip to the epochs
      </a>
      <Masthead link={link} report={report} now={now} />
      <p class="unseen" role="status">
        {announcement(view)}
      </p>
      {report === undefined ? (
        <main id="main">
          <p class="waiting">
            {isAway ? `${link.reason}. The page asks again each second.` : 'Asking the agent …'}
          </p>
        </main>
      ) : (
        <main id="main" class={isAway ? 'stale' : ''}>
          <Facts {...{ report, epochs, traffic, isAway, now }} />
          {attentionList}
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
              {serviceView}
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
