import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStats } from '../../../src/proxy/admin-client.ts';

describe('parseStats', () => {
  it.each<{ what: string; body: string; stats: readonly (readonly [string, number])[] }>([
    { what: 'reads nothing from nothing', body: '', stats: [] },
    { what: 'reads a stat', body: 'server.state: 0\n', stats: [['server.state', 0]] },
    {
      what: 'reads the last line without its break',
      body: 'a: 1\nb: 2',
      stats: [
        ['a', 1],
        ['b', 2],
      ],
    },
    {
      what: 'takes a name with colons (an IPv6 listener)',
      body: 'listener.[::]: x_80.y: 3',
      stats: [['listener.[::]: x_80.y', 3]],
    },
    {
      what: 'leaves out a histogram',
      body: 'h: P0(nan,1.0) P25(nan,1.025)\nh2: No recorded values\na: 1',
      stats: [['a', 1]],
    },
    {
      what: 'leaves out a text readout',
      body: 'control_plane.identifier: "pilot: 5"\na: 1',
      stats: [['a', 1]],
    },
    { what: 'leaves out what has no separator', body: 'server.state 0\na: 1', stats: [['a', 1]] },
    { what: 'leaves out what has no name', body: ': 5\na: 1', stats: [['a', 1]] },
    { what: 'leaves out what has no value', body: 'server.state: \na: 1', stats: [['a', 1]] },
    { what: 'leaves out what is beyond exact numbers', body: 'a: 18446744073709551615', stats: [] },
    { what: 'leaves out a fraction', body: 'a: 1.5', stats: [] },
  ])('$what', ({ body, stats }) => {
    expect([...parseStats(body)]).toEqual(stats);
  });

  it('reads back what Envoy writes, whatever the names', () => {
    const name = fc.string({ minLength: 1 }).filter((text) => !text.includes('\n'));
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(name, fc.nat()), { selector: ([key]) => key }),
        (entries) => {
          const body = entries.map(([key, value]) => `${key}: ${value}\n`).join('');
          expect([...parseStats(body)]).toEqual(entries);
        },
      ),
    );
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string(), (body) => {
        parseStats(body);
      }),
    );
  });
});
