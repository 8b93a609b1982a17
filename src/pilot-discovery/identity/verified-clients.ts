// Why: docs/decisions/111-clients-of-another-authority-are-trusted-too.md
import type { Server, TLSSocket } from 'node:tls';
import { pemBlocks } from '../../shared/certificates/key-pair-flaw.ts';
import type { ServingPair } from './serving-files.ts';

/** The open connections of a server whose client certificate TLS has verified. */
export interface VerifiedClients {
  /** Closes them: clients connect again, and TLS verifies them by the newest roots and CRLs. */
  readonly close: () => void;
}

/** Follows the connections of a server from now on. */
export function verifiedClients(server: Server): VerifiedClients {
  const sockets = new Set<TLSSocket>();
  server.on('secureConnection', (socket) => {
    if (!socket.authorized) return;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return {
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Returns whether a client that was verified before may be refused after a change. Pure. */
export function mayRefuse(before: ServingPair, after: ServingPair): boolean {
  const { crl = '' } = after;
  const roots = new Set(pemBlocks(after.roots));
  return (
    (crl !== '' && crl !== before.crl) || pemBlocks(before.roots).some((root) => !roots.has(root))
  );
}
