import { firstValueFrom, type Observable, of, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { readingRights } from '../../../../src/pilot-discovery/credentials/reading-rights.ts';
import { reviewByApi } from '../../../../src/pilot-discovery/identity/review-by-api.ts';
import { nothingFollowed, reduceFollow } from '../../../../src/shared/kube/follow-state.ts';
import type { KubeAnswer, KubeApi, KubeWriter } from '../../../../src/shared/kube/kube-api.ts';
import { decodeJson, type KubeObject } from '../../../../src/shared/kube/kube-object.ts';
import { listObjects } from '../../../../src/shared/kube/list.ts';
import { notElected, reduceElection } from '../../../../src/shared/kube/reduce-election.ts';
import {
  findResource,
  type KubeResource,
  type ResourceLookup,
} from '../../../../src/shared/kube/resource.ts';

/** An object of JSON that no text can be made of. */
const textless = { toString: 1, valueOf: 1 };
const wrongMembers = [null, 1, true, 'a', [], [null], [[]], {}, textless, [textless]];
const wrongBodies = [null, 1, true, 'a', [], [null], [[]], {}, textless];

/** Returns each wrong body, and bodies in which a member, or an inner one, is wrong. */
const bodiesWith = (...members: readonly string[]): readonly (readonly [string, unknown])[] =>
  [
    ...wrongBodies,
    ...members.flatMap((member) =>
      wrongMembers.map((wrong) =>
        member.split('.').reduceRight<unknown>((value, name) => ({ [name]: value }), wrong),
      ),
    ),
  ].map((body) => [JSON.stringify(body), body]);

const answering = (value: unknown): KubeApi & KubeWriter => {
  const answer$ = () => of<KubeAnswer>({ ok: true, value });
  return { get: answer$, create: answer$, apply: answer$, merge: answer$, watch: () => of() };
};
const secrets: KubeResource = {
  kind: 'Secret',
  base: '/api/v1',
  plural: 'secrets',
  isNamespaced: true,
  decode: decodeJson,
};
const allSecrets = { kind: 'Secret', namespace: '', name: '' };
const first = (value$: Observable<unknown>) => firstValueFrom(value$, { defaultValue: undefined });
const withReason = { reason: expect.stringMatching(/./) as string };

describe('a wrong answer of the Kubernetes API is a failure with a reason', () => {
  describe.each(['Secret', 'Gateway.networking.istio.io', 'Gateway.v1.networking.istio.io'])(
    'about the resource of %s',
    (kind) => {
      it.each([
        ...bodiesWith('resources', 'preferredVersion', 'preferredVersion.version'),
        ...wrongMembers.map((wrong) => {
          const resource = { name: 'a', kind: 'b', singularName: wrong };
          const resources = [wrong, { name: wrong }, { name: 'secrets', kind: wrong }, resource];
          return ['a resource', { resources }] as const;
        }),
      ])('%s', async (_, body) => {
        const lookup = (await first(findResource(answering(body), kind))) as ResourceLookup;
        expect(lookup).toMatchObject({ ok: false, failure: withReason });
        const [{ signs }] = reduceFollow(nothingFollowed, {
          ...{ type: 'found', result: lookup, random: 0 },
        });
        // The answer about a version may be an empty list: it has no kinds.
        const isRight =
          JSON.stringify(body) === '{"resources":[]}' && kind !== 'Gateway.networking.istio.io';
        expect(signs).toMatchObject([
          { type: 'lost', cause: isRight ? 'no-kind' : (expect.any(Number) as number) },
        ]);
      });
    },
  );

  it.each(bodiesWith('items', 'metadata', 'metadata.resourceVersion'))(
    'about a list: %s',
    async (_, body) => {
      const listed$ = listObjects(
        answering(body),
        ...([secrets, allSecrets, (object: KubeObject) => object] as const),
      );
      expect(await first(listed$)).toMatchObject({ ok: false, failure: withReason });
    },
  );

  it.each(wrongMembers.map((wrong) => [JSON.stringify(wrong), wrong]))(
    'among the items of a list is left out: %s',
    async (_, wrong) => {
      const items = [wrong, { metadata: wrong }, { metadata: { name: wrong } }];
      const listed$ = listObjects(
        answering({ metadata: { resourceVersion: '1' }, items }),
        ...([secrets, allSecrets, (object: KubeObject) => object] as const),
      );
      expect(await first(listed$)).toEqual({ ok: true, objects: [], version: '1' });
    },
  );

  it.each(bodiesWith('type', 'object', 'object.metadata', 'object.metadata.name'))(
    'as an event of a watch tells nothing: %s',
    (_, value) => {
      const sign = { type: 'event', value } as const;
      const [{ signs }] = reduceFollow(nothingFollowed, {
        ...{ type: 'watched', sign, lasted: 0, random: 0 },
      });
      expect(signs).toEqual([]);
    },
  );

  it.each(bodiesWith('code', 'message'))('as the error of a watch: %s', (_, object) => {
    const sign = { type: 'event', value: { type: 'ERROR', object } } as const;
    const [{ signs }] = reduceFollow(nothingFollowed, {
      ...{ type: 'watched', sign, lasted: 0, random: 0 },
    });
    expect(signs).toMatchObject([{ type: 'lost', ...withReason }]);
  });

  it.each(bodiesWith('metadata', 'metadata.name', 'spec', 'spec.holderIdentity'))(
    'as a lease elects nobody: %s',
    (_, value) => {
      for (const type of ['read', 'written'] as const) {
        const answer = { ok: true, value } as const;
        const [{ role }, effects] = reduceElection(notElected, { type, answer, random: 0 });
        expect([role, effects]).toMatchObject(['follows', [{ type: 'wait' }]]);
      }
    },
  );

  it.each([
    ...bodiesWith('status', 'status.authenticated', 'status.error', 'status.audiences'),
    ...wrongMembers.map(
      (audiences) => ['audiences', { status: { authenticated: true, audiences } }] as const,
    ),
    ...wrongMembers.flatMap((wrong) =>
      [wrong, { username: wrong }, { groups: wrong }].map(
        (user) => ['a user', { status: { authenticated: true, audiences: ['it'], user } }] as const,
      ),
    ),
  ])('as a TokenReview: %s', async (_, body) => {
    const review$ = reviewByApi(answering(body), ['it'], new VirtualTimeScheduler());
    const proof = { token: '', claims: {}, address: '', trustDomain: 'cluster.local' };
    expect(await first(review$(proof as never))).toMatchObject({
      ...{ ok: false, ...withReason },
    });
  });

  it.each(
    bodiesWith('status', 'status.allowed').filter(
      ([name]) => name !== '{"status":{"allowed":true}}',
    ),
  )('as a SubjectAccessReview: %s', async (_, body) => {
    const scheduler = new VirtualTimeScheduler();
    const right$ = readingRights(answering(body), () => undefined, scheduler);
    const caller = {
      namespace: 'a',
      serviceAccount: 'b',
      trustDomain: 'c',
    };
    expect(await first(right$(caller))).toMatchObject({ type: 'denied', ...withReason });
  });
});
