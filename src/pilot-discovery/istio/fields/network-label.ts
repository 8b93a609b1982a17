import { ownMember } from '../../../shared/text/own-member.ts';
import type { Labels } from './values.ts';

/** The network of a Pod or a Namespace, and the network whose gateway a Service is. */
export const networkLabel = 'topology.istio.io/network';

/** Returns the network in labels; '' if they have none. Pure. */
export const networkIn = (labels: Labels): string => ownMember(labels, networkLabel) ?? '';
