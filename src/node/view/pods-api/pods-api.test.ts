import { describe, expect, it } from "vitest";
import type { Pod, PodStatus } from "../../../api/gen/types.ts";
import { silentLog } from "../../../base/log.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { createMemoryServer } from "../../../grpc/fake/memory-server.ts";
import type { ServedService } from "../../../grpc/served-service.ts";
import { createService } from "../../../grpc/service.ts";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { readPod } from "../../../pods-api/__fixtures__/read-pod.ts";
import { EventType, PodsDefinition } from "../../../pods-api/gen/pods-v1alpha1.ts";
import { createDesiredPods } from "../../pods/desired/desired-pods.ts";
import { followUpdates } from "../../pods/desired/follow-updates.ts";
import { createPodStatuses } from "../../pods/status/pod-statuses.ts";
import { createPodFeed } from "./pod-feed.ts";
import { createPodsApiPart, declarePodsApiMetrics } from "./serve-pods.ts";

const timeline = { record: () => undefined };

function podNamed(name: string, metadata: Pod["metadata"] = {}): Pod {
  return { metadata: { name, namespace: "default", uid: `uid-${name}`, ...metadata }, spec: { containers: [] } };
}

const NAMES = new Map<number, string>(Object.entries(EventType).map(([name, number]) => [number, name]));

/** A node whose API server has these pods at first. */
async function startNode(...first: Pod[]) {
  const { clock, files } = createFakeHost();
  const metrics = createMetrics();
  const statuses = createPodStatuses({ clock });
  const followed = followUpdates(createDesiredPods({ clock, log: silentLog, timeline }, { sources: ["api"] }));
  const { desired } = followed;
  const show = (...pods: Pod[]) => void desired.apply({ source: "api", pods });
  const pods = createPodFeed({ ...followed, statuses, onDrop: declarePodsApiMetrics(metrics) });
  show(...first);
  let served: readonly ServedService[] = [];
  const paths: string[] = [];
  const serve = async ({ path, services }: { path: string; services: readonly ServedService[] }) => {
    paths.push(path);
    served = services;
    return { close: async () => undefined };
  };
  const part = createPodsApiPart({ clock, files, log: silentLog, serve, pods }, "/var/lib/kubelet/pods-api");
  const controller = new AbortController();
  const running = part.run(controller.signal).catch(() => undefined);
  await clock.settle();
  const server = createMemoryServer({ clock, endpoint: "unix:///run/pods-api.sock", services: served });
  const client = createService(PodsDefinition, server.connect({ requestTimeoutMs: 10_000 }));
  const publish = (pod: Pod, status: PodStatus, mayRun = true) => statuses.set(pod, status, { mayRun });
  /** Begins a watch, which has been told of everything when this resolves. */
  const watch = async () => {
    const heard: string[] = [];
    const events: Pod[] = [];
    const failure = (async () => {
      for await (const { type, pod } of client.watchPods({}, { signal: controller.signal })) {
        const read = pod.length === 0 ? undefined : readPod(pod);
        heard.push([NAMES.get(type), read?.metadata?.name, read?.status?.phase].filter(Boolean).join(" "));
        if (read !== undefined) events.push(read);
      }
      return undefined;
    })().catch((error: unknown) => error);
    await clock.settle();
    return { heard, events, failure };
  };
  const stop = async () => {
    controller.abort();
    await running;
  };
  return { clock, client, statuses, show, publish, watch, stop, metrics, paths, files };
}

describe("the API of pods", () => {
  it("is served at a socket of its own, in a directory that root alone may enter", async () => {
    const node = await startNode();
    expect(node.paths).toEqual(["/var/lib/kubelet/pods-api/pods-api.sock"]);
    expect(((await node.files.stat("/var/lib/kubelet/pods-api"))?.mode ?? 0o7) & 0o7).toBe(0);
    await node.stop();
  });

  it("lists pods by UID, with the node's status of them, and gets one", async () => {
    const [a, b] = [podNamed("a"), podNamed("b", { labels: { app: "web" } })];
    const node = await startNode(b, a);
    node.publish(b, { phase: "Running", podIP: "10.0.0.2" });
    const listed = (await node.client.listPods({})).pods.map(readPod);
    expect(listed.map(({ metadata }) => metadata?.uid)).toEqual(["uid-a", "uid-b"]);
    const got = readPod((await node.client.getPod({ podUID: "uid-b" })).pod);
    expect(got).toMatchObject({
      metadata: { labels: { app: "web" } },
      status: { phase: "Running", podIP: "10.0.0.2" },
    });
    await expect(node.client.getPod({ podUID: "uid-c" })).rejects.toMatchObject({
      code: "not-found",
      message: expect.stringContaining("pod with UID uid-c not found"),
    });
    await node.stop();
  });

  it("refuses more than ten calls at once", async () => {
    const node = await startNode();
    for (let call = 0; call < 10; call++) await node.client.listPods({});
    await expect(node.client.listPods({})).rejects.toMatchObject({ code: "resource-exhausted" });
    await node.clock.advance(10);
    await node.client.listPods({});
    await node.stop();
  });
});

describe("a watch of pods", () => {
  it("begins with the pods that are there, and goes on with each change", async () => {
    const [a, b] = [podNamed("a"), podNamed("b")];
    const node = await startNode(a);
    const { heard, events } = await node.watch();
    expect(heard).toEqual(["ADDED a", "INITIAL_SYNC_COMPLETE"]);
    heard.length = 0;
    node.publish(a, { phase: "Pending" });
    node.show(a, b);
    node.publish(b, { phase: "Pending" });
    node.publish(b, { phase: "Running" });
    const labelled = podNamed("b", { labels: { state: "new" } });
    node.show(a, labelled);
    const ending = podNamed("b", { labels: { state: "new" }, deletionTimestamp: "2026-01-01T00:00:00Z" });
    node.show(a, ending);
    node.publish(ending, { phase: "Failed" });
    node.publish(ending, { phase: "Failed" }, false);
    node.publish(ending, { phase: "Failed", message: "too late" }, false);
    node.show(a);
    node.statuses.remove("uid-b");
    await node.clock.settle();
    const phases = [
      "ADDED b Pending",
      "MODIFIED b Running",
      "MODIFIED b Running",
      "MODIFIED b Running",
      "MODIFIED b Failed",
    ];
    expect(heard).toEqual(["MODIFIED a Pending", ...phases, "DELETED b"]);
    expect(events.find(({ metadata }) => metadata?.labels !== undefined)?.status?.phase).toBe("Running");
    expect(events.at(-1)?.metadata).toEqual({ name: "b", namespace: "default", uid: "uid-b" });
    await node.stop();
  });

  it("is told that a pod is gone which was refused, had ended before, or has no status", async () => {
    const [refused, ended, fresh] = [podNamed("refused"), podNamed("ended"), podNamed("fresh")];
    const node = await startNode(refused, ended, fresh);
    node.publish(ended, { phase: "Running" });
    node.publish(ended, { phase: "Succeeded" }, false);
    node.publish(refused, { phase: "Failed" }, false);
    const { heard } = await node.watch();
    heard.length = 0;
    node.show(fresh);
    for (const pod of [refused, ended]) node.statuses.remove(pod.metadata?.uid ?? "");
    node.show();
    await node.clock.settle();
    expect(heard).toEqual(["DELETED refused", "DELETED ended", "DELETED fresh"]);
    await node.stop();
  });

  it("is told of a pod that is forced away when it has ended, and of the next life of its UID", async () => {
    const pod = podNamed("a");
    const node = await startNode(pod);
    node.publish(pod, { phase: "Running" });
    const { heard } = await node.watch();
    heard.length = 0;
    node.show();
    await node.clock.settle();
    expect(heard).toEqual([]);
    node.show(pod);
    node.publish(pod, { phase: "Failed" }, false);
    node.statuses.remove("uid-a");
    node.publish(pod, { phase: "Pending" });
    await node.clock.settle();
    expect(heard).toEqual(["DELETED a", "ADDED a Pending"]);
    await node.stop();
  });

  it("hears nothing of a pod that no source wants, and that it was not told of", async () => {
    const node = await startNode();
    const { heard } = await node.watch();
    node.publish(podNamed("stranger"), { phase: "Running" });
    node.statuses.remove("uid-stranger");
    await node.clock.settle();
    expect(heard).toEqual(["INITIAL_SYNC_COMPLETE"]);
    await node.stop();
  });

  it("is given up when a hundred changes wait for it, and others go on", async () => {
    const pod = podNamed("a");
    const node = await startNode(pod);
    const slow = await node.watch();
    // All of them in one step, in which nobody reads.
    for (let change = 0; change < 102; change++) node.publish(pod, { phase: "Running", message: String(change) });
    expect(await slow.failure).toMatchObject({
      code: "resource-exhausted",
      message: expect.stringContaining("watch client channel closed"),
    });
    expect(await node.metrics.render()).toContain("kubelet_pod_watch_events_dropped_total 1");
    const { heard } = await node.watch();
    expect(heard).toEqual(["ADDED a Running", "INITIAL_SYNC_COMPLETE"]);
    await node.stop();
  });

  it("is refused beside a hundred others, until one of them ends", async () => {
    const node = await startNode();
    const begin = async () => {
      const events = node.client.watchPods({})[Symbol.asyncIterator]();
      await events.next();
      return events;
    };
    const first = await begin();
    for (let watch = 1; watch < 100; watch++) await begin();
    await expect(begin()).rejects.toMatchObject({ code: "resource-exhausted" });
    await first.return?.();
    await node.clock.settle();
    await begin();
    await node.stop();
  });
});
