import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RUN_FOR_EVER, shellPod } from "../pods.ts";
import { type ClusterNode, createClusterNode, NODE_NAME } from "./cluster-node.ts";

const JOBS = "/apis/batch/v1/namespaces/default/jobs";
const APPS = "/apis/apps/v1/namespaces/default";
const PODS = "/api/v1/namespaces/default/pods";

describe("jobs and sets on a real node", () => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode();
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  const template = (name: string, command: string, more: object = {}) => {
    const { spec } = Object(shellPod(name, command, { nodeName: NODE_NAME, ...more }));
    return { metadata: { labels: { app: name } }, spec };
  };
  const phasesOf = async (name: string) => {
    const { items } = await world.api.list(PODS, { labelSelector: `app=${name}` });
    return items.map((pod) => `${pod.metadata.name} ${Object(pod["status"]).phase}`);
  };

  it("an indexed job tells its pods their index, and is done when each has ended well", async () => {
    const spec = {
      completionMode: "Indexed",
      completions: 2,
      parallelism: 2,
      template: template("work", 'test "$HOSTNAME" = "work-$JOB_COMPLETION_INDEX"', { restartPolicy: "Never" }),
    };
    await world.api.object("POST", JOBS, { apiVersion: "batch/v1", metadata: { name: "work" }, spec });
    const read = async () => await world.api.object("GET", `${JOBS}/work`);
    const done = {
      succeeded: 2,
      completedIndexes: "0,1",
      uncountedTerminatedPods: {},
      completionTime: expect.any(String),
    };
    await expect.poll(read).toMatchObject({ status: done });
    await world.api.json("DELETE", `${JOBS}/work`, { propagationPolicy: "Foreground" });
    await expect.poll(async () => await phasesOf("work")).toEqual([]);
  });

  it("a job that takes too long ends its pods", async () => {
    const spec = { activeDeadlineSeconds: 1, template: template("slow", RUN_FOR_EVER, { restartPolicy: "Never" }) };
    await world.api.object("POST", JOBS, { apiVersion: "batch/v1", metadata: { name: "slow" }, spec });
    const read = async () => await world.api.object("GET", `${JOBS}/slow`);
    const failed = [{ type: "FailureTarget" }, { type: "Failed", reason: "DeadlineExceeded" }];
    await expect.poll(read).toMatchObject({ status: { failed: 1, conditions: failed } });
    await expect.poll(async () => await phasesOf("slow")).toEqual([]);
  });

  it("a stateful set starts its pods in order, and a daemon set one on the node", async () => {
    const set = (name: string, more: object = {}) => {
      const spec = { selector: { matchLabels: { app: name } }, template: template(name, RUN_FOR_EVER), ...more };
      return { apiVersion: "apps/v1", metadata: { name }, spec };
    };
    await world.api.object("POST", `${APPS}/statefulsets`, set("db", { replicas: 2, serviceName: "db" }));
    await world.api.object("POST", `${APPS}/daemonsets`, set("agent"));
    await expect.poll(async () => await phasesOf("db")).toEqual(["db-0 Running", "db-1 Running"]);
    await expect
      .poll(async () => await world.api.object("GET", `${APPS}/daemonsets/agent`))
      .toMatchObject({ status: { desiredNumberScheduled: 1, numberAvailable: 1 } });
    for (const path of ["statefulsets/db", "daemonsets/agent"]) {
      await world.api.json("DELETE", `${APPS}/${path}`, { propagationPolicy: "Foreground" });
    }
    await expect.poll(async () => [...(await phasesOf("db")), ...(await phasesOf("agent"))]).toEqual([]);
  });
});
