import { useRef, useState } from 'preact/hooks';
import type { LiveReport } from '../report/agent-view.ts';

interface Order {
  readonly name: string;
  readonly path: string;
  /** `grave`: it cannot be undone. */
  readonly weight: 'light' | 'grave';
  readonly asks: string;
  readonly tells: string;
}

const orders: readonly Order[] = [
  {
    name: 'Restart',
    path: 'restart',
    weight: 'light',
    asks: 'Start a new epoch of Envoy?',
    tells:
      'The new epoch starts from the current configuration and takes over the listening sockets. The current epoch drains. No connection is cut before the drain ends.',
  },
  {
    name: 'Drain',
    path: 'drain',
    weight: 'grave',
    asks: 'Drain Envoy for good?',
    tells:
      'This cannot be undone: only a new agent can serve again. This agent is no longer ready and starts no further epoch, and Envoy sends its clients elsewhere.',
  },
];

/** Shows the orders to the agent. Each one asks for confirmation first. */
export function Orders({
  isEnabled,
  phase,
}: {
  readonly isEnabled: boolean;
  readonly phase: LiveReport['phase'];
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [order, setOrder] = useState<Order>();
  const [answer, setAnswer] = useState('');
  const open = (chosen: Order) => {
    setOrder(chosen);
    setAnswer('');
    dialog.current?.showModal();
  };
  const send = ({ path, name }: Order) => {
    dialog.current?.close();
    void post(path).then((refusal) =>
      setAnswer(
        refusal === undefined
          ? `${name}: the agent has accepted the request.`
          : `${name} failed: ${refusal}`,
      ),
    );
  };
  return (
    <div class="orders">
      <span class="answer" role="status">
        {answer}
      </span>
      {orders.map((offered) => (
        <button
          type="button"
          key={offered.name}
          class={offered.weight}
          disabled={!isEnabled || phase !== 'running'}
          onClick={() => open(offered)}
        >
          {offered.name} …
        </button>
      ))}
      <dialog ref={dialog} aria-labelledby="asked" aria-describedby="told">
        {order === undefined ? null : (
          <>
            <h2 id="asked">{order.asks}</h2>
            <p id="told">{order.tells}</p>
            <div class="choice">
              <button type="button" autofocus onClick={() => dialog.current?.close()}>
                Cancel
              </button>
              <button type="button" class={`do ${order.weight}`} onClick={() => send(order)}>
                {order.name}
              </button>
            </div>
          </>
        )}
      </dialog>
    </div>
  );
}

/**
 * Resolves to the reason if the agent does not accept the order; undefined if it does. Never
 * rejects.
 */
async function post(path: string): Promise<string | undefined> {
  try {
    const response = await fetch(path, { method: 'POST' });
    const text = (await response.text()).trim();
    return response.ok ? undefined : text === '' ? `the agent answers ${response.status}` : text;
  } catch {
    return 'the agent does not answer';
  }
}
