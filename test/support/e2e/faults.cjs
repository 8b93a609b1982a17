// Loaded into an agent before its own code: a file in $FAULTS, by its name and what it says, makes
// something of Node fail once. It is removed when that is armed. What is there already is armed
// before the agent begins.
const crypto = require('node:crypto');
const { existsSync, readdirSync, readFileSync, unlinkSync } = require('node:fs');
const { Server } = require('node:net');
const { basename } = require('node:path');

const servers = new Map();
/** The ports, or names of sockets, whose servers break as soon as they listen. */
const doomed = new Set();
const { listen } = Server.prototype;
Server.prototype.listen = function (...args) {
  this.once('listening', () => {
    const address = this.address();
    const port = typeof address === 'string' ? basename(address, '.new') : String(address.port);
    servers.set(port, this);
    if (doomed.delete(port)) setImmediate(breakServer, this); // after all that hear that it listens
  });
  return listen.apply(this, args);
};

/** A server goes on after an error, as long as it listens: so it no longer does. */
function breakServer(server) {
  server.close();
  server.emit('error', new Error('injected: server'));
}

/** Makes the next call of a method throw whose `this` and arguments are what is looked for. */
function throwOnce(object, name, isMeant) {
  const original = object[name];
  object[name] = function (...args) {
    if (!isMeant(this, args)) return original.apply(this, args);
    object[name] = original;
    throw new Error(`injected: ${name}`);
  };
}

/** Node itself makes a buffer of what it parses. */
function isOfNode(stack) {
  return stack.includes('node:internal/crypto');
}

const faults = {
  /** A server that listens breaks, or will when it does. */
  server: (port) => {
    const server = servers.get(port);
    if (server === undefined) doomed.add(port);
    else breakServer(server);
  },
  /** Certificates cannot be packed for Envoy. */
  pack: () =>
    throwOnce(
      Buffer,
      'from',
      (_, [text]) => String(text).includes('BEGIN CERTIFICATE') && !isOfNode(new Error().stack),
    ),
  /** What has been read from files cannot be hashed, one of which is at this path. */
  hash: (path) => {
    const { update } = Object.getPrototypeOf(crypto.createHash('sha256'));
    const hash = Object.getPrototypeOf(crypto.createHash('sha256'));
    hash.update = function (data, ...more) {
      if (
        typeof data !== 'string' ||
        !data.startsWith('[[') ||
        !data.includes(JSON.stringify(path))
      )
        return update.call(this, data, ...more);
      hash.update = update;
      throw new Error('injected: update');
    };
  },
  /** The certificates that an Envoy serves cannot be listed. */
  expiry: () =>
    throwOnce(Array.prototype, 'flat', (list) =>
      list.some((read) => read?.[0]?.served !== undefined),
    ),
  /** A hash cannot be shortened for the log. */
  words: () =>
    throwOnce(
      String.prototype,
      'slice',
      (text, [start, end]) => text.length === 64 && start === 0 && end === 8,
    ),
  /** What is kept of an epoch cannot be found. */
  past: () =>
    throwOnce(Array.prototype, 'find', (list) =>
      list.some((record) => record?.launchedAt !== undefined),
    ),
  /** The core cannot list its epochs, of which the next SIGUSR1 makes it think. */
  core: () =>
    process.prependOnceListener('SIGUSR1', () => throwOnce(Array.prototype, 'flatMap', () => true)),
  uncaught: () =>
    setTimeout(() => {
      throw new Error('injected: uncaught');
    }),
  rejection: () => void Promise.reject(new Error('injected: rejection')),
};

const folder = process.env.FAULTS;
function arm() {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const given = readFileSync(`${folder}/${name}`, 'utf8');
    faults[name](given);
    unlinkSync(`${folder}/${name}`);
  }
}
arm();
setInterval(arm, 20).unref();
