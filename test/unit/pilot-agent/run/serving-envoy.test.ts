import { BehaviorSubject, of } from 'rxjs';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { AdminClient } from '../../../../src/proxy/admin-client.ts';
import { servingEnvoy } from '../../../../src/pilot-agent/run/serving-envoy.ts';
import { noSettings } from '../../../../src/pilot-agent/run/start/runtime-settings.ts';
import type { RunView } from '../../../../src/pilot-agent/run/state/view.ts';
import { configOf } from '../../../support/resolved.ts';

const viewOf = (epochs: Readonly<Record<number, string>>) =>
  ({
    agent: {
      epochs: new Map(Object.entries(epochs).map(([number, stage]) => [Number(number), { stage }])),
    },
    runtime: { ...noSettings, values: { k: 'v' } },
  }) as unknown as RunView;

describe('the settings and the questions for an Envoy', () => {
  it('reach the one that has become LIVE, whose admin endpoint is published just after', async () => {
    const published = { epoch: 0 };
    const requests: string[] = [];
    function request(_: string, path: string): ReturnType<AdminClient['request']> {
      requests.push(`${path.split('?')[0]} of ${published.epoch}`);
      return of({ ok: true, value: { status: 200, body: '' } });
    }
    const view$ = new BehaviorSubject(viewOf({ 0: 'live' }));
    const parts = { admin: { request } as AdminClient, binary: 'envoy', random: () => 0.5 };
    const subscription = servingEnvoy(configOf(), parts, view$).subscribe();
    await turn();
    requests.length = 0;
    view$.next(viewOf({ 0: 'draining', 1: 'live' }));
    published.epoch = 1;
    await turn();
    subscription.unsubscribe();
    expect(requests.toSorted()).toEqual(['/runtime_modify of 1', '/server_info of 1']);
  });
});
