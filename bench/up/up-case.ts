import type { Measure } from "../measure.ts";
import type { Sizes } from "../sizes.ts";
import type { UpWorld } from "./up-world.ts";

/** What a case of a whole cluster works with. It leaves no pod and no service behind. */
export interface UpCaseContext {
  world: UpWorld;
  sizes: Sizes;
  signal: AbortSignal;
  /** Says how far it is. */
  progress(text: string): void;
}

export type UpCase = (context: UpCaseContext) => Promise<Measure[]>;
