import { setTimeout as delay } from "node:timers/promises";
import type { Pod } from "../../src/api/gen/types.ts";
import { timed } from "../measure.ts";
import { listContainers, seeNoSandbox, toMilliseconds } from "../observe.ts";
import { createPoll } from "../poll.ts";
import { endingPod } from "../workload.ts";
import type { Case, CaseContext } from "./case.ts";

const POLL_MS = 2;

/** Containers end; how long until the pod's status says so, counted from the end as the runtime noted it. */
export const exit: Case = async (context) => {
  const { sizes, signal, progress } = context;
  const poll = createPoll({ intervalMs: POLL_MS, signal });
  const delays: number[] = [];
  for (let index = 0; index < sizes.exitPods; index++) {
    progress(`pod ${index + 1} of ${sizes.exitPods}`);
    delays.push(...(await runEndingPod(context, poll, `ending-${index}`)));
  }
  return [
    timed({ case: "exit", name: "container ended → status shows it", target: { of: "value", p99: 100 } }, delays),
    timed({ case: "exit", name: "seen late by at most" }, poll.errors),
  ];
};

async function runEndingPod(
  { agent, world, sizes }: CaseContext,
  poll: ReturnType<typeof createPoll>,
  name: string,
): Promise<number[]> {
  await agent.write(endingPod(name, sizes.exitContainers));
  /** By container; milliseconds since the epoch, because that is how the runtime notes ends. */
  const seenAt = new Map<string, number>();
  while (seenAt.size < sizes.exitContainers) {
    await poll.until(`end of a container of ${name}`, async () => {
      const ended = endedContainers((await agent.pods()).get(name)).filter((container) => !seenAt.has(container));
      for (const container of ended) seenAt.set(container, performance.timeOrigin + performance.now());
      return ended.length > 0 ? ended : undefined;
    });
  }
  const delays = await Promise.all(
    (await listContainers(world.cri)).map(async ({ id, metadata }) => {
      const { status } = await world.cri.runtime.containerStatus({ containerId: id, verbose: false });
      return (seenAt.get(metadata?.name ?? "") ?? 0) - toMilliseconds(status?.finishedAt ?? 0n);
    }),
  );
  await agent.remove(name);
  await seeNoSandbox(world.cri, poll);
  await delay(100);
  return delays;
}

function endedContainers(pod: Pod | undefined): string[] {
  const statuses = pod?.status?.containerStatuses ?? [];
  return statuses.filter(({ state }) => state?.terminated !== undefined).map(({ name }) => name);
}
