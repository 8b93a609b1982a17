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
import { sourceFamilies, afterSourceSign } from '../../src/pilot-agent/run/state/source-status.ts';
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
  bad_length: 'two Content-Lengths, or one that is not a number',
  bad_header: 'a header with an invalid name',
  large_headers: 'more than 1 MiB of headers',
  timeout: 'no answer in time',
  status: 'an answer that is not 200',
  format: 'protobuf',
  encoding: 'a body that cannot be decompressed',
  too_large: 'more than 10 MiB',
  too_many_rows: 'more than 100,000 rows',
  too_many_families: 'more than 10,000 families',
  busy: 'the source is large, and another large scrape took too long',
  cut_off: 'the answer ends early',
};

/** Details of a metric, or of the values of its labels, that its help does not have. */
export const more: Readonly<Record<string, string>> = {
  istio_agent_scrape_source_up: 'It is 1 if the scrape got all rows of the source.',
  istio_agent_scrape_failures_total: `\`reason\` has these values. ${Object.entries(faults)
    .map(([reason, text]) => `${code(reason)}: ${text}.`)
    .join(' ')}`,
  istio_agent_scrape_dropped_rows_total:
    'Such a row is not well-formed, is a duplicate, does not fit the format of the answer, or belongs to a family of an earlier source.',
  istio_agent_phase: 'It is 1 for the current phase: `running`, `draining` or `stopping`.',
  istio_agent_envoys: '`stage` is `starting`, `live`, `draining` or `stopping`.',
  istio_agent_epochs_total:
    'With `--keepEnvoy`, an agent that adopts Envoys also counts those of earlier agents.',
  istio_agent_configuration_refused:
    'It is 1 while the newest configuration cannot work. `reason` is `configuration` if the agent cannot generate one, or `check` if a certificate is wrong or Envoy refuses ' +
    'it. The log has the details.',
  istio_agent_envoy_starts_total:
    '`why` is as in [the timeline](../troubleshooting.md#why-was-envoy-restarted). `source` and `part` name the change. After 100 combinations, ' +
    '`source` is `other`.',
  istio_agent_source_up:
    'It is 1 while the source can be read. Otherwise, its last content stays in use.',
  istio_agent_part_failures_total: `\`part\` is ${parts.map(code).join(', ')}. The agent starts a failed part again.`,
  istio_agent_cert_expiry_seconds:
    'It is the time until the earliest expiry of a certificate in the secret, roots included. For a file that Envoy reads directly, the name is `file-cert:CERT~KEY` or `file-root:ROOT`.',
  istio_agent_num_outgoing_requests:
    '`request_type` is `csr` for a request to the certificate authority.',
  istio_agent_pilot_xds_pushes:
    '`type` is `sds` for secrets, `cds`, `eds`, `lds`, `rds`, `srds`, `ecds`, or `other`.',
  istio_agent_startup_duration_seconds: 'It exists after a probe has found the agent ready.',
};

/** All families of the agent, each with a sample if it can have one. */
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
      afterSourceSign(new Map(), { type: 'source-read', source: 'watch', hash: 'a' }, 0),
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
        canServeEnvoy: true,
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

/** The name of a family and the names of its labels, without `le`. */
function written({ name, samples }: MetricFamily): string {
  const labels = new Set(
    samples.flatMap(({ labels = {} }) => Object.keys(labels)).filter((label) => label !== 'le'),
  );
  return labels.size === 0 ? name : `${name}{${[...labels].join(',')}}`;
}

export function metricsPage(): string {
  const sorted = [...families()].sort((first, second) => (first.name < second.name ? -1 : 1));
  return page(
    'Metrics',
    paragraph(
      '`GET /stats/prometheus` at the [status port](http.md) has the metrics of Envoy, of the applications, and of the agent, in this order. ' +
        "The format is OpenMetrics 1.0 for clients that prefer it, otherwise Prometheus' text format 0.0.4.",
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
          '`PILOT_AGENT_METRICS_TARGETS` is a list of such objects. If a value is empty, its default applies: port 80, path `/metrics`. A target without a valid port, or with the status port or the admin port of Envoy, is ignored with a warning.',
      ),
    ),
    section(
      'What the answer promises',
      list([
        '**Each family appears once.** It belongs to the first source that has it. The agent drops a family of the same name from another source, and ' +
          'one that would conflict in OpenMetrics (`a` with `a_total`). Names that begin with `istio_agent_` belong to the agent.',
        '**The answer is well-formed.** The agent asks each source for the format of the answer, and converts an answer in another format. It drops and ' +
          'counts rows that are not well-formed or duplicate.',
        '**In OpenMetrics** a counter without `_total` is `unknown` and keeps its name. An incomplete histogram is dropped. **In the text format** ' +
          'there are no exemplars, units and creation times.',
        '**The answer is in time.** The time-out is the one of the scrape (`X-Prometheus-Scrape-Timeout-Seconds`, default 10 s). A source has 80 % ' +
          'of it. If a source waits for another one, it has 5 % more.',
        '**The answer is bounded.** A source can have 10 MiB, 100,000 rows and 10,000 families, a line 64 KiB, and a row 128 labels. Above 256 KiB, the ' +
          'agent reads a source only as fast as its client reads the answer. 16 scrapes can run at a time.',
        '**One large scrape runs at a time.** A scrape is large if the applications have more than 1 MiB or 5,000 lines. It waits for the large scrape before it, ' +
          'which has at most 15 s. If the wait takes 80 % of the time-out, the answer has the metrics of Envoy, the rows read so far, and the metrics of the agent.',
        '**Scrapes share answers.** Scrapes with the same format and time-out within 100 ms share an answer of up to 256 KiB.',
        '**The answer is compressed** with gzip, or with zstd if Node supports it. Sources may use both.',
        '**A source that fails** loses only its own rows.',
      ]),
    ),
  );
}
