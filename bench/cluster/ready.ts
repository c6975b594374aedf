import { inTurn } from "../in-turn.ts";
import { type ClusterCase, compareNodes } from "./cluster-case.ts";
import { runAlone } from "./turns.ts";

/** From the start of the process until a watcher sees the node ready; the cluster has not known the node before. */
export const clusterReady: ClusterCase = async (context) => {
  const { programs, sizes, progress } = context;
  const values: number[][] = programs.map(() => []);
  for (let start = 1; start <= sizes.clusterStarts; start++) {
    for (const [place, program] of inTurn(programs, start)) {
      progress(`${program.name}, ${start} of ${sizes.clusterStarts}`);
      values[place]?.push(await runAlone(program, async ({ readyAfterMs }) => readyAfterMs));
    }
  }
  const name = "process started → node Ready seen";
  return [compareNodes(context, { case: "cluster-ready", name, target: { of: "value", median: 150 }, values })];
};
