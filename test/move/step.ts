import type { Side } from './apps.ts';
import type { MoveStage } from './move-stage.ts';

/** Something that an operator does while the applications call each other. */
export interface Step {
  readonly name: string;
  /** Runs the step. Resolves to a note for the report; '' if there is none. */
  readonly run: (stage: MoveStage) => Promise<string>;
  /** The control plane of each app afterwards. */
  readonly then: Readonly<Record<string, Side>>;
}

/** The result of a step. */
export interface StepReport {
  readonly name: string;
  readonly requests: number;
  readonly failed: number;
  readonly seconds: number;
  /** A note for the report; '' if there is none. */
  readonly note: string;
  /** Things that should not happen. */
  readonly violations: readonly string[];
}
