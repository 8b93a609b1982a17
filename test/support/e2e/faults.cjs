// Is loaded into an agent before the agent's own code. Each file in $FAULTS makes something in Node
// fail once: its name is that of the fault, its content the fault's argument. The file is removed
// when the fault is armed. Faults of files that exist already are armed before the agent starts.
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
    if (doomed.delete(port)) setImmediate(breakServer, this); // after the other listeners
  });
  return listen.apply(this, args);
};

/**
 * Breaks a server. A server that listens goes on after an error, so this function closes it first.
 */
function breakServer(server) {
  server.close();
  server.emit('error', new Error('injected: server'));
}

/** Makes a method throw at its next call with a `this` and arguments that `isMeant` accepts. */
function throwOnce(object, name, isMeant) {
  const original = object[name];
  object[name] = function (...args) {
    if (!isMeant(this, args)) return original.apply(this, args);
    object[name] = original;
    throw new Error(`injected: ${name}`);
  };
}

/**
 * Whether a call comes from Node's own crypto, which makes a buffer of each certificate that it
 * parses.
 */
function isOfNode(stack) {
  return stack.includes('node:internal/crypto');
}

const faults = {
  /** Breaks a server; if it does not listen yet, as soon as it does. */
  server: (port) => {
    const server = servers.get(port);
    if (server === undefined) doomed.add(port);
    else breakServer(server);
  },
  /** Breaks the packing of certificates for Envoy. */
  pack: () =>
    throwOnce(
      Buffer,
      'from',
      (_, [text]) => String(text).includes('BEGIN CERTIFICATE') && !isOfNode(new Error().stack),
    ),
  /** Breaks the hash of the files that were read, if one of them is at this path. */
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
  /** Breaks the list of the certificates that an Envoy serves. */
  expiry: () =>
    throwOnce(Array.prototype, 'flat', (list) =>
      list.some((read) => read?.[0]?.served !== undefined),
    ),
  /** Breaks the short form of a hash in the log. */
  words: () =>
    throwOnce(
      String.prototype,
      'slice',
      (text, [start, end]) => text.length === 64 && start === 0 && end === 8,
    ),
  /** Breaks the look-up of the record of an epoch. */
  past: () =>
    throwOnce(Array.prototype, 'find', (list) =>
      list.some((record) => record?.launchedAt !== undefined),
    ),
  /** Breaks the core's list of its epochs at the next SIGUSR1. */
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
