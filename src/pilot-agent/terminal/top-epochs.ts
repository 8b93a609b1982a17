import type { EpochReport } from '../report/epoch-report.ts';
import { whyText } from '../report/epoch-table.ts';
import type { Past } from '../report/shown-past.ts';
import { lifeLine } from './life-line.ts';
import { endOf, stateOf } from './epoch-words.ts';
import type { Paint } from '../../shared/log/paint.ts';
import { loadOf, rateOf } from './rates.ts';
import { fitted, fittedRight, oneLine, wrapped } from './text-width.ts';
import { between, timeSpan } from './time-span.ts';
import type { TopState } from './top-model.ts';

/** The columns of a line outside its timeline. */
const number = 5;
const state = 16;
const figures = 27;
/** The indent of an epoch's details. */
const indent = '      ';

/**
 * Writes the epochs, newest first, one line each, and the details of the selected one: at most
 * `height` lines. Pure.
 */
export function topEpochs(
  model: TopState,
  past: Past,
  height: number,
  paint: Paint,
): readonly string[] {
  const { epochs, selected, size, traffic } = model;
  const chosen = epochs.find(({ epoch }) => epoch === selected);
  const more = chosen === undefined ? [] : details(chosen, model, paint);
  const shown = around([...epochs].reverse(), selected, Math.max(1, height - more.length));
  const width = Math.max(0, size.width - number - state - figures - 3);
  const lines = shown.map((epoch) => {
    const { text, style } = stateOf(epoch);
    const isChosen = epoch.epoch === selected;
    const head = fitted(
      `${isChosen ? '>' : ' '}${fittedRight(String(epoch.epoch), number - 1)}`,
      number,
    );
    const word = paint(style, fitted(text, state));
    return `${isChosen ? paint('bold', head) : head} ${word} ${lifeLine(epoch, past, width, paint)} ${figuresOf(epoch, traffic)}`;
  });
  return [...lines, ...more].slice(0, Math.max(1, height));
}

/** Returns as many epochs as fit, with the selected one among them. */
function around(
  epochs: readonly EpochReport[],
  selected: number | undefined,
  count: number,
): readonly EpochReport[] {
  const index = Math.max(
    0,
    epochs.findIndex(({ epoch }) => epoch === selected),
  );
  const from = Math.max(0, Math.min(index - count + 1, epochs.length - count));
  return epochs.slice(from, from + count);
}

/** Writes the current load of an epoch; if it has ended, how long it lived. */
function figuresOf(epoch: EpochReport, traffic: TopState['traffic']): string {
  if (epoch.state === 'ended')
    return fittedRight(
      epoch.lifeMs === undefined ? '' : `lived ${timeSpan(epoch.lifeMs)}`,
      figures,
    );
  const rate = rateOf(epoch.epoch, traffic);
  const { bytes } = loadOf(traffic, (process) => process.epoch === epoch.epoch);
  const memory = bytes === 0 ? '' : `${Math.round(bytes / (1 << 20))} MiB`;
  return fittedRight(
    [
      ...(rate === undefined ? [] : [`${short(rate.requests)}/s ${short(rate.failures)} fail`]),
      memory,
    ].join('  '),
    figures,
  );
}

function short(value: number): string {
  return value > 0 && value < 10 ? value.toFixed(1) : String(Math.round(value));
}

function details(
  epoch: EpochReport,
  { now, long, size }: TopState,
  paint: Paint,
): readonly string[] {
  const { pid, hash, lineage, launchedAt, startMs, drainMs, exit } = epoch;
  const age = between(launchedAt, new Date(now).toISOString()) ?? 0;
  const facts = [
    `process ${pid === undefined ? 'not known' : String(pid)}`,
    `launched ${launchedAt} (${timeSpan(Math.max(0, age))} ago)`,
    ...(startMs === undefined ? [] : [`live after ${timeSpan(startMs)}`]),
    ...(drainMs === undefined ? [] : [`drained for ${timeSpan(drainMs)}`]),
    `hash ${hash.slice(0, 8)}`,
    `lineage ${lineage}`,
  ].join(', ');
  const end = exit === undefined ? [] : [endOf(exit)];
  const width = long === 'cut' ? Infinity : size.width - indent.length;
  return [facts, ...end, `why: ${oneLine(whyText(epoch))}`].flatMap((text) =>
    wrapped(text, width).map((line) => paint('dim', `${indent}${line}`)),
  );
}
