import { NEVER } from 'rxjs';
import { expect, it } from 'vitest';
import {
  type AgentSettings,
  compose,
  debounced,
  polled,
  renamed,
  source,
  type SourceOptions,
  throttled,
} from '../../src/index.ts';

// The compiler checks the settings of an agent. The options of a source are checked at run time
// too, because not all users write TypeScript.

it('a setting of a kind that its flag does not have does not compile', () => {
  // @ts-expect-error a duration has a unit
  const unit: AgentSettings = { minDelay: 10 };
  // @ts-expect-error a duration has a known unit
  const parsecs: AgentSettings = { minDelay: '10 parsecs' };
  // @ts-expect-error a port is a number
  const port: AgentSettings = { statusPort: true };
  // @ts-expect-error there is no such rotation
  const rotation: AgentSettings = { rotation: 'push' };
  // @ts-expect-error there is no such role
  const role: AgentSettings = { role: 'gateway' };
  // @ts-expect-error there is no such level
  const level: AgentSettings = { proxyLogLevel: 'loud' };
  // @ts-expect-error a switch is on or off
  const keeps: AgentSettings = { keepEnvoy: 'yes' };
  // @ts-expect-error there is one such file
  const files: AgentSettings = { customConfigFile: ['a.json', 'b.json'] };
  // @ts-expect-error there is no such flag
  const misspelt: AgentSettings = { statusPrt: 0 };
  expect([unit, parsecs, port, rotation, role, level, keeps, files, misspelt]).toHaveLength(9);
});

it('a setting of the right kind compiles', () => {
  const settings: AgentSettings = {
    minDelay: '1m30s',
    drainDuration: '1.5h',
    statusPort: 15020,
    rotation: 'sds',
    proxyLogLevel: 'warning,misc:error',
    watch: ['/a', '/b'],
  };
  expect(settings).toBeDefined();
});

const read = () => NEVER;
const firstSource = source('one', read);

it.each<[what: string, make: () => unknown, reason: RegExp]>([
  [
    "as: 'epoch'",
    // @ts-expect-error there is no such use
    () => source('mine', read, { as: 'epoch' }),
    /as is 'epoch', and has to be one of restart, /,
  ],
  // @ts-expect-error no time is negative
  ['every: -5', () => source('mine', read, { every: -5 }), /every is -5/],
  // @ts-expect-error no time is negative
  ['timeout: -5', () => source('mine', read, { timeout: -5 }), /timeout is -5/],
  // @ts-expect-error no time is negative
  ['window: -5', () => source('mine', read, { window: -5 }), /window is -5/],
  // @ts-expect-error no time is negative
  ['firstWithin: -5', () => source('mine', read, { firstWithin: -5 }), /firstWithin is -5/],
  // @ts-expect-error a time is a number of ms
  ["every: '5s'", () => source('mine', read, { every: '5s' }), /every is 5s/],
  // @ts-expect-error no time is negative
  ['throttled by -1', () => throttled(firstSource, -1), /throttled: atLeast is -1/],
  // @ts-expect-error no time is negative
  ['debounced by -1', () => debounced(firstSource, -1), /debounced: quiet is -1/],
  // @ts-expect-error no time is negative
  ['polled every -1', () => polled(firstSource, -1), /polled: every is -1/],
  [
    'a time that is not a number',
    () => source('mine', read, { every: Number.NaN }),
    /every is NaN/,
  ],
  ['at without merge', () => source('mine', read, { at: 'admin' }), /at is for 'merge' alone/],
  ['no name', () => source('', read), /it needs a name/],
  ['renamed to nothing', () => renamed(firstSource, ''), /needs a name/],
  ['compose of nothing', () => compose(), /there is no source to compose/],
  [
    'two of one name',
    () => compose(firstSource, source('two', read), throttled(source('one', read), 5)),
    /two sources have the name 'one'/,
  ],
  [
    'one name for two',
    () => renamed(compose(firstSource, source('two', read)), 'both'),
    /one, two can not have one name/,
  ],
])('is refused, with what is wrong: %s', (_, make, reason) => {
  expect(make).toThrow(reason);
});

it('a time that is right, or computed, compiles', () => {
  const computed: number = 10 * 60;
  const options: SourceOptions = { every: computed, window: 0 };
  expect([
    source('mine', read, { every: 10_000, timeout: computed }),
    source('mine', read, options),
    throttled(firstSource, computed),
  ]).toHaveLength(3);
});
