import { describe, it } from 'vitest';
import { drawAgent } from './support/draw-agent.ts';
import { marbles } from './support/marbles.ts';

describe('a request to drain', () => {
  it(
    'asks Envoy to drain, and goes on for as long as nothing else is asked',
    marbles((m) => {
      const hash$ = m.hot('    a');
      const drain$ = m.hot('   10s d');
      const unsub = '          ^ 10m !';
      const serving = '        n 499ms 0 9499ms D';
      const drains = '         10s g';
      const signals = '        -';
      const agent = drawAgent(m, { hash$, drain$ }, { processes: ['-'], active: ['0'] });
      m.expectObservable(agent.serving$, unsub).toBe(serving);
      m.expectObservable(agent.drained$).toBe(drains, { g: 'g0', p: 'p0' });
      m.expectObservable(agent.signalled$).toBe(signals);
    }),
  );

  it(
    'lets a later SIGTERM end Envoy at once: there is nothing left to wait for',
    marbles((m) => {
      const hash$ = m.hot('       a');
      const drain$ = m.hot('      10s d');
      const terminate$ = m.hot('  30s t');
      const serving = '           n 499ms 0 9499ms D 19999ms (A|)';
      const drains = '            10s g 19999ms p';
      const signals = '           30s T';
      const agent = drawAgent(m, { hash$, drain$, terminate$ }, { processes: ['-'], active: ['3'] });
      m.expectObservable(agent.serving$).toBe(serving);
      m.expectObservable(agent.drained$).toBe(drains, { g: 'g0', p: 'p0' });
      m.expectObservable(agent.signalled$).toBe(signals);
    }),
  );

  it(
    'starts no epoch from then on, for a change or by hand',
    marbles((m) => {
      const hash$ = m.hot('     a 10999ms b');
      const drain$ = m.hot('    10s d');
      const restart$ = m.hot('  15s c');
      const unsub = '           ^ 10m !';
      const launches = '        a';
      const agent = drawAgent(m, { hash$, drain$, restart$ }, { processes: ['-'] });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 9499ms D');
      m.expectObservable(agent.hashes$).toBe(launches);
    }),
  );

  it(
    'does not make a crash a wish: the agent ends with Envoy',
    marbles((m) => {
      const hash$ = m.hot('   a');
      const drain$ = m.hot('  10s d');
      const process = '       S 19999ms x';
      const serving = '       n 499ms 0 9499ms D 9999ms (E|)';
      const agent = drawAgent(m, { hash$, drain$ }, { processes: [process] });
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );

  it(
    'is one too many after SIGTERM, and cuts nothing short',
    marbles((m) => {
      const hash$ = m.hot('       a');
      const terminate$ = m.hot('  10s t');
      const drain$ = m.hot('      12s d');
      const serving = '           n 499ms 0 9499ms D 4999ms (A|)';
      const agent = drawAgent(m, { hash$, drain$, terminate$ }, { processes: ['-'], active: ['0'] });
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );
});
