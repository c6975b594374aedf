import { existsSync } from "node:fs";
import { readFile, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { type ClusterNode, createClusterNode, NODE_NAME } from "../cluster/cluster-node.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { findMissing, type LogindUnderTest, startLogind } from "./logind.ts";

const MISSING = await findMissing();
if (MISSING !== undefined) console.warn(`SKIPPED: the shutdown of the machine, for ${MISSING}`);

const LOGIND_CONF = "/etc/systemd/logind.conf.d";
const DELAY = "shutdown; kubelet; Kubelet needs time to handle node shutdown; delay";
const MESSAGE = "Pod was terminated in response to imminent node shutdown.";
const TIMEOUT_MS = 15_000;

describe.skipIf(MISSING !== undefined)("the shutdown of the machine", () => {
  let logind: LogindUnderTest;
  let world: ClusterNode;
  const hadDirectory = existsSync(LOGIND_CONF);
  beforeAll(async () => {
    logind = await startLogind();
    process.env["DBUS_SYSTEM_BUS_ADDRESS"] = logind.busAddress;
    world = await createClusterNode({
      configuration: { shutdownGracePeriod: "10s", shutdownGracePeriodCriticalPods: "4s" },
    });
  });
  beforeEach(async () => {
    await world.node.start(world.flags);
    await expect.poll(logind.delays, { timeout: TIMEOUT_MS }).toEqual([DELAY]);
  });
  afterEach(async () => {
    await world.node.stop();
    await logind.restart();
  });
  afterAll(async () => {
    await world?.destroy();
    await logind?.destroy();
    delete process.env["DBUS_SYSTEM_BUS_ADDRESS"];
    await rm(join(LOGIND_CONF, "99-kubelet.conf"), { force: true });
    if (!hadDirectory) await rmdir(LOGIND_CONF).catch(() => undefined);
  });

  const runPod = async (name: string, script: string, spec: object = {}) => {
    await world.create(shellPod(name, script, spec));
    await world.pod(name, isRunning);
  };
  const readyCondition = async () =>
    (await world.nodeObject()).status?.conditions?.find(({ type }) => type === "Ready");
  const hasEnded = (pod: Pod) => pod.status?.phase === "Failed";

  it("waits until the pods have ended, the critical ones last, and the API server knows why", async () => {
    expect(await logind.inhibitDelaySeconds()).toBe(10);
    const slow = "trap 'sleep 1; exit 0' TERM; sleep 100000 & wait";
    await runPod("worker", slow, { terminationGracePeriodSeconds: 30 });
    await runPod("critical", RUN_FOR_EVER, { priorityClassName: "system-node-critical" });
    await logind.powerOff();
    await expect.poll(readyCondition, { timeout: TIMEOUT_MS }).toMatchObject({
      status: "False",
      reason: "KubeletNotReady",
      message: "node is shutting down",
    });
    const worker = await world.pod("worker", hasEnded);
    expect(worker.status).toMatchObject({ reason: "Terminated", message: MESSAGE });
    const disruption = worker.status?.conditions?.find(({ type }) => type === "DisruptionTarget");
    expect(disruption).toMatchObject({ status: "True", reason: "TerminationByKubelet", message: MESSAGE });
    const critical = await world.pod("critical", hasEnded);
    const endOf = ({ status }: Pod) => Date.parse(status?.containerStatuses?.[0]?.state?.terminated?.finishedAt ?? "");
    expect(endOf(critical)).toBeGreaterThanOrEqual(endOf(worker));
    await expect.poll(logind.delays, { timeout: TIMEOUT_MS }).toEqual([]);
    await world.event(NODE_NAME, { reason: "NodeShutdown", message: "Shutdown manager detected shutdown event" });
    const record = await readFile(join(world.node.directory, "kubelet/graceful_node_shutdown_state"), "utf8");
    expect(JSON.parse(record)).toEqual({
      startTime: expect.stringMatching(/^2\d{3}-/),
      endTime: expect.stringMatching(/^2\d{3}-/),
    });
  });

  it("takes no pods meanwhile, and takes them again when it is called off", async () => {
    await logind.powerOff();
    await expect.poll(logind.delays, { timeout: TIMEOUT_MS }).toEqual([]);
    await world.create(shellPod("late", RUN_FOR_EVER));
    const late = await world.pod("late", hasEnded);
    expect(late.status).toMatchObject({
      reason: "NodeShutdown",
      message: "Pod was rejected: Pod was rejected as the node is shutting down.",
    });
    logind.callOff();
    await expect.poll(async () => (await readyCondition())?.status, { timeout: TIMEOUT_MS }).toBe("True");
    await expect.poll(logind.delays, { timeout: TIMEOUT_MS }).toEqual([DELAY]);
    await runPod("afterwards", RUN_FOR_EVER);
  });

  it("is not held up by an agent that was killed", async () => {
    await world.node.kill();
    await expect.poll(logind.delays, { timeout: TIMEOUT_MS }).toEqual([]);
  });

  it("is held up again after the bus was restarted", async () => {
    await logind.restart();
    await expect.poll(logind.delays, { timeout: TIMEOUT_MS }).toEqual([DELAY]);
  });
});
