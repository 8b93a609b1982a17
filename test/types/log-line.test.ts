import { expect, it } from 'vitest';
import { line } from '../../src/shared/log/log-line.ts';

const uncalled = (write: () => unknown) => write;

/** Shows lines that the compiler refuses. None of them is called. */
it('a line that the catalogue does not have does not compile', () => {
  const refused = [
    // @ts-expect-error there is no such event
    uncalled(() => line('epoch.lost', { epoch: 0 })),
    // @ts-expect-error it has two sentences, one for an old epoch that goes on
    uncalled(() => line('config.refused', { hash: 'a' })),
    // @ts-expect-error it has no such sentence
    uncalled(() => line('drain.ended', {}, 'late')),
    // @ts-expect-error it has one sentence
    uncalled(() => line('epoch.late', { epoch: 0 }, 'old')),
    // @ts-expect-error its sentence contains a number
    uncalled(() => line('agent.ready', {}, 'soon')),
    // @ts-expect-error its sentence is a message of Envoy
    uncalled(() => line('envoy.log', {}, 'warn')),
    // @ts-expect-error its level follows from its event
    uncalled(() => line('epoch.started', {}, 'debug')),
  ];
  expect(refused).toHaveLength(7);
});
