import { describe, expect, it } from 'vitest';
import type { StoreEvent } from '../../../../../src/pilot-discovery/environment/store-event.ts';
import type { ConsulPlace } from '../../../../../src/pilot-discovery/registry/consul/consul-resources.ts';
import {
  type ConsulEvent,
  type ConsulState,
  emitConsul,
  foldConsul,
  nothingEmitted,
  unknownConsul,
} from '../../../../../src/pilot-discovery/registry/consul/consul-state.ts';
import { keyOf } from '../../../../../src/pilot-discovery/istio/documents/model.ts';

const place: ConsulPlace = {
  source: 'Consul',
  namespace: 'default',
  datacenter: '',
  urlOf: (service) => `http://consul/v1/health/service/${service}`,
};
const catalog = (...names: readonly string[]): ConsulEvent => ({ type: 'catalog', names });
const away: ConsulEvent = { type: 'catalog-failed', reason: 'it is away' };
const failed = (service: string, failedAt = 0): ConsulEvent => ({
  type: 'instances-failed',
  service,
  reason: 'it is refused',
  at: failedAt,
});

/** Returns an answer with instances, each `NAME` at 10.0.0.1, or `NAME@ADDRESS`. */
const has = (service: string, ...instances: readonly string[]): ConsulEvent => ({
  type: 'instances',
  service,
  read: {
    ports: [{ number: 80, name: 'http', protocol: 'http', targetPort: undefined }],
    problems: [],
    instances: instances.map((instance) => {
      const [name = '', address = '10.0.0.1'] = instance.split('@');
      const nothing = { ports: {}, labels: {}, network: '', locality: 'dc1' };
      return {
        name: `n/${name}`,
        port: 80,
        workload: { ...nothing, address, weight: 0, serviceAccount: '' },
      };
    }),
  },
});

function shown(event: StoreEvent): string {
  if (event.type === 'changed') {
    const texts = [
      ...event.upserts.map((resource) => `+${keyOf(resource)}`),
      ...event.removes.map((key) => `-${key}`),
    ];
    return texts.join(' ').replaceAll('/default', '');
  }
  if (event.type === 'flaws')
    return `flaws ${event.flaws.map(({ key = '', reason, severity }) => `${severity} ${key}: ${reason}`).join(', ')}`;
  return event.type === 'lost' ? `lost ${event.reason}` : event.type;
}

/** Returns the events that follow each list of events; the events of a list come together. */
function emitted(...steps: readonly (readonly ConsulEvent[])[]): readonly (readonly string[])[] {
  let [state, before]: [ConsulState, typeof nothingEmitted] = [unknownConsul, nothingEmitted];
  return steps.map((events) => {
    state = events.reduce((old, event) => foldConsul(old, event, place), state);
    before = emitConsul(before, state, place);
    return before.events.map(shown);
  });
}
const web = '+ConsulService/web +ConsulInstance/web/n/1';
const api = '+ConsulService/api +ConsulInstance/api/n/1';
const start = [[catalog('api', 'consul', 'web'), has('web', '1'), has('api', '1')]];

describe('what the source over Consul emits', () => {
  it('is synced once each service of the catalog has answered', () => {
    expect(
      emitted([catalog('api', 'consul', 'web')], [has('web', '1')], [has('api', '1')]),
    ).toEqual([[], [web], [api, 'synced']]);
  });

  it('is synced with an empty catalog', () => {
    expect(emitted([catalog()])).toEqual([['synced']]);
  });

  it('has instances that come, change and go, and services that go', () => {
    expect(
      emitted(
        ...start,
        [has('web', '1', '2')],
        [has('web', '1', '2@10.0.0.2')],
        [has('web', '1')],
        [has('web', '1')],
        [has('web')],
        [catalog('api')],
      ).slice(1),
    ).toEqual([
      ['+ConsulInstance/web/n/2'],
      ['+ConsulInstance/web/n/2'],
      ['-ConsulInstance/web/n/2'],
      [],
      ['-ConsulInstance/web/n/1'],
      ['-ConsulService/web'],
    ]);
  });

  it('keeps everything while the catalog cannot be read', () => {
    expect(emitted(...start, [away], [has('web')], [away]).slice(1)).toEqual([
      ['lost it is away'],
      [],
      [],
    ]);
  });

  it('removes nothing after an outage before all services have answered, and then all at once', () => {
    expect(
      emitted(
        ...start,
        [away],
        [catalog('api', 'web'), has('web', '2')],
        [failed('api')],
        [has('api')],
      ).slice(2),
    ).toEqual([
      ['+ConsulInstance/web/n/2'],
      [],
      ['-ConsulInstance/api/n/1 -ConsulInstance/web/n/1', 'synced'],
    ]);
  });

  it('removes in one event what a Consul has lost that comes back without its data', () => {
    expect(emitted(...start, [away], [catalog('consul')]).slice(2)).toEqual([
      [
        '-ConsulService/api -ConsulInstance/api/n/1 -ConsulService/web -ConsulInstance/web/n/1',
        'synced',
      ],
    ]);
  });

  it('names a service that fails again, goes on with the others, and removes none of it', () => {
    const flaw = 'error ConsulService/default/web: it is refused';
    expect(
      emitted(
        ...start,
        [failed('web')],
        [catalog('api', 'web')],
        [failed('web'), failed('web')],
        [has('api')],
        [has('web', '1')],
      ).slice(1),
    ).toEqual([[], [], [`flaws ${flaw}`], ['-ConsulInstance/api/n/1'], ['flaws ']]);
  });

  it('reads everything again after a failure of one service, and removes nothing before', () => {
    const [state] = [[catalog('api', 'web'), has('api', '1'), has('web', '1'), failed('web')]].map(
      (events) => events.reduce((old, event) => foldConsul(old, event, place), unknownConsul),
    );
    expect(state).toMatchObject({ catalog: { type: 'awaited' }, turn: 1 });
    expect(emitted(...start, [failed('web')], [has('api')], [catalog('consul')]).slice(1)).toEqual([
      [],
      [],
      ['-ConsulService/api -ConsulInstance/api/n/1 -ConsulService/web -ConsulInstance/web/n/1'],
    ]);
  });

  it('reads everything again once in 30 s at most, and names a service that goes on failing', () => {
    const current = [catalog('api', 'web'), has('api', '1'), has('web', '1')];
    const turnAfter = (...events: readonly ConsulEvent[]) =>
      [...current, failed('web', 0), ...current, ...events].reduce(
        (old, event) => foldConsul(old, event, place),
        unknownConsul,
      ).turn;
    expect(turnAfter(failed('web', 29_999))).toBe(1);
    expect(turnAfter(failed('web', 30_000))).toBe(2);
    expect(turnAfter(failed('web', -3_600_000))).toBe(2);
    expect(
      emitted(
        ...start,
        [failed('web', 0)],
        current,
        [failed('web', 1_000)],
        [failed('web', 2_000)],
        [has('web', '2')],
      ).slice(1),
    ).toEqual([
      [],
      [],
      [],
      ['flaws error ConsulService/default/web: it is refused'],
      ['+ConsulInstance/web/n/2 -ConsulInstance/web/n/1', 'flaws '],
    ]);
  });

  it('is lost if no service can be read', () => {
    expect(
      emitted(
        [catalog('api', 'web'), failed('api'), failed('api'), failed('web')],
        [failed('web')],
        [has('web', '1')],
        [has('api', '1')],
      ),
    ).toEqual([
      ['flaws error ConsulService/default/api: it is refused'],
      [
        'flaws error ConsulService/default/api: it is refused, error ConsulService/default/web: it is refused',
        'lost it is refused',
      ],
      [web, 'flaws error ConsulService/default/api: it is refused', 'synced'],
      [api, 'flaws '],
    ]);
  });

  it('names a service without a host, and at most five problems of one', () => {
    const problems = Array.from({ length: 7 }, (_, index) => `problem ${index}`);
    const read = { ports: [], instances: [], problems };
    expect(
      emitted([catalog('my_web', 'web'), { type: 'instances', service: 'web', read }])[0]?.[0],
    ).toBe(
      `flaws ${[
        "warning ConsulService/default/my_web: its name 'my_web' cannot be part of a DNS name, so it has no host and is not served",
        ...problems.slice(0, 4).map((text) => `warning ConsulService/default/web: ${text}`),
        'warning ConsulService/default/web: 3 more problems',
      ].join(', ')}`,
    );
  });

  it('has the datacenter in names of resources, and not in the host', () => {
    const east = { ...place, datacenter: 'east' };
    const events = [catalog('Web'), has('Web', '1')];
    const state = events.reduce((old, event) => foldConsul(old, event, east), unknownConsul);
    expect(emitConsul(nothingEmitted, state, east).events[0]).toMatchObject({
      upserts: [
        { name: 'Web.east', spec: { host: 'web.service.consul' } },
        { name: 'Web.east/n/1', spec: { service: 'Web.east', host: 'web.service.consul' } },
      ],
    });
  });

  it('shares connections among many services, until there are half as many', () => {
    const names = (count: number) => catalog(...Array.from({ length: count }, (_, i) => `s${i}`));
    const counts = [127, 128, 100, 64, 63];
    const states = counts.reduce<readonly ConsulState[]>(
      (list, count) => [...list, foldConsul(list.at(-1) ?? unknownConsul, names(count), place)],
      [],
    );
    expect(states.map(({ connections }) => connections)).toEqual([
      'one-each',
      'shared',
      'shared',
      'shared',
      'one-each',
    ]);
  });
});
