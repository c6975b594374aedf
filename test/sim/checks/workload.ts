import type { World } from "../world.ts";
import type { Check } from "./check.ts";

const WINDOW_MS = 10_000;
/** A relist of ten pods every second is a few hundred. */
const MOST_CALLS = 3_000;

/** The node agent does not run hot: its calls of the runtime within any 10 s are bounded. */
export function createWorkloadCheck(world: World): Check {
  let windowEnds = 0;
  let calls = 0;
  return {
    called(rpc) {
      const now = world.clock.monotonic();
      if (now >= windowEnds) {
        windowEnds = now + WINDOW_MS;
        calls = 0;
      }
      calls++;
      if (calls > MOST_CALLS) world.fail("the node agent does not run hot", `${calls} calls within 10 s, now ${rpc}`);
    },
  };
}
