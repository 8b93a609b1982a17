import test from 'node:test';
import { gated, source, throttled } from 'pilot-agent';
import { drawAgent } from 'pilot-agent/testing';
import { map, timer } from 'rxjs';

void test('a new epoch starts at most every ten minutes, with the newest content', () => {
  drawAgent({
    config: 'a 59s b 59s c',
    source: (read, on$) => throttled(source('mine', read, { on$ }), 600_000),
  }).expectEpochs('a 609999ms c');
});

void test('no epoch starts in the second hour', () => {
  const isOpen$ = timer(0, 3_600_000).pipe(map((count) => count !== 1));
  drawAgent({
    config: 'a 90m b',
    source: (read, on$) => gated(source('mine', read, { on$ }), isOpen$),
  }).expectEpochs('a 7209999ms b');
});

void test('an outage starts no new epoch', () => {
  drawAgent({ config: 'a 9s # 59s a' }).expectEpochs('a');
});
