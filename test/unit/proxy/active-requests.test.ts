import { describe, expect, it } from 'vitest';
import { activeFilter, activeRequests } from '../../../src/proxy/admin-questions.ts';

const inboundHttp = { 'http.inbound_0.0.0.0_8080.downstream_rq_active': 2 };
const outboundHttp = { 'http.outbound_0.0.0.0_80.downstream_rq_active': 3 };

describe('activeRequests', () => {
  it.each<{ what: string; stats: Readonly<Record<string, number>>; active: number | undefined }>([
    { what: 'is unknown without any gauge', stats: {}, active: undefined },
    {
      what: 'sums the requests of all HTTP connection managers',
      stats: { ...inboundHttp, ...outboundHttp },
      active: 5,
    },
    {
      what: 'is zero if the gauge says so',
      stats: { 'http.ingress.downstream_rq_active': 0 },
      active: 0,
    },
    {
      what: 'takes a prefix with dots',
      stats: { 'http.10.0.0.1_80;.a.downstream_rq_active': 1 },
      active: 1,
    },
    {
      what: 'leaves out the admin endpoint, the metrics and the health listener',
      stats: {
        'http.admin.downstream_rq_active': 1,
        'http.stats.downstream_rq_active': 1,
        'http.agent.downstream_rq_active': 1,
        'listener.admin.downstream_cx_active': 1,
        ...inboundHttp,
      },
      active: 2,
    },
    {
      what: 'is unknown if only those are there',
      stats: { 'http.admin.downstream_rq_active': 1 },
      active: undefined,
    },
    {
      what: 'counts a prefix that only begins like one of those',
      stats: { 'http.admin_api.downstream_rq_active': 4 },
      active: 4,
    },
    {
      what: 'counts the connections of a listener without HTTP',
      stats: { 'listener.0.0.0.0_5432.downstream_cx_active': 7 },
      active: 7,
    },
    {
      what: 'does not count the connections of a listener that speaks HTTP: idle ones do not matter',
      stats: {
        'listener.0.0.0.0_8080.downstream_cx_active': 50,
        'listener.0.0.0.0_8080.http.inbound_0.0.0.0_8080.downstream_rq_completed': 9,
        ...inboundHttp,
      },
      active: 2,
    },
    {
      what: 'adds the two kinds',
      stats: { ...inboundHttp, 'listener.0.0.0.0_5432.downstream_cx_active': 7 },
      active: 9,
    },
    {
      what: 'does not count a connection twice, per worker as well as per listener',
      stats: {
        'listener.0.0.0.0_5432.downstream_cx_active': 7,
        'listener.0.0.0.0_5432.worker_0.downstream_cx_active': 4,
        'listener.0.0.0.0_5432.worker_12.downstream_cx_active': 3,
        'listener.admin.main_thread.downstream_cx_active': 1,
        'listener.other.main_thread.downstream_cx_active': 1,
      },
      active: 7,
    },
    {
      what: 'does not count the connections within Envoy, of a waypoint, but the requests in them',
      stats: {
        'listener.0.0.0.0_15008.downstream_cx_active': 3,
        'listener.0.0.0.0_15008.http.connect_terminate.downstream_rq_completed': 9,
        'listener.envoy_internal_main_internal.downstream_cx_active': 4,
        'listener.envoy_internal_connect_originate.downstream_cx_active': 2,
        'http.connect_terminate.downstream_rq_active': 0,
        'http.inbound_0.0.0.0_80;.downstream_rq_active': 1,
      },
      active: 1,
    },
    {
      what: 'is unknown if there are no others',
      stats: { 'listener.envoy_internal_a.downstream_cx_active': 1 },
      active: undefined,
    },
    {
      what: 'tells listeners on the same port of other addresses apart',
      stats: {
        'listener.10.0.0.1_80.downstream_cx_active': 1,
        'listener.10.0.0.1_80.http.a.downstream_rq_completed': 9,
        'listener.[__]_80.downstream_cx_active': 5,
        ...inboundHttp,
      },
      active: 7,
    },
    {
      what: 'leaves out what it did not ask for',
      stats: {
        'cluster.a.upstream_rq_active': 5,
        'http.a.downstream_cx_active': 5,
        'http.a.downstream_rq_total': 5,
      },
      active: undefined,
    },
  ])('$what', ({ stats, active }) => {
    expect(activeRequests(new Map(Object.entries(stats)))).toBe(active);
  });

  it('asks for all that it looks at', () => {
    const filter = new RegExp(activeFilter);
    for (const name of [
      'http.inbound_0.0.0.0_8080.downstream_rq_active',
      'listener.0.0.0.0_5432.downstream_cx_active',
      'listener.0.0.0.0_8080.http.inbound_0.0.0.0_8080.downstream_rq_completed',
    ])
      expect(name).toMatch(filter);
    expect('cluster.a.upstream_rq_active').not.toMatch(filter);
    expect('http.a.downstream_cx_active').not.toMatch(filter);
  });
});
