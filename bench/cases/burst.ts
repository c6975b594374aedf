import { createLimiter } from "../../src/base/limiter.ts";
import { MAX_PARALLEL_STARTS } from "../../src/node/runtime/pod-runtime/start-line.ts";
import type { FloorPod } from "../floor.ts";
import { timed } from "../measure.ts";
import { isRunning, seeNoSandbox, seePods } from "../observe.ts";
import { createPoll } from "../poll.ts";
import { sleepingPod } from "../workload.ts";
import type { Case, CaseContext } from "./case.ts";

/** An answer with all pods in it takes the node agent about a millisecond, so it is not asked often. */
const POLL_MS = 50;

/** Many pods at once: with the bare calls as bounded as nodelet is, without a bound, and with nodelet; then the same again. */
export const burst: Case = async (context) => {
  const { sizes, signal, progress, agent } = context;
  const poll = createPoll({ intervalMs: POLL_MS, signal });
  const bounded: Round[] = [];
  const unbounded: Round[] = [];
  const ours: Round[] = [];
  for (let round = 0; round < sizes.burstRounds; round++) {
    const say = (what: string) => progress(`round ${round + 1} of ${sizes.burstRounds}: ${what}`);
    const floorRound = async (name: string, bound: number) =>
      await agent.whilePaused(async () => await runFloorRound(context, `${name}-${round}`, bound));
    say(`bare calls, ${MAX_PARALLEL_STARTS} pods at a time`);
    bounded.push(await floorRound("bounded", MAX_PARALLEL_STARTS));
    say("bare calls, all pods at once");
    unbounded.push(await floorRound("unbounded", sizes.burstPods));
    say("nodelet");
    ours.push(await runNodeletRound(context, poll, `burst-${round}`));
  }
  const of = (name: string) => ({ case: "burst" as const, name: `${sizes.burstPods} pods, ${name}` });
  const target = { of: "ratio", median: 1.1 } as const;
  const starts = (rounds: Round[]) => rounds.flatMap(({ startsMs }) => startsMs);
  const lasts = (rounds: Round[]) => rounds.map(({ startsMs }) => Math.max(...startsMs));
  const stops = (rounds: Round[]) => rounds.map(({ stopMs }) => stopMs);
  return [
    timed(of("manifest written → Running"), starts(ours), starts(bounded)),
    timed({ ...of("the last of them"), target }, lasts(ours), lasts(bounded)),
    timed(of("floor without a bound"), starts(unbounded)),
    timed(of("the last of these"), lasts(unbounded)),
    timed(of("all removed → the last sandbox gone"), stops(ours), stops(unbounded)),
    timed(of("seen late by at most"), poll.errors),
  ];
};

interface Round {
  startsMs: number[];
  /** Until the last was gone, all being stopped at once. */
  stopMs: number;
}

function namesOf(name: string, pods: number): string[] {
  return Array.from({ length: pods }, (_, index) => `${name}-${index}`);
}

async function runFloorRound({ floor, sizes }: CaseContext, name: string, bound: number): Promise<Round> {
  const names = namesOf(name, sizes.burstPods);
  const prepared = await Promise.all(names.map(async (pod) => await floor.prepare(sleepingPod(pod))));
  const limiter = createLimiter(bound);
  const begun = performance.now();
  const startsMs: number[] = [];
  const pods: FloorPod[] = await Promise.all(
    prepared.map(async (pod) => {
      const started = await limiter.run(async () => await floor.start(pod));
      startsMs.push(performance.now() - begun);
      return started;
    }),
  );
  const stopBegun = performance.now();
  await Promise.all(pods.map(async (pod) => await floor.stop(pod)));
  return { startsMs, stopMs: performance.now() - stopBegun };
}

async function runNodeletRound(
  { agent, world, sizes }: CaseContext,
  poll: ReturnType<typeof createPoll>,
  name: string,
): Promise<Round> {
  const names = namesOf(name, sizes.burstPods);
  const writtenAt = new Map<string, number>();
  for (const pod of names) writtenAt.set(pod, await agent.write(sleepingPod(pod)));
  const seen = await seePods(agent, poll, { names, what: "Running", fits: isRunning });
  const startsMs = names.map((pod) => (seen.get(pod) ?? 0) - (writtenAt.get(pod) ?? 0));
  const removedAt = performance.now();
  for (const pod of names) await agent.remove(pod);
  return { startsMs, stopMs: (await seeNoSandbox(world.cri, poll)) - removedAt };
}
