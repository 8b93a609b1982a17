import { expect, it } from 'vitest';
import { narrateStatus } from '../../../../src/pilot-discovery/status/narrate-status.ts';

it('has a line for the begin and the end of writing, and for what prevents it', () => {
  expect([
    narrateStatus({ type: 'status-writer-elected', holder: 'istiod-0' }),
    narrateStatus({ type: 'status-writer-resigned', reason: 'this instance ends' }),
    narrateStatus({ type: 'statuses-refused', reason: '403' }),
    narrateStatus({ type: 'status-contested', key: 'Gateway/shop/web' }),
  ]).toMatchObject([
    { event: 'discovery.status_writer', holder: 'istiod-0' },
    { event: 'discovery.status_writer_over', reason: 'this instance ends' },
    { event: 'discovery.status_refused', reason: '403' },
    { event: 'discovery.status_contested', resource: 'Gateway/shop/web' },
  ]);
});
