import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The facts that the admin endpoint reports, true or not. */
export interface Says {
  readonly state: string;
  readonly baseId: number;
  readonly restartEpoch: number;
  readonly stats: Readonly<Record<string, number>>;
  readonly staticListeners: readonly unknown[];
  readonly dynamicListeners: readonly unknown[];
}

/** An answer to every request. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** An admin endpoint like that of Envoy, without an Envoy. */
export interface FakeAdmin {
  /** `host:port`, as Envoy writes it into a file. */
  readonly address: string;
  /** Method, path and query of each request, in order. */
  readonly requests: readonly string[];
  /** Changes these facts from now on; the others stay. */
  says(what: Partial<Says>): void;
  /**
   * Sends this answer to every request from now on; or closes each connection without an answer; or
   * never answers.
   */
  behaves(manner: Answer | 'hangs up' | 'is silent'): void;
  close(): void;
}

/**
 * Starts one on `port` of 127.0.0.1, or on a free port if that is 0. Resolves when it listens. The
 * facts that `first` lacks are those of an Envoy that has just become LIVE.
 */
export async function fakeAdmin(first: Partial<Says>, port = 0): Promise<FakeAdmin> {
  let answers: Says = {
    state: 'LIVE',
    baseId: 0,
    restartEpoch: 0,
    stats: {},
    staticListeners: [],
    dynamicListeners: [],
    ...first,
  };
  let manner: Answer | 'hangs up' | 'is silent' | undefined;
  const requests: string[] = [];

  const server = createServer((request, response) => {
    requests.push(`${request.method ?? ''} ${request.url ?? ''}`);
    request.resume();
    if (manner === 'hangs up') request.socket.destroy();
    else if (manner !== 'is silent') answer(response, manner ?? answerOf(request, answers));
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');

  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    says: (what) => (answers = { ...answers, ...what }),
    behaves: (next) => (manner = next),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function answer(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status).end(body);
}

function answerOf({ method, url = '' }: IncomingMessage, answers: Says): Answer {
  const { pathname, searchParams: query } = new URL(url, 'http://admin');
  switch (`${method ?? ''} ${pathname}`) {
    case 'GET /server_info': {
      const { state, baseId, restartEpoch } = answers;
      return json({
        state,
        command_line_options: { base_id: String(baseId), restart_epoch: restartEpoch },
      });
    }
    case 'GET /ready':
      return { status: answers.state === 'LIVE' ? 200 : 503, body: `${answers.state}\n` };
    case 'GET /stats': {
      const filter = new RegExp(query.get('filter') ?? '');
      const stats = Object.entries(answers.stats).filter(([name]) => filter.test(name));
      return { status: 200, body: stats.map(([name, value]) => `${name}: ${value}\n`).join('') };
    }
    case 'GET /config_dump': {
      const listeners = {
        static_listeners: answers.staticListeners,
        dynamic_listeners: answers.dynamicListeners,
      };
      return json({ configs: listeners[query.get('resource') as keyof typeof listeners] });
    }
    case 'POST /drain_listeners':
      return { status: 200, body: 'OK\n' };
    default:
      return { status: 404, body: 'invalid path\n' };
  }
}

function json(value: unknown): Answer {
  return { status: 200, body: JSON.stringify(value, undefined, 1) };
}
