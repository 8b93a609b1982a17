import { initialState } from '../../src/epochs/model.ts';
import { noTimeline } from '../../src/epochs/timeline.ts';
import { caFamilies, noCa } from '../../src/pilot-agent/secrets/ca/authority-telemetry.ts';
import {
  buildFamily,
  lifecycleFamilies,
  partFamilies,
  processFamilies,
  stateFamilies,
} from '../../src/pilot-agent/report/agent-families.ts';
import { certificateExpiryFamily } from '../../src/pilot-agent/secrets/expiry-family.ts';
import { joinedByName, type MetricFamily } from '../../src/shared/metrics/metric-family.ts';
import type { FaultReason } from '../../src/pilot-agent/status/scrape/metrics-source.ts';
import { parts } from '../../src/pilot-agent/run/state/part.ts';
import { sourceFamilies, sourceTold } from '../../src/pilot-agent/run/state/source-status.ts';
import { noSds, sdsFamilies } from '../../src/pilot-agent/secrets/sds/sds-telemetry.ts';
import { absentSecret } from '../../src/pilot-agent/secrets/secret.ts';
import { secretFamilies } from '../../src/pilot-agent/secrets/secret-telemetry.ts';
import {
  countScrape,
  noScrapes,
  scrapeFamilies,
} from '../../src/pilot-agent/status/scrape/scrape-counts.ts';
import { noSts, stsFamilies } from '../../src/pilot-agent/sts/sts-telemetry.ts';
import { noXds, xdsFamilies } from '../../src/pilot-agent/xds-proxy/xds-counts.ts';
import { code, list, page, paragraph, section, sentence, table } from './markdown.ts';

const faults: Readonly<Record<FaultReason, string>> = {
  unreachable: 'no connection',
  not_http: 'an answer that is not HTTP',
  bad_length: 'a Content-Length twice, or one that is no number',
  bad_header: 'a header that has no sound name',
  large_headers: 'more than 1 MiB of headers',
  timeout: 'no answer in time',
  status: 'an answer that is not 200',
  format: 'protobuf',
  encoding: 'a compression that cannot be undone',
  too_large: 'more than 10 MiB',
  too_many_rows: 'more than 100,000 rows',
  too_many_families: 'more than 10,000 families',
  busy: 'it is large, and another large scrape took too long',
  cut_off: 'the answer ends early',
};

/** What there is to say of a metric, or of a value of its labels, that its help does not say. */
export const more: Readonly<Record<string, string>> = {
  istio_agent_scrape_source_up: '1 if this scrape has got all of the source.',
  istio_agent_scrape_failures_total: `\`reason\` has these values. ${Object.entries(faults)
    .map(([reason, text]) => `${code(reason)}: ${text}.`)
    .join(' ')}`,
  istio_agent_scrape_dropped_rows_total:
    'They are not well-formed, or of a family that a source before it has.',
  istio_agent_phase: '1 for the phase that the agent is in: `running`, `draining` or `stopping`.',
  istio_agent_envoys: '`stage` is `starting`, `live`, `draining` or `stopping`.',
  istio_agent_configuration_refused:
    '1 while the newest configuration cannot work. `reason` is `configuration` if none can be made, or `check` if a certificate or Envoy is ' +
    'why. The log has the words.',
  istio_agent_envoy_starts_total:
    '`why` is as in [the timeline](../troubleshooting.md#why-was-envoy-restarted). `source` and `part` name what has changed; beyond 100 reasons ' +
    '`source` is `other`.',
  istio_agent_source_up: '1 while it can be read. While it cannot, the last content holds.',
  istio_agent_part_failures_total: `\`part\` is ${parts.map(code).join(', ')}. Each of them was started again.`,
  istio_agent_cert_expiry_seconds:
    'It is the time until the first certificate of the secret expires. For a file that Envoy reads itself the name is `file-cert:CERT~KEY` or `file-root:ROOT`.',
  istio_agent_num_outgoing_requests:
    '`request_type` is `csr` for a request to the certificate authority.',
  istio_agent_pilot_xds_pushes:
    '`type` is `sds` for secrets, `cds`, `eds`, `lds`, `rds`, `srds`, `ecds`, or `other`.',
  istio_agent_startup_duration_seconds: 'It is there once a probe has found the agent ready.',
};

/** All families of the agent, each with a sample where it can have one. */
export function families(): readonly MetricFamily[] {
  const report = { fault: 'timeout' as const, dropped: 0, leftOut: new Map() };
  const secret = absentSecret('default', '');
  const scraped = countScrape(noScrapes, {
    type: 'reported',
    source: { type: 'envoy', target: '' },
    report,
  });
  const refused: typeof initialState = { ...initialState, refused: { hash: '', reason: '' } };
  return joinedByName([
    ...stateFamilies(refused),
    ...lifecycleFamilies({
      ...noTimeline,
      causes: [{ why: '', source: '', part: '', count: 0 }],
    }),
    certificateExpiryFamily([{ name: '', expiresAt: 0 }], 0),
    ...sourceFamilies(
      sourceTold(new Map(), { type: 'source-read', source: 'watch', hash: 'a' }, 0),
    ),
    ...partFamilies({ status: 0 }),
    ...sdsFamilies(noSds),
    ...xdsFamilies(
      noXds,
      {
        address: '',
        isAnswering: true,
        trouble: undefined,
        storedOf: 0,
        isHeld: true,
        updatedAt: 0,
        rejected: new Map(),
      },
      0,
    ),
    ...secretFamilies([secret], 0).map((family) =>
      family.samples.length > 0
        ? family
        : { ...family, samples: [{ labels: { resource_name: '' }, value: 0 }] },
    ),
    ...caFamilies(noCa),
    ...scrapeFamilies(scraped),
    ...stsFamilies(noSts),
    ...processFamilies(0, 0),
    buildFamily({ version: '', node: '' }),
  ]);
}

/** The name and the names of labels, but for that of the limits of a histogram. */
function written({ name, samples }: MetricFamily): string {
  const labels = new Set(
    samples.flatMap(({ labels = {} }) => Object.keys(labels)).filter((label) => label !== 'le'),
  );
  return labels.size === 0 ? name : `${name}{${[...labels].join(',')}}`;
}

export function metricsPage(): string {
  const sorted = [...families()].sort((one, other) => (one.name < other.name ? -1 : 1));
  return page(
    'Metrics',
    paragraph(
      '`GET /stats/prometheus` at the [status port](http.md) has the metrics of Envoy, then of the applications, then of the agent, in one answer: ' +
        "OpenMetrics 1.0 for a client that prefers it, otherwise Prometheus' text format 0.0.4.",
    ),
    section(
      'Metrics of the agent',
      table(
        ['Metric', 'Type', 'Meaning'],
        sorted.map((family) => [code(written(family)), family.type, sentence(family.help)]),
      ),
      list(
        sorted.flatMap(({ name }) =>
          more[name] === undefined ? [] : [`${code(name)}: ${more[name]}`],
        ),
      ),
    ),
    section(
      'Metrics of the applications',
      paragraph(
        '`ISTIO_PROMETHEUS_ANNOTATIONS` names one application: `{"port":"8080","path":"/metrics","scrape":"true"}`. It has no effect for a router. ' +
          '`PILOT_AGENT_METRICS_TARGETS` is a list of such objects. An empty text is the default: port 80, `/metrics`. A target without a valid port, the status port and the admin port of Envoy are left out, with a warning.',
      ),
    ),
    section(
      'What the answer promises',
      list([
        '**Each family comes once.** It belongs to the first source that has it. A family of the same name from another source is left out, and so is ' +
          'one that would clash in OpenMetrics (`a` with `a_total`). Names that begin with `istio_agent_` are those of the agent.',
        '**The answer is well-formed.** The agent asks each source for the format of the answer, and converts an answer in another format. Rows that ' +
          'are not well-formed, or come twice, are left out and counted.',
        '**In OpenMetrics** a counter without `_total` is `unknown` and keeps its name. A histogram that is not whole is left out. **In the text format** ' +
          'there are no exemplars, units and times of creation.',
        '**The answer is in time.** The time-out is that of the scrape (`X-Prometheus-Scrape-Timeout-Seconds`, 10 s without it). A source has four ' +
          'fifths of it. A source that had to wait for another one has a twentieth more.',
        '**The answer is bounded.** 10 MiB, 100,000 rows and 10,000 families are read of a source, 64 KiB of a line, and 128 labels of a row. The ' +
          'part of an answer above 256 KiB is not read faster than the scrape reads it. There are 16 scrapes at a time.',
        '**One scrape at a time is large.** If the applications have more than 1 MiB or 5,000 lines, a scrape waits until the large one before it is ' +
          'over, which has 15 s. If that takes four fifths of the time-out, the answer has Envoy, what was read, and the agent.',
        '**Sources are asked once.** Scrapes of one format and one time-out that come within 100 ms share an answer of up to 256 KiB.',
        '**The answer is compressed** by gzip, or by zstd if Node has it. Sources may use the same.',
        '**A source that fails** costs its own rows only.',
      ]),
    ),
  );
}
