import type { Agent } from "../agent.ts";
import type { Floor } from "../floor.ts";
import type { Measure } from "../measure.ts";
import type { Sizes } from "../sizes.ts";
import type { World } from "../world.ts";

/** What a case works with. It leaves no pod behind. */
export interface CaseContext {
  world: World;
  floor: Floor;
  /** A node agent that was started for this case and holds no pod. */
  agent: Agent;
  /** Ends that agent and starts another. */
  restartAgent(): Promise<Agent>;
  sizes: Sizes;
  signal: AbortSignal;
  /** Says how far it is. */
  progress(text: string): void;
}

export type Case = (context: CaseContext) => Promise<Measure[]>;
