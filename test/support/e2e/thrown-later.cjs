// Is loaded before a program. At SIGUSR2 it throws an error that no code catches.
process.on('SIGUSR2', () => {
  setImmediate(() => {
    throw new Error('thrown later');
  });
});
