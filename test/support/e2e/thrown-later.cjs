// Loaded before a program: at SIGUSR2 it throws what nobody catches.
process.on('SIGUSR2', () => {
  setImmediate(() => {
    throw new Error('thrown later');
  });
});
