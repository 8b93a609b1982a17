/** Packages that the program cannot do without. */
export const carried = ['rxjs', 'pino', 'execa', 'chokidar', 'commander', '@grpc/grpc-js'] as const;
