import { subscriptionMachine } from '../../shared/xds/subscription-machine.ts';
import { envoyPolicy } from './envoy-policy.ts';

/** Reduces the subscription of an Envoy. Pure. */
export const stepSubscription = subscriptionMachine(envoyPolicy);
