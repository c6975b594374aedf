import { timed } from "../measure.ts";
import type { Case } from "./case.ts";

/** From the start of the process until the node is Ready, with the runtime already there and no pods. */
export const ready: Case = async ({ restartAgent, sizes, progress }) => {
  const times: number[] = [];
  while (times.length < sizes.agentStarts) {
    progress(`start ${times.length + 1} of ${sizes.agentStarts}`);
    times.push((await restartAgent()).readyAfterMs);
  }
  return [timed({ case: "ready", name: "process started → node Ready", target: { of: "value", median: 150 } }, times)];
};
