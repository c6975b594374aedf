import { runAll } from "../../src/base/errors.ts";
import * as cri from "../../src/cri/gen/cri-v1.ts";
import { inTurn } from "../in-turn.ts";
import type { ClusterCaseContext } from "./cluster-case.ts";
import type { NodeProcess, NodeProgram } from "./node-program.ts";

/** One of the programs at work. */
export interface Runner {
  program: NodeProgram;
  process: NodeProcess;
}

/** All programs and the floor in turns, so that noise meets each of them; while one works the others are stopped. */
export interface Turns {
  runners: readonly Runner[];
  /** The runners with their places; who comes first changes with every round. */
  inTurn(round: number): ReadonlyArray<readonly [place: number, runner: Runner]>;
  floor<T>(turn: () => Promise<T>): Promise<T>;
  of<T>(runner: Runner, turn: () => Promise<T>): Promise<T>;
}

/** Starts all programs, and ends them after `work`. */
export async function takeTurns<T>(context: ClusterCaseContext, work: (turns: Turns) => Promise<T>): Promise<T> {
  const runners: Runner[] = [];
  try {
    for (const program of context.programs) {
      context.progress(`starting ${program.name}`);
      const process = await program.start();
      runners.push({ program, process });
      process.pause();
    }
    return await work({
      runners,
      inTurn: (round) => inTurn(runners, round),
      floor: async (turn) => await turn(),
      async of({ process }, turn) {
        await process.resume();
        try {
          return await turn();
        } finally {
          process.pause();
          await clearRuntime(context);
        }
      },
    });
  } finally {
    await runAll(
      runners.map(({ process }) => process.stop),
      "ending the node agents",
    );
  }
}

/** One program alone, ended after `work`. */
export async function runAlone<T>(program: NodeProgram, work: (process: NodeProcess) => Promise<T>): Promise<T> {
  const process = await program.start();
  try {
    return await work(process);
  } finally {
    await process.stop();
  }
}

/** Removes what is left of pods that the API has let go of: the Go kubelet keeps dead sandboxes, which others would see. */
export async function clearRuntime({ world }: Pick<ClusterCaseContext, "world">): Promise<void> {
  const { runtime } = world.cri;
  const { items } = await runtime.listPodSandbox(cri.ListPodSandboxRequest.fromPartial({}));
  for (const { id: podSandboxId } of items) {
    await runtime.stopPodSandbox({ podSandboxId });
    await runtime.removePodSandbox({ podSandboxId });
  }
}
