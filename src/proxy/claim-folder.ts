import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { createServer } from 'node:net';

/**
 * Claims a folder for this process, as long as it lives and however it ends. Resolves to whether it is the only one, of those that claim: an abstract
 * socket, named after the folder, has one listener at most. Rejects if there can be no socket.
 */
export function claimFolder(folder: string): Promise<boolean> {
  const name = createHash('sha256').update(realpathSync(folder)).digest('hex');
  return new Promise((resolve, reject) => {
    createServer((socket) => socket.destroy())
      .on('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error)))
      .listen(`\0pilot-agent-${name}`, () => resolve(true))
      .unref();
  });
}
