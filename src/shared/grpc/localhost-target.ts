import type * as Grpc from '@grpc/grpc-js';
import { knownAddresses } from '../http/local-lookup.ts';

const scheme = 'this-machine';

/**
 * Returns the target that gRPC connects to for `host:port`. `localhost` gets a separate resolver:
 * gRPC's resolver would look it up, and would wait in Node's thread pool behind names whose server
 * does not answer.
 */
export function localhostTarget(
  { registerResolver }: Pick<typeof Grpc.experimental, 'registerResolver'>,
  address: string,
): string {
  const [, host = '', port = ''] = /^([^:]+):(\d+)$/.exec(address) ?? [];
  const addresses = knownAddresses(host);
  if (addresses.length < 2) return address;
  registerResolver(scheme, resolverOf(addresses));
  return `${scheme}:${host}:${port}`;
}

/**
 * Returns a resolver that answers each query with these addresses, in their order. It answers once
 * until it is destroyed. gRPC asks again after each failed connection; if it got an answer then, it
 * would connect at once, without its back-off.
 */
function resolverOf(hosts: readonly string[]) {
  return class LocalhostResolver implements Grpc.experimental.Resolver {
    readonly #answer: () => void;
    #hasAnswered = false;

    constructor({ path }: Grpc.experimental.GrpcUri, listener: Grpc.experimental.ResolverListener) {
      const port = Number(path.slice(path.lastIndexOf(':') + 1));
      const endpoints = hosts.map((host) => ({ addresses: [{ host, port }] }));
      this.#answer = () => void listener({ ok: true, value: endpoints }, {}, null, '');
    }

    updateResolution(): void {
      if (this.#hasAnswered) return;
      this.#hasAnswered = true;
      process.nextTick(this.#answer);
    }

    destroy(): void {
      this.#hasAnswered = false;
    }

    static getDefaultAuthority({ path }: Grpc.experimental.GrpcUri): string {
      return path;
    }
  };
}
