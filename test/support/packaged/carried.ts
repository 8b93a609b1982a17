/** Packages that the program needs. */
export const carried = ['rxjs', 'pino', 'execa', 'chokidar', 'commander', '@grpc/grpc-js'] as const;
