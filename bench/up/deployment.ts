import type { Deployment, Pod } from "../../src/api/gen/types.ts";
import { isPodReady } from "../../src/api/pods.ts";
import { openWatch } from "../cluster/object-watch.ts";
import { PODS_PATH } from "../cluster/pods.ts";
import { timed } from "../measure.ts";
import { summarize } from "../stats.ts";
import { sleepingPod } from "../workload.ts";
import { createObject, removeAll, removePods } from "./objects.ts";
import type { UpCase } from "./up-case.ts";

const DEPLOYMENTS_PATH = "/apis/apps/v1/namespaces/bench/deployments";

/** How long a deployment takes until its replicas are ready, beside as many pods that a client creates at once. */
export const upDeployment: UpCase = async ({ world, sizes, signal, progress }) => {
  const { deploymentReplicas: replicas, deploymentRounds } = sizes;
  const pods = await openWatch<Pod>(world.connect(), PODS_PATH);
  const deployments = await openWatch<Deployment>(world.connect(), DEPLOYMENTS_PATH);
  const names = Array.from({ length: replicas }, (_, index) => `bare-${index}`);

  const startPods = async (): Promise<number> => {
    const fits = ({ object }: { object: Pod }) => isPodReady(object);
    const ready = pods.until({ names, what: "Ready", fits, signal });
    const begun = performance.now();
    await Promise.all(names.map(async (name) => await createObject(world.connection, PODS_PATH, sleepingPod(name))));
    return Math.max(...(await ready).values()) - begun;
  };
  const startDeployment = async (): Promise<number> => {
    const fits = ({ object }: { object: Deployment }) => object.status?.readyReplicas === replicas;
    const ready = deployments.until({ names: ["web"], what: `${replicas} replicas ready`, fits, signal });
    const begun = performance.now();
    await createObject(world.connection, DEPLOYMENTS_PATH, deploymentOf(replicas));
    return Math.max(...(await ready).values()) - begun;
  };

  const [bareMs, replicasMs]: [number[], number[]] = [[], []];
  for (let round = 0; round < deploymentRounds; round++) {
    progress(`round ${round + 1} of ${deploymentRounds}`);
    const [first, second] = round % 2 === 0 ? ([startPods, startDeployment] as const) : [startDeployment, startPods];
    for (const start of [first, second]) {
      (start === startPods ? bareMs : replicasMs).push(await start());
      await removeAll(world.connection, DEPLOYMENTS_PATH);
      await removePods(world.connection, signal);
    }
  }
  const of = { case: "up-deployment" } as const;
  const ratios = replicasMs.map((ms, round) => ms / (bareMs[round] ?? Number.NaN));
  return [
    timed({ ...of, name: `a deployment of ${replicas}, created → all replicas ready` }, replicasMs),
    timed({ ...of, name: `${replicas} bare pods, created → all ready` }, bareMs),
    {
      ...{ ...of, name: "the deployment to the bare pods", unit: "×", summary: summarize(ratios) },
      target: { of: "value", median: 1.1 },
    },
  ];
};

function deploymentOf(replicas: number): object {
  const labels = { app: "web" };
  const { spec } = sleepingPod("web");
  const template = { metadata: { labels }, spec };
  return {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } },
    spec: { replicas, selector: { matchLabels: labels }, template },
  };
}
