import { of } from 'rxjs';
import { answer } from './answer.ts';
import { controlGuard } from './control-guard.ts';
import type { Handler } from './handler.ts';
import type { StatusRequest } from './status-event.ts';

/** Answers by `OK`, and passes on what was asked for. */
export function order(asked: StatusRequest): Handler {
  return (request, response) => {
    const refusal = controlGuard(request);
    answer(response, ...(refusal ?? [200, 'OK']));
    return refusal === undefined ? of(asked) : of();
  };
}
