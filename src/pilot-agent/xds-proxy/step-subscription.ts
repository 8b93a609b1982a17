import { subscriptionMachine } from '../../shared/xds/subscription-machine.ts';
import { envoyPolicy } from './envoy-policy.ts';

/** What becomes of the subscription of an Envoy. Pure. */
export const stepSubscription = subscriptionMachine(envoyPolicy);
