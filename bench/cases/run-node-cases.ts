import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, runAll } from "../../src/base/errors.ts";
import { type Agent, startAgent } from "../agent.ts";
import { attempt } from "../attempt.ts";
import { type CaseRun, type CaseRuns, NO_RUNS, type RunOptions, type RunTools } from "../case-run.ts";
import { clearRuntime } from "../cluster/turns.ts";
import { createFloor, type Floor } from "../floor.ts";
import { inTurn } from "../in-turn.ts";
import type { NodeCaseName } from "../options.ts";
import { type AgentPlace, createWorld, type World } from "../world.ts";
import { backOff } from "./back-off.ts";
import { burst } from "./burst.ts";
import type { Case } from "./case.ts";
import { exit } from "./exit.ts";
import { idle } from "./idle.ts";
import { ready } from "./ready.ts";
import { single } from "./single.ts";

const CASES: Readonly<Record<NodeCaseName, Case>> = { single, burst, exit, "back-off": backOff, idle, ready };

const LOG_TAIL_CHARACTERS = 4_000;

interface NodeWorld {
  world: World;
  floor: Floor;
  places: readonly AgentPlace[];
}

/** The cases of a node agent by itself, on a containerd of their own. */
export async function runNodeCases(
  options: RunOptions & { nodeCases: readonly NodeCaseName[] },
  tools: RunTools,
): Promise<CaseRuns> {
  if (options.nodeCases.length === 0) return NO_RUNS;
  tools.progress("starting containerd");
  const world = await createWorld();
  try {
    const places: AgentPlace[] = [];
    for (const build of options.builds) places.push(await world.makePlace(build));
    const [first] = places;
    if (first === undefined) throw new TypeError("there is a build");
    const floor = await createFloor(world, first);
    const runs: CaseRun[] = [];
    for (const name of options.nodeCases) {
      const run = async (limited: RunTools) => await runRounds({ world, floor, places }, { ...options, name }, limited);
      const done = await attempt(name, tools, run);
      if (done === undefined) await clearPods(world, places);
      else runs.push(...done);
    }
    return { runs, runtimes: [`containerd ${world.containerd.version}`] };
  } finally {
    tools.progress("removing what was made");
    await world.destroy();
  }
}

/** After a case that failed: its agents have ended. */
async function clearPods(world: World, places: readonly AgentPlace[]): Promise<void> {
  for (const { manifests } of places) {
    for (const file of await readdir(manifests)) await rm(join(manifests, file));
  }
  await clearRuntime({ world });
}

/** An agent of each build, of which all but one are stopped at any time. */
async function runRounds(
  { world, floor, places }: NodeWorld,
  { name, rounds, sizes }: RunOptions & { name: NodeCaseName },
  { signal, progress }: RunTools,
): Promise<CaseRun[]> {
  const agents: Agent[] = [];
  const runs: CaseRun[] = [];
  try {
    for (const place of places) {
      const agent = await startAgent(world, place, signal);
      agents.push(agent);
      agent.pause();
    }
    for (let round = 0; round < rounds; round++) {
      for (const [index, place] of inTurn(places, round)) {
        const restartAgent = async () => {
          await agents[index]?.stop();
          const agent = await startAgent(world, place, signal);
          agents[index] = agent;
          return agent;
        };
        const agent = agents[index] ?? (await restartAgent());
        await agent.resume();
        const turn = places.length > 1 ? `${place.build.name}, turn ${round + 1} of ${rounds}, ` : "";
        const say = (text: string) => progress(`${name}: ${turn}${text}`);
        const measures = await CASES[name]({ world, floor, agent, restartAgent, sizes, signal, progress: say });
        runs.push({ build: place.build.name, measures });
        agents[index]?.pause();
      }
    }
    return runs;
  } catch (error) {
    signal.throwIfAborted();
    const log = (await readFile(world.agentLog, "utf8")).slice(-LOG_TAIL_CHARACTERS);
    throw new Error(`${messageOf(error)}\nThe node agent said:\n${log}`, { cause: error });
  } finally {
    await runAll(
      agents.map(({ stop }) => stop),
      "ending the node agents",
    );
  }
}
