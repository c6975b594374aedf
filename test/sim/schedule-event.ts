import type { World } from "./world.ts";

/** What the world does to the node, at a time of its clock. */
export interface Event {
  at: number;
  name: string;
  happen(world: World): Promise<void> | void;
}
