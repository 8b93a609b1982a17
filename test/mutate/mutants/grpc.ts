import type { PlacedMutant } from '../mutant.ts';

export const grpc: readonly PlacedMutant[] = [
  {
    id: 'grpc/waits-for-client',
    file: 'shared/grpc/grpc-on-socket.ts',
    find: "isEager ? event$.pipe(ofType('listening')) : socket$",
    replace: 'event$',
  },
  {
    id: 'grpc/keeps-waiting',
    file: 'shared/grpc/grpc-on-socket.ts',
    find: '.forEach(receive)',
    replace: '',
  },
  {
    id: 'grpc/socket-private',
    file: 'shared/files/own-socket.ts',
    find: 'privately(() => server.listen(beside, placeIt));',
    replace: 'server.listen(beside, placeIt);',
  },
  {
    id: 'grpc/proxy-of-environment',
    file: 'shared/grpc/grpc-client.ts',
    find: "'grpc.enable_http_proxy': 0",
    replace: "'grpc.enable_http_proxy': 1",
  },
  {
    id: 'grpc/partial-chain',
    file: 'shared/grpc/grpc-client.ts',
    find: '...trustAnchors(roots)',
    replace: '...(roots !== undefined && { ca: roots })',
  },
  {
    id: 'http/partial-chain',
    file: 'shared/http/http-answer.ts',
    find: 'allowPartialTrustChain: true',
    replace: 'allowPartialTrustChain: false',
  },
  {
    id: 'files/own-socket',
    file: 'shared/files/own-socket.ts',
    find: ' && inodeOf(path) === inode',
    replace: '',
  },
  {
    id: 'grpc/connections-closed',
    file: 'shared/files/own-socket.ts',
    find: 'for (const socket of sockets) socket.destroy();',
    replace: '',
  },
];
