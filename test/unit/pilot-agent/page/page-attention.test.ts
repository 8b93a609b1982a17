import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LiveReport } from '../../../../src/pilot-agent/report/agent-view.ts';
import { partsOf } from '../../../../src/pilot-agent/page/advice.ts';
import { announcement, attention } from '../../../../src/pilot-agent/page/attention.ts';
import { nothing } from '../../../../src/pilot-agent/page/page-state.ts';
import { directionCells } from '../../../../src/pilot-agent/page/request-text.ts';
import { hasData } from '../../../../src/pilot-agent/page/traffic-rates.ts';
import { spanOf } from '../../../../src/pilot-agent/page/window.ts';
import { certificateTitle } from '../../../../src/pilot-agent/report/certificate-title.ts';
import { agentReport, atSecond, fourEpochs, inTrouble } from '../../../support/agent-report.ts';

const { advice } = (await import(resolve('scripts/advice.mjs'))) as {
  advice: () => Readonly<Record<string, { cause: string; fix: string }>>;
};
const now = Date.parse(atSecond(310));
const certificate = (fields: Partial<LiveReport['certificates'][number]>) => ({
  ...agentReport().certificates[0]!, // eslint-disable-line
  ...fields,
});

/** A report with each kind of trouble that the page can have. */
const troubled: LiveReport = agentReport({
  ready: { ok: false, reason: 'Envoy has crashed and waits to be started again' },
  live: { ok: false, reason: 'Envoy hangs' },
  notes: [
    'serving the configuration of 3 min ago',
    'secret default refused: an older one',
    'no certificate yet: authority ca:1: refused, since now',
  ],
  refused: { at: atSecond(300), hash: 'aa', reason: 'a.yaml:1:1: no such field' },
  crashes: { count: 3, budget: 10, retryAt: atSecond(312) },
  certificates: [
    certificate({ notAfter: atSecond(300) }),
    certificate({ notAfter: atSecond(1_000), refused: 'no key' }),
  ],
  controlPlane: {
    address: 'istiod:15012',
    by: 'agent',
    state: 'unavailable',
    reason: 'connection refused',
    rejected: [],
  },
});

describe('what needs attention', () => {
  const all = attention(troubled, fourEpochs, now);

  it('leads to what to do, whatever it is', () => {
    expect(all.length).toBeGreaterThan(10);
    const advices = advice();
    for (const { see, text } of all)
      expect([text, advices[see]?.cause, advices[see]?.fix]).toEqual([
        text,
        expect.stringMatching(/.{20}/),
        expect.stringMatching(/.{10}/),
      ]);
  });

  it('says how Envoy has crashed, and when it is started again', () => {
    const crash = all.filter(({ kind }) => kind === 'crash').map(({ text }) => text);
    expect(crash).toEqual([
      'Envoy has crashed: 3 of 10 that are allowed; epoch 1: crash: ended by SIGSEGV: [critical] assert failure: x != nullptr; the next attempt is in 2 s',
    ]);
  });

  it('has no line of a stack if Envoy wrote of no cause, and tells a crash that is told already once', () => {
    const epochs = fourEpochs.map((epoch) => ({
      ...epoch,
      ...(epoch.epoch === 1 &&
        epoch.exit && { exit: { ...epoch.exit, cause: undefined, lastWords: ['#0: a'] } }),
    }));
    const noted = { ...troubled, notes: ['Envoy has crashed 3 times in the last 10 min: SIGSEGV'] };
    const crashes = attention(noted, epochs as typeof fourEpochs, now).filter(({ text }) =>
      text.startsWith('Envoy has crashed'),
    );
    expect(crashes.map(({ text }) => text)).toEqual([
      'Envoy has crashed: 3 of 10 that are allowed; epoch 1: crash: ended by SIGSEGV; the next attempt is in 2 s',
    ]);
    const stable = attention(
      { ...noted, crashes: { count: 0, budget: 10 } },
      epochs as typeof fourEpochs,
      now,
    );
    expect(
      stable.filter(({ text }) => text.startsWith('Envoy has crashed')).map(({ see }) => see),
    ).toEqual(['epoch-failed']);
  });

  it('tells a crash and a refusal apart', () => {
    expect(all.filter(({ kind }) => kind === 'refused').map(({ see }) => see)).toEqual([
      'config-refused',
      'secret-refused',
    ]);
  });

  it('tells each trouble once, though probes have a note of it', () => {
    const texts = (report: LiveReport) => attention(report, [], now).map(({ text }) => text);
    const noted = {
      ...troubled,
      notes: [
        ...troubled.notes,
        'control plane istiod:15012: connection refused, since 1',
        'configuration refused: a.yaml:1:1: no such field',
      ],
    };
    expect(texts(noted)).toEqual(texts(troubled));
  });

  it('is said in one sentence, without a contradiction', () => {
    const announcementOf = (report: LiveReport) => announcement({ ...nothing, report });
    expect(announcementOf(agentReport())).toBe('The agent is ready.');
    expect(announcementOf(troubled)).toBe(
      'The agent is not ready: Envoy has crashed and waits to be started again.',
    );
    expect(announcementOf({ ...inTrouble, ready: { ok: false, reason: 'draining' } })).toBe(
      'The agent is not ready: draining.',
    );
    expect(announcementOf({ ...inTrouble, ready: { ok: true } })).toBe(
      'The agent is not ready: draining.',
    );
  });
});

describe('the advice of the page', () => {
  it('has words and code, and no link', () => {
    expect(partsOf('`a b` then `c`.')).toEqual([
      { text: 'a b', kind: 'code' },
      { text: ' then ', kind: 'words' },
      { text: 'c', kind: 'code' },
      { text: '.', kind: 'words' },
    ]);
    expect(JSON.stringify(advice())).not.toMatch(/\]\(/);
  });
});

describe('the title of a certificate', () => {
  const path = '/etc/certs/cert-chain.pem';
  it.each([
    ['default', ['spiffe://a/b'], 'CN=x', 'default'],
    [path, ['spiffe://a/b', 'DNS:c'], 'CN=x', 'spiffe://a/b'],
    [path, ['DNS:web.shop'], '', 'web.shop'],
    [path, [], 'O=Example, CN=pod', 'pod'],
    [path, [], 'O=Example', 'O=Example'],
    [path, [], '', 'cert-chain.pem'],
    [`file-cert:${path}~/etc/certs/key.pem`, ['URI:spiffe://a/b'], '', 'spiffe://a/b'],
  ])('of %s with %j and %j is %s', (name, subjectAltNames, subject, title) => {
    expect(certificateTitle({ name, subjectAltNames, subject })).toBe(title);
  });
});

describe('the window', () => {
  it.each([
    [20_000, 20_000],
    [300_000, 300_000],
    [3_600_000, 600_000],
  ])('of 10 minutes, of an agent %d ms old, is %d ms long', (age, long) => {
    expect(spanOf({ kind: 'last', ms: 600_000 }, now - age, now)).toEqual({
      from: now - long,
      to: now,
    });
  });

  it('stays where it was put', () => {
    expect(spanOf({ kind: 'span', from: 1, to: 2 }, 0, now)).toEqual({ from: 1, to: 2 });
  });
});

describe('a chart', () => {
  const series = (...values: readonly (number | undefined)[]) => [
    { name: 'a', epoch: 0, points: values.map((value, index) => ({ at: index, value })) },
  ];

  it('has data where something was measured, be it 0', () => {
    expect(
      [[], series(), series(undefined), series(undefined, 0)].map((all) => hasData(all)),
    ).toEqual([false, false, false, true]);
  });
});

describe('the service of a direction', () => {
  const texts = (...report: Parameters<typeof directionCells>) =>
    directionCells(...report).map(({ text }) => text);

  it.each([
    [
      { requests: 1_000, failures: 0, p50Ms: 3.4, p99Ms: 1_240 },
      ['1,000', '100 %', '3 ms', '1.2 s'],
    ],
    [
      { requests: 100_000, failures: 1, p50Ms: 0, p99Ms: 0.4 },
      ['100,000', '99.99 %', '< 1 ms', '< 1 ms'],
    ],
    [{ requests: 2, failures: 2 }, ['2', '0.00 %', '–', '–']],
    [{ requests: 0, failures: 0 }, ['0', '–', '–', '–']],
  ])('is of %j so', (report, cells) => {
    expect(texts(report)).toEqual(cells);
  });
});
