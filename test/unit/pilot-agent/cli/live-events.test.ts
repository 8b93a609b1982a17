import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Subject, takeUntil } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { liveEvents } from '../../../../src/pilot-agent/cli/live.ts';
import type { TopEvent } from '../../../../src/pilot-agent/terminal/top-model.ts';
import { fourEpochs } from '../../../support/agent-report.ts';
import { type FakeStatus, fakeStatus } from '../../../support/fake-status.ts';

describe('what an agent sends of itself', () => {
  let agent: FakeStatus;
  let heard: TopEvent[];
  let over$: Subject<void>;
  let listening: Promise<void>;
  beforeEach(async () => {
    agent = await fakeStatus();
    heard = [];
    over$ = new Subject();
    listening = listen(agent.folder, heard);
  });
  afterEach(async () => {
    over$.next();
    await listening;
    await agent.dispose();
  });
  const listen = (folder: string, events: TopEvent[]) =>
    liveEvents(folder)
      .pipe(takeUntil(over$))
      .forEach((event) => void events.push(event));
  const epochs = { event: 'epochs', data: fourEpochs } as const;
  const away = (reason: string) => ({ type: 'away', reason });

  it('is heard: at once that it is there, then each word that is known', async () => {
    await expect.poll(() => heard).toEqual([{ type: 'connected' }]);
    agent.send(epochs, { event: 'weather', data: 'fine' } as never, epochs);
    const live = { type: 'heard', live: epochs };
    await expect.poll(() => heard).toEqual([{ type: 'connected' }, live, live]);
  });

  it('ends with the agent, which is looked for until it is back', async () => {
    await expect.poll(() => heard).toHaveLength(1);
    await agent.leave();
    await expect
      .poll(() => heard.slice(1, 3))
      .toEqual([expect.objectContaining({ type: 'away' }), away('there is no socket')]);
    await agent.comeBack();
    await expect.poll(() => heard.at(-1)).toEqual({ type: 'connected' });
  });

  it('says why it is refused', async () => {
    agent.answer('/debug/events', 503, 'four listen already');
    await agent.leave();
    await agent.comeBack();
    await expect.poll(() => heard.at(-1)).toEqual(away('it answers 503: four listen already'));
  });

  it('is away if there is no folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-none-'));
    rmSync(folder, { recursive: true });
    const events: TopEvent[] = [];
    const other = listen(folder, events);
    await expect.poll(() => events).toEqual([away('there is no socket')]);
    over$.next();
    await other;
  });
});
