import type { ClusterReport, ListenerReport, ServiceReport } from '../report/request-report.ts';
import { number } from './number-text.ts';
import { directionCells, more, overText } from './request-text.ts';

type Answering = Extract<ServiceReport, { state: 'answering' }>;

interface Props {
  readonly service: ServiceReport | undefined;
  /**
   * `nobody`: no epoch serves, even if a starting Envoy answers. `away`: the agent cannot be
   * reached.
   */
  readonly who: 'envoy' | 'nobody' | 'away';
}

/** Shows the service of the Envoy that serves. */
export function ServiceView({ service, who }: Props) {
  const shown = who === 'envoy' && service?.state === 'answering' ? service : undefined;
  return (
    <section aria-labelledby="service">
      <div class="title">
        <h2 id="service">Service</h2>
        {shown === undefined ? null : <span class="dim">{overText(shown)}</span>}
      </div>
      {who === 'nobody' ? <p class="none">No Envoy serves now.</p> : null}
      {who === 'envoy' && service === undefined ? <p class="none">Asking Envoy …</p> : null}
      {who === 'envoy' && service?.state === 'silent' ? (
        <p class="none">Envoy does not report it: {service.reason}. The agent asks every 5 s.</p>
      ) : null}
      {shown === undefined ? null : <Answers service={shown} />}
    </section>
  );
}

function Answers({ service }: { readonly service: Answering }) {
  return (
    <div class="service">
      <Directions service={service} />
      <Clusters clusters={service.clusters} />
      <Listeners listeners={service.listeners} />
    </div>
  );
}

function Directions({ service }: { readonly service: Answering }) {
  const rows = [
    ['Inbound', service.inbound],
    ['Outbound', service.outbound],
  ] as const;
  return (
    <table class="directions">
      <thead>
        <tr>
          <th scope="col">HTTP</th>
          {['Requests', 'Success', 'p50', 'p99'].map((title) => (
            <th key={title} scope="col" class="right">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, direction]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {direction === undefined ? (
              <td colSpan={4} class="dim">
                Envoy counts none: no HTTP here, or its stats_config leaves them out
              </td>
            ) : (
              directionCells(direction).map(({ text, tone }, index) => (
                <td key={index} class={`right ${tone}`}>
                  {text}
                </td>
              ))
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Clusters({ clusters }: { readonly clusters: Answering['clusters'] }) {
  if (clusters === undefined)
    return <p class="none">Clusters: Envoy counts none; its stats_config may leave them out.</p>;
  const { count, unhealthy, first } = clusters;
  const row = ({ name, healthy, total }: ClusterReport) => (
    <li key={name}>
      <span class="name">{name}</span>
      <span class={healthy >= total ? 'dim' : healthy === 0 ? 'text-bad' : 'text-warn'}>
        {healthy} of {total}
      </span>
    </li>
  );
  return (
    <div class="listed">
      <h3>
        {count === 1 ? '1 cluster' : `${number(count)} clusters`}
        {unhealthy === 0 ? (
          <span class="dim"> all hosts healthy</span>
        ) : (
          <span class="text-warn"> {number(unhealthy)} with hosts that are not healthy</span>
        )}
      </h3>
      <Rows rows={first.map(row)} count={count} />
    </div>
  );
}

function Listeners({ listeners: { count, first } }: Pick<Answering, 'listeners'>) {
  const row = ({ name, address, connections }: ListenerReport) => (
    <li key={`${name}${address}`}>
      <span class="name">
        {name} <span class="dim">{address}</span>
      </span>
      <span class="dim">
        {connections === undefined
          ? ''
          : connections === 1
            ? '1 connection'
            : `${number(connections)} connections`}
      </span>
    </li>
  );
  return (
    <div class="listed">
      <h3>{count === 1 ? '1 listener' : `${number(count)} listeners`}</h3>
      <Rows rows={first.map(row)} count={count} />
    </div>
  );
}

/** Shows the first rows, and the others after a click. */
function Rows({
  rows,
  count,
}: {
  readonly rows: readonly preact.JSX.Element[];
  readonly count: number;
}) {
  const shown = 6;
  return (
    <>
      <ul class="rows">{rows.slice(0, shown)}</ul>
      {rows.length <= shown ? null : (
        <details>
          <summary>{more(rows.length - shown, count - shown)}</summary>
          <ul class="rows" tabIndex={0} aria-label="The others">
            {rows.slice(shown)}
          </ul>
        </details>
      )}
    </>
  );
}
