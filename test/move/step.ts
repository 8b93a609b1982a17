import type { Side } from './apps.ts';
import type { MoveStage } from './move-stage.ts';

/** Something that an operator does while the applications call each other. */
export interface Step {
  readonly name: string;
  /** What is done; resolves to what is worth telling, if anything. */
  readonly run: (stage: MoveStage) => Promise<string>;
  /** Which control plane each app has afterwards. */
  readonly then: Readonly<Record<string, Side>>;
}

/** What a step did. */
export interface StepReport {
  readonly name: string;
  readonly requests: number;
  readonly failed: number;
  readonly seconds: number;
  /** What is worth telling. */
  readonly note: string;
  /** What should not be. */
  readonly violations: readonly string[];
}
