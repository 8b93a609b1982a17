import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { consul } from '../../src/pilot-agent/sources/consul.ts';
import type { ContributingSource } from '../../src/pilot-agent/sources/contribution.ts';
import { files } from '../../src/pilot-agent/sources/files.ts';
import { http } from '../../src/pilot-agent/sources/http.ts';
import { sourceContract, type SourceStage } from '../../src/testing/source-contract.ts';

const promised = (name: string, stage: () => SourceStage | Promise<SourceStage>) => {
  describe(name, () => {
    for (const promise of sourceContract(stage)) it(promise.name, promise.check);
  });
};

/** Answers a request with a version, at once or later. */
type Answer = (url: string, version: number, response: ServerResponse) => void;

/** Returns a source that reads a server. The server has a version, and can be away. */
async function served(
  answer: Answer,
  sourceAt: (address: string) => ContributingSource,
): Promise<SourceStage> {
  let version = 1;
  let isAway = false;
  const waiting = new Set<() => void>();
  const server = createServer(({ url = '' }, response) => {
    const now = () => (isAway ? response.destroy() : answer(url, version, response));
    if (url.includes(`index=${version}&`) && !isAway) waiting.add(now);
    else now();
  });
  const release = () => {
    for (const respond of waiting) respond();
    waiting.clear();
  };
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    source: sourceAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    change: () => {
      version += 1;
      release();
    },
    outage: {
      begin: () => {
        isAway = true;
        release();
      },
      end: () => void (isAway = false),
    },
    end: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const quick = { pauses: { first: 20, longest: 20 } };

promised('http()', () =>
  served(
    (_, version, response) => response.setHeader('etag', `"${version}"`).end(String(version)),
    (address) => http(address, { ...quick, every: 20 }),
  ),
);

promised('consul()', () =>
  served(
    (_, version, response) => {
      const rows = [
        { Key: 'mesh/version', Value: Buffer.from(String(version)).toString('base64') },
      ];
      response.setHeader('x-consul-index', version).end(JSON.stringify(rows));
    },
    (address) => consul({ prefix: 'mesh/' }, { ...quick, address }),
  ),
);

const inFolder = (as: 'restart' | 'merge') => (): SourceStage => {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-files-'));
  writeFileSync(join(folder, 'a'), '1');
  return {
    source: files([folder], { ...quick, as }),
    change: () => writeFileSync(join(folder, 'a'), '2'),
    // A source for a restart has no outage: it takes a missing folder as empty, which is a change.
    ...(as === 'merge' && {
      outage: {
        begin: () => renameSync(folder, `${folder}.away`),
        end: () => renameSync(`${folder}.away`, folder),
      },
    }),
    end: () => rmSync(folder, { recursive: true }),
  };
};
promised('files(), for a restart', inFolder('restart'));
promised('files(), with what is in them', inFolder('merge'));
