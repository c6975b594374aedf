import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Container, Pod } from "../../../src/api/gen/types.ts";
import { DEMO_IMAGE } from "../../../src/cluster/images/image-references.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { type ClusterNode, createClusterNode } from "./cluster-node.ts";

const conditionOf = (pod: Pod, type: string) => pod.status?.conditions?.find((condition) => condition.type === type);
const isReady = (pod: Pod) => conditionOf(pod, "Ready")?.status === "True";
const isUnready = (pod: Pod) => conditionOf(pod, "Ready")?.status === "False";
const restartsOf = (pod: Pod, name = "main") => containerOf(pod, name)?.restartCount ?? 0;

/** A web server that answers `/ok` for as long as that file is there; it ends at once when it is told to. */
const WEB_SERVER = "mkdir -p /www && touch /www/ok && httpd -p 8080 -h /www && trap 'exit 0' TERM; sleep 100000 & wait";
const web = { ports: [{ name: "web", containerPort: 8080 }] };

describe("probes", () => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode();
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  const createProbed = async (name: string, script: string, container: Partial<Container>) =>
    await world.create(shellPod(name, script, {}, container));

  it.concurrent("a command decides when a container is ready, and when it is not any more", async () => {
    const exec = { command: ["sh", "-c", 'test -e "$(FLAG)" || { echo "no $(FLAG)"; exit 1; }'] };
    const readinessProbe = { exec, periodSeconds: 1, failureThreshold: 1 };
    await createProbed("by-command", RUN_FOR_EVER, { env: [{ name: "FLAG", value: "/tmp/ready" }], readinessProbe });
    const unready = await world.pod("by-command", (pod) => isRunning(pod) && isUnready(pod));
    expect(containerOf(unready, "main")).toMatchObject({ started: true, ready: false });
    expect(conditionOf(unready, "Ready")).toMatchObject({
      reason: "ContainersNotReady",
      message: "containers with unready status: [main]",
    });
    await world.event("by-command", { reason: "Unhealthy", message: "Readiness probe failed: no /tmp/ready\n" });
    await world.shell("by-command", "touch /tmp/ready");
    expect(containerOf(await world.pod("by-command", isReady), "main")?.ready).toBe(true);
    await world.shell("by-command", "rm /tmp/ready");
    expect(restartsOf(await world.pod("by-command", isUnready))).toBe(0);
  });

  it.concurrent("a container that is ready from the beginning is so with its first probe, whatever the period", async () => {
    const readinessProbe = { exec: { command: ["true"] }, periodSeconds: 600 };
    await createProbed("at-once", RUN_FOR_EVER, { readinessProbe });
    await world.pod("at-once", isReady);
  });

  it.concurrent("what an HTTP probe finds dead is restarted, and told of", async () => {
    const livenessProbe = { httpGet: { path: "/ok", port: "web" }, periodSeconds: 1, failureThreshold: 2 };
    await createProbed("by-http", WEB_SERVER, { ...web, livenessProbe });
    await world.pod("by-http", isRunning);
    await world.shell("by-http", "rm /www/ok");
    const restarted = await world.pod("by-http", (pod) => restartsOf(pod) === 1);
    expect(containerOf(restarted, "main")?.lastState?.terminated?.exitCode).toBe(0);
    const unhealthy = await world.event("by-http", {
      reason: "Unhealthy",
      message: "Liveness probe failed: HTTP probe failed with statuscode: 404",
    });
    expect(unhealthy.involvedObject.fieldPath).toBe("spec.containers{main}");
    await world.event("by-http", {
      reason: "Killing",
      message: "Container main failed liveness probe, will be restarted",
    });
    // The file is there again, and so the container stays.
    expect(restartsOf(await world.pod("by-http", isReady))).toBe(1);
  });

  it.concurrent("a startup probe keeps the others waiting, and then they begin", async () => {
    const startupProbe = {
      exec: { command: ["test", "-e", "/tmp/started"] },
      periodSeconds: 1,
      failureThreshold: 1_000,
    };
    // They would kill it, and call it ready.
    const livenessProbe = { exec: { command: ["test", "-e", "/tmp/started"] }, periodSeconds: 1, failureThreshold: 1 };
    const readinessProbe = { tcpSocket: { port: 8080 }, periodSeconds: 1 };
    await createProbed("slow", WEB_SERVER, { startupProbe, livenessProbe, readinessProbe });
    await world.event("slow", { reason: "Unhealthy", message: "Startup probe failed: " });
    const waiting = await world.pod("slow", isRunning);
    expect(containerOf(waiting, "main")).toMatchObject({ started: false, ready: false, restartCount: 0 });
    await world.shell("slow", "touch /tmp/started");
    const ready = await world.pod("slow", isReady);
    expect(containerOf(ready, "main")).toMatchObject({ started: true, restartCount: 0 });
  });

  it.concurrent("a startup probe that fails restarts the container, within its own grace period", async () => {
    const startupProbe = {
      ...{ tcpSocket: { port: 1 }, periodSeconds: 1, failureThreshold: 1 },
      terminationGracePeriodSeconds: 1,
    };
    // It does not hear of SIGTERM; the pod would give it a day.
    const spec = { terminationGracePeriodSeconds: 86_400 };
    await world.create(shellPod("never-up", "trap '' TERM; while true; do sleep 1; done", spec, { startupProbe }));
    const restarted = await world.pod("never-up", (pod) => restartsOf(pod) >= 1);
    expect(containerOf(restarted, "main")?.lastState?.terminated?.exitCode).toBe(137);
    const address = restarted.status?.podIP;
    const message = `Startup probe failed: dial tcp ${address}:1: connect: connection refused`;
    await world.event("never-up", { reason: "Unhealthy", message });
    await world.event("never-up", {
      reason: "Killing",
      message: "Container main failed startup probe, will be restarted",
    });
    await world.remove("never-up", 0);
  });

  it.concurrent("what comes after a sidecar waits for its startup probe", async () => {
    const sidecar = {
      ...{ name: "side", image: DEMO_IMAGE, restartPolicy: "Always", command: ["sh", "-c", RUN_FOR_EVER] },
      startupProbe: { exec: { command: ["test", "-e", "/tmp/started"] }, periodSeconds: 1, failureThreshold: 1_000 },
    };
    await world.create(shellPod("behind", RUN_FOR_EVER, { initContainers: [sidecar] }));
    await world.event("behind", { reason: "Unhealthy", message: "Startup probe failed: " });
    const waiting = await world.pod("behind", (pod) => containerOf(pod, "side")?.state?.running !== undefined);
    expect(containerOf(waiting, "side")?.started).toBe(false);
    expect(containerOf(waiting, "main")?.state?.waiting?.reason).toBe("PodInitializing");
    await world.exec("behind", ["touch", "/tmp/started"], "side");
    const ready = await world.pod("behind", isReady);
    expect(containerOf(ready, "side")).toMatchObject({ started: true, ready: true });
  });

  it.concurrent("a command that takes too long has failed", async () => {
    const readinessProbe = { exec: { command: ["sleep", "1000"] }, periodSeconds: 1, failureThreshold: 1 };
    await createProbed("too-long", RUN_FOR_EVER, { readinessProbe });
    await world.event("too-long", {
      reason: "Unhealthy",
      message: 'Readiness probe failed: command timed out: "sleep 1000" timed out after 1s',
    });
  });
});

describe("probes over a restart of the node agent", () => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode();
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  it("a container that was ready stays so, and is looked at again", async () => {
    const readinessProbe = { exec: { command: ["test", "-e", "/tmp/ready"] }, periodSeconds: 1, failureThreshold: 1 };
    const script = `touch /tmp/ready; ${RUN_FOR_EVER}`;
    await world.create(shellPod("kept", script, {}, { readinessProbe }));
    const before = await world.pod("kept", isReady);
    const followed = await world.follow("kept");
    await world.node.kill();
    await world.node.start(world.flags);
    await world.shell("kept", "rm /tmp/ready");
    const after = await world.pod("kept", isUnready);
    expect(containerOf(after, "main")?.containerID).toBe(containerOf(before, "main")?.containerID);
    await world.remove("kept");
    const unready = (await followed.ended).filter(isUnready);
    // Once, by the file, and not by the restart: it stays so until the end.
    const times = new Set(unready.map((pod) => conditionOf(pod, "Ready")?.lastTransitionTime));
    expect(times.size).toBe(1);
  });
});
