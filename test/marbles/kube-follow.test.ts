import { concat, defer, delay, map, NEVER, type Observable, of, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { FollowSign } from '../../src/shared/kube/follow-state.ts';
import { followObjects } from '../../src/shared/kube/follow.ts';
import type { KubeAnswer, KubeApi, WatchSign } from '../../src/shared/kube/kube-api.ts';
import type { KubeObject } from '../../src/shared/kube/kube-object.ts';
import { objectStore } from '../../src/shared/kube/object-store.ts';
import { growthRatio } from '../support/growth-ratio.ts';
import { marbles } from '../support/marbles/marbles.ts';

const object = (name: string, resourceVersion: string): KubeObject => ({
  metadata: { name, resourceVersion },
});
const kinds: KubeAnswer = {
  ok: true,
  value: { resources: [{ name: 'secrets', kind: 'Secret', namespaced: true }] },
};
const list = (version: string, ...items: readonly KubeObject[]): KubeAnswer => ({
  ok: true,
  value: { metadata: { resourceVersion: version }, items },
});
const refused = (status: number | undefined, pause = 0): KubeAnswer => ({
  ok: false,
  failure: { reason: 'no', status, pause },
});
const opened: WatchSign = { type: 'opened' };
const silent: WatchSign = { type: 'silent' };
const ended: WatchSign = { type: 'ended', reason: 'over' };
const watchEvent = (type: string, about: unknown): WatchSign => ({
  type: 'event',
  value: { type, object: about },
});
const tooOld = watchEvent('ERROR', { kind: 'Status', code: 410, message: 'too old' });

/**
 * Returns an API whose n-th answer is the n-th of the script, and the requests that it received.
 */
function scripted(lists: readonly KubeAnswer[], watches: readonly Observable<WatchSign>[]) {
  const [requests, limits]: [string[], number[]] = [[], []];
  let [listed, watched] = [0, 0];
  const api: KubeApi = {
    get: (path) =>
      defer(() => {
        const url = new URL(path, 'https://api');
        if (url.searchParams.has('limit')) limits.push(Number(url.searchParams.get('limit')));
        requests.push(
          url.pathname.endsWith('/v1') ? 'find' : `list${url.searchParams.get('continue') ?? ''}`,
        );
        return of(url.pathname.endsWith('/v1') ? kinds : (lists[listed++] ?? refused(500)));
      }),
    watch: (path) =>
      defer(() => {
        requests.push(
          `watch ${new URL(path, 'https://api').searchParams.get('resourceVersion') ?? ''}`,
        );
        return watches[watched++] ?? concat(of(opened), NEVER);
      }),
  };
  return { api, requests, limits };
}
/** Returns the same API with 1 ms for each answer. */
const delayed = (world: ReturnType<typeof scripted>): ReturnType<typeof scripted> => ({
  ...world,
  api: { ...world.api, get: (path, decode) => world.api.get(path, decode).pipe(delay(1)) },
});
const query = { kind: 'Secret', namespace: 'ns', name: '' };

/** Emits each sign as a few words. */
function inWords(sign$: Observable<FollowSign>): Observable<string> {
  return sign$.pipe(
    map((sign) => {
      if (sign.type === 'listed')
        return `listed ${sign.objects.map(({ metadata }) => metadata.name).join()}`;
      if (sign.type === 'lost') return `lost ${sign.delayMs}`;
      return sign.type === 'current' ? 'current' : `${sign.type} ${sign.object.metadata.name}`;
    }),
  );
}

function follow({ api }: ReturnType<typeof scripted>): Observable<FollowSign> {
  return followObjects(api, query, { random: () => 0.5 });
}

describe('followObjects', () => {
  it(
    'finds the kind, lists, watches from the version of the list, and tells each change',
    marbles((m) => {
      const watch$ = m.cold('o 999ms a 999ms b 999ms d', {
        o: opened,
        a: watchEvent('ADDED', object('b', '6')),
        b: watchEvent('MODIFIED', object('a', '7')),
        d: watchEvent('DELETED', object('a', '8')),
      });
      const world = scripted([list('5', object('a', '1'))], [watch$]);
      m.expectObservable(inWords(follow(world)), '^ 5s !').toBe('(lc) 996ms a 999ms b 999ms d', {
        ...{ l: 'listed a', c: 'current', a: 'set b', b: 'set a', d: 'removed a' },
      });
      m.flush();
      expect(world.requests).toEqual(['find', 'list', 'watch 5']);
    }),
  );

  it(
    'reads a list page by page',
    marbles((m) => {
      const first = {
        ok: true,
        value: { metadata: { resourceVersion: '5', continue: 'more' }, items: [object('a', '1')] },
      } as const;
      const world = scripted([first, list('5', object('b', '1'))], []);
      m.expectObservable(inWords(follow(world)), '^ 5s !').toBe('(lc)', {
        l: 'listed a,b',
        c: 'current',
      });
      m.flush();
      expect(world.requests).toEqual(['find', 'list', 'listmore', 'watch 5']);
    }),
  );

  it(
    'reads larger pages after the first one, and small ones again if a large one cannot be read',
    marbles((m) => {
      const page = (name: string): KubeAnswer => ({
        ok: true,
        value: { metadata: { resourceVersion: '5', continue: 'more' }, items: [object(name, '1')] },
      });
      const lists = [page('a'), page('b'), refused(undefined), page('c'), list('5')];
      const world = scripted(lists, []);
      m.expectObservable(inWords(follow(world)), '^ 5s !').toBe('(lc)', {
        l: 'listed a,b,c',
        c: 'current',
      });
      m.flush();
      expect(world.limits).toEqual([250, 1_000, 1_000, 250, 250]);
    }),
  );

  it(
    'does not read a page again that is refused, or a small one',
    marbles((m) => {
      const page = {
        ok: true,
        value: { metadata: { resourceVersion: '5', continue: 'more' }, items: [] },
      } as const;
      const world = scripted([page, refused(410), refused(undefined), list('6')], []);
      m.expectObservable(inWords(follow(world)), '^ 9s !').toBe('x 1999ms (lc)', {
        x: 'lost 2000',
        l: 'listed ',
        c: 'current',
      });
      m.flush();
      expect(world.limits).toEqual([250, 1_000, 250, 250]);
    }),
  );

  it.each([
    {
      title: 'pages without an end',
      page: { metadata: { resourceVersion: '5', continue: 'more' }, items: [] },
      lists: 2_000,
      reason: '/api/v1/secrets: the list does not end after 2000 pages',
    },
    {
      title: 'a continuation of any length',
      page: { metadata: { resourceVersion: '5', continue: 'm'.repeat(16_385) }, items: [] },
      lists: 1,
      reason: '/api/v1/secrets: `continue` has more than 16384 characters',
    },
    {
      title: 'an answer that is not a list',
      page: { metadata: { resourceVersion: '5' } },
      lists: 1,
      reason: '/api/v1/secrets: its answer is not a list',
    },
  ])('gives up a list for $title, and lists again after a pause', ({ page, lists, reason }) => {
    marbles((m) => {
      const answers = Array<KubeAnswer>(lists).fill({ ok: true, value: page });
      const world = scripted([...answers, list('6')], []);
      m.expectObservable(follow(delayed(world)), '^ 4s !').toBe(`${lists + 1}ms x 1s (lc)`, {
        x: { type: 'lost', cause: 200, reason, delayMs: 1_000 },
        l: { type: 'listed', objects: [] },
        c: { type: 'current' },
      });
    })();
  });

  it(
    'reads a list whose pages have one object each',
    marbles((m) => {
      const pages = Array.from({ length: 1_999 }, (_, index): KubeAnswer => ({
        ok: true,
        value: {
          metadata: { resourceVersion: '5', continue: 'more' },
          items: [object(`a${index}`, '1')],
        },
      }));
      const counted$ = follow(delayed(scripted([...pages, list('5')], []))).pipe(
        map((sign) => (sign.type === 'listed' ? sign.objects.length : sign.type)),
      );
      m.expectObservable(counted$, '^ 4s !').toBe('2s -(lc)', { l: 1_999, c: 'current' });
    }),
  );

  it(
    'goes on from the last version that it has heard of, be it a bookmark, when a watch is over',
    marbles((m) => {
      const watch$ = m.cold('o 999ms a 999ms b 2s (e|)', {
        o: opened,
        a: watchEvent('ADDED', object('b', '6')),
        b: watchEvent('BOOKMARK', { metadata: { resourceVersion: '9' } }),
        e: ended,
      });
      const world = scripted([list('5')], [watch$]);
      m.expectObservable(inWords(follow(world)), '^ 9s !').toBe('(lc) 996ms a 3s c', {
        l: 'listed ',
        c: 'current',
        a: 'set b',
      });
      m.flush();
      expect(world.requests).toEqual(['find', 'list', 'watch 5', 'watch 9']);
    }),
  );

  it(
    'lists again at once, and without a word, if the version is forgotten; then after a pause',
    marbles((m) => {
      const old$ = m.cold('(oe)', { o: opened, e: tooOld });
      const world = scripted([list('5'), list('6'), list('7')], [old$, old$]);
      m.expectObservable(inWords(follow(world)), '^ 9s !').toBe('(lclcx) 1993ms (lc)', {
        l: 'listed ',
        c: 'current',
        x: 'lost 2000',
      });
      m.flush();
      expect(world.requests).toEqual([
        'find',
        'list',
        'watch 5',
        'list',
        'watch 6',
        'list',
        'watch 7',
      ]);
    }),
  );

  it(
    'tries again after 1 s, 2 s, … while there is no connection, and lists: the API may have the data of a backup',
    marbles((m) => {
      const away$ = of<WatchSign>({
        type: 'refused',
        failure: { reason: 'no', status: undefined, pause: 0 },
      });
      const watch$ = m.cold('o 20s (e|)', { o: opened, e: ended });
      const unanswered: KubeAnswer = {
        ok: false,
        failure: { reason: 'no', status: undefined, pause: 0 },
      };
      const world = scripted([list('5'), unanswered, unanswered, list('3')], [watch$, away$]);
      m.expectObservable(inWords(follow(world)), '^ 40s !').toBe(
        '(lc) 19997ms x 999ms y 1999ms z 3999ms (lc)',
        {
          ...{ l: 'listed ', c: 'current', x: 'lost 1000', y: 'lost 2000', z: 'lost 4000' },
        },
      );
      m.flush();
      expect(world.requests).toEqual([
        'find',
        'list',
        'watch 5',
        'watch 5',
        'list',
        'list',
        'list',
        'watch 3',
      ]);
    }),
  );

  it(
    'lists again after a refusal, for it may have missed something; and waits as long as the API says, 30 s at most by itself',
    marbles((m) => {
      const no$ = of<WatchSign>({
        type: 'refused',
        failure: { reason: 'no', status: 403, pause: 0 },
      });
      const world = scripted(
        [list('5'), refused(429, 9_000), ...Array<KubeAnswer>(5).fill(refused(403)), list('6')],
        [no$],
      );
      m.expectObservable(inWords(follow(world)), '^ 150s !').toBe(
        '(lx) 996ms y 8999ms 4 3999ms 8 7999ms 6 15999ms 3 29999ms 3 29999ms (kc)',
        {
          ...{
            l: 'listed ',
            x: 'lost 1000',
            y: 'lost 9000',
            4: 'lost 4000',
            8: 'lost 8000',
            6: 'lost 16000',
            3: 'lost 30000',
            k: 'listed ',
            c: 'current',
          },
        },
      );
    }),
  );

  it(
    'takes a watch that ends at once for a failure, so that it does not ask in a circle',
    marbles((m) => {
      const short$ = m.cold('o 998ms (e|)', { o: opened, e: ended });
      const world = scripted([list('5'), list('6'), list('7')], [short$, short$]);
      m.expectObservable(inWords(follow(world)), '^ 9s !').toBe(
        '(lc) 995ms x 999ms (lc) 995ms y 1999ms (lc)',
        {
          ...{ l: 'listed ', c: 'current', x: 'lost 1000', y: 'lost 2000' },
        },
      );
    }),
  );

  it(
    'watches again if a watch falls silent, and lists again if the next one does too',
    marbles((m) => {
      const silent$ = m.cold<WatchSign>('o 150s (s|)', { o: opened, s: silent });
      const world = scripted([list('5'), list('6')], [silent$, silent$]);
      m.expectObservable(inWords(follow(world)), '^ 400s !').toBe('(lc) 149997ms c 150000ms (lc)', {
        l: 'listed ',
        c: 'current',
      });
      m.flush();
      expect(world.requests).toEqual(['find', 'list', 'watch 5', 'watch 5', 'list', 'watch 6']);
    }),
  );

  it(
    'lets go of the API when it is unsubscribed',
    marbles((m) => {
      const watch$ = m.cold('o', { o: opened });
      m.expectObservable(inWords(follow(scripted([list('5')], [watch$]))), '^ 5s !').toBe('(lc)', {
        l: 'listed ',
        c: 'current',
      });
      m.expectSubscriptions(watch$.subscriptions).toBe('^ 5s !');
    }),
  );
});

describe('objectStore', () => {
  const sign$ = new Subject<FollowSign>();
  const run = (...signs: readonly FollowSign[]) => {
    const changes: string[] = [];
    const error = (thrown: unknown) => {
      throw thrown;
    };
    const subscription = objectStore(sign$, ({ metadata }) => metadata.resourceVersion).subscribe({
      next: (store) =>
        changes.push(
          `${store.changes.map(({ type, key, value }) => `${type} ${key} ${value}`).join('; ')} (${store.objects.size})`,
        ),
      error,
    });
    for (const sign of signs) sign$.next(sign);
    subscription.unsubscribe();
    return changes;
  };

  it('tells of a list only what differs from what was known', () => {
    const first: FollowSign = {
      type: 'listed',
      objects: [object('a', '1'), object('b', '2'), object('c', '3')],
    };
    const second: FollowSign = {
      type: 'listed',
      objects: [object('a', '1'), object('b', '9'), object('d', '4')],
    };
    expect(run(first, second, second)).toEqual([
      'added a 1; added b 2; added c 3 (3)',
      'changed b 9; added d 4; removed c 3 (3)',
      ' (3)',
    ]);
  });

  it('tells each event once, and keeps what it knows through an outage', () => {
    const a2: FollowSign = { type: 'set', object: object('a', '2') };
    const lost: FollowSign = {
      type: 'lost',
      cause: 500,
      reason: 'no',
      delayMs: 1,
    };
    expect(
      run({ type: 'listed', objects: [object('a', '1')] }, a2, a2, lost, {
        type: 'removed',
        object: object('a', '3'),
      }),
    ).toEqual(['added a 1 (1)', 'changed a 2 (1)', ' (1)', ' (1)', 'removed a 2 (0)']);
  });

  it('follows ten times as many objects, of which each changes, for at most 20 times the CPU', () => {
    const followed = (count: number) => {
      const all = (version: string) =>
        Array.from({ length: count }, (_, n) => object(`o${n}`, version));
      const signs: readonly FollowSign[] = [
        { type: 'listed', objects: all('1') },
        ...all('2').map((each): FollowSign => ({ type: 'set', object: each })),
        { type: 'listed', objects: all('2') },
      ];
      return () => expect(run(...signs).at(-1)).toBe(` (${count})`);
    };
    expect(growthRatio(followed(1_000), followed(10_000), 20)).toBeLessThan(20);
  });
});
