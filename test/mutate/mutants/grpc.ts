import type { Mutant } from '../mutant.ts';

export const grpc: readonly Mutant[] = [
  {
    id: 'grpc/waits-for-client',
    file: 'grpc/grpc-on-socket.ts',
    find: "isEager ? event$.pipe(ofType('listening')) : socket$",
    replace: 'event$',
  },
  { id: 'grpc/keeps-waiting', file: 'grpc/grpc-on-socket.ts', find: '.forEach(receive)', replace: '' },
  {
    id: 'grpc/socket-private',
    file: 'files/own-socket.ts',
    find: 'privately(() => server.listen(beside, placeIt));',
    replace: 'server.listen(beside, placeIt);',
  },
  { id: 'files/own-socket', file: 'files/own-socket.ts', find: ' && inodeOf(path) === own', replace: '' },
  { id: 'grpc/connections-closed', file: 'files/own-socket.ts', find: 'for (const socket of sockets) socket.destroy();', replace: '' },
];
