import { createSocket } from "node:dgram";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Summary } from "../../src/node/upkeep/stats/summary/summary.ts";
import { claimPort } from "../machine/claims.ts";
import { createNodeUnderTest, type NodeUnderTest } from "./node-under-test.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "./pods.ts";

const MIB = 1024 * 1024;
/** It writes to a volume, to its own layer and to its log, and computes for ever. */
const BUSY = `head -c ${2 * MIB} /dev/zero > /scratch/two; head -c ${MIB} /dev/zero > /one; echo written
trap 'exit 0' TERM; while :; do :; done`;
const TIMEOUT_MS = 60_000;

describe("the statistics of pods that run", () => {
  let node: NodeUnderTest;
  let port: number;

  beforeAll(async () => {
    node = await createNodeUnderTest();
    port = await claimPort();
    const volumes = { volumes: [{ name: "scratch", emptyDir: {} }] };
    const resources = { limits: { memory: "64Mi", cpu: "200m" } };
    const container = { volumeMounts: [{ name: "scratch", mountPath: "/scratch" }], resources };
    await node.write("busy.json", shellPod("busy", BUSY, volumes, container));
    await node.write("idle.json", shellPod("idle", RUN_FOR_EVER));
    await node.start([`--read-only-port=${port}`, "--address=127.0.0.1"]);
    await Promise.all([node.pod("busy", isRunning), node.pod("idle", isRunning)]);
  });
  afterAll(async () => await node?.destroy());

  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    const body = await response.text();
    expect(response.status, body).toBe(200);
    return { body, type: response.headers.get("content-type") };
  };
  const readSummary = async (query = ""): Promise<Summary> => {
    const { body, type } = await get(`/stats/summary${query}`);
    expect(type).toMatch(/^application\/json/);
    return JSON.parse(body);
  };
  const podOf = ({ pods }: Summary, name: string) => {
    const pod = pods.find(({ podRef }) => podRef.name === `${name}-e2e`);
    if (pod === undefined) throw new Error(`no statistics of ${name}: ${JSON.stringify(pods)}`);
    return pod;
  };
  /** What is looked at from time to time becomes true some time. */
  const eventually = async (what: string, holds: (summary: Summary) => boolean): Promise<Summary> => {
    const deadline = Date.now() + TIMEOUT_MS;
    for (;;) {
      const summary = await readSummary();
      if (holds(summary)) return summary;
      if (Date.now() > deadline) throw new Error(`${what} did not come true: ${JSON.stringify(summary)}`);
      await delay(100);
    }
  };

  it("tell what they use of processors and memory, and the node with them", async () => {
    const summary = await eventually("processor time", (read) => (podOf(read, "busy").cpu?.usageNanoCores ?? 0) > 1e6);
    expect(summary.node).toMatchObject({ nodeName: "e2e", startTime: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect(summary.node.cpu?.usageCoreNanoSeconds).toBeGreaterThan(
      podOf(summary, "busy").cpu?.usageCoreNanoSeconds ?? 0,
    );
    expect(summary.node.memory?.workingSetBytes).toBeGreaterThan(0);
    expect(summary.node.rlimit?.curproc).toBeGreaterThan(0);
    const busy = podOf(summary, "busy");
    const [main] = busy.containers;
    expect(main).toMatchObject({ name: "main" });
    expect(main?.cpu?.usageCoreNanoSeconds).toBeGreaterThan(0);
    expect(main?.memory?.workingSetBytes).toBeGreaterThan(0);
    expect((main?.memory?.availableBytes ?? 0) + (main?.memory?.workingSetBytes ?? 0)).toBe(64 * MIB);
    expect(podOf(summary, "idle").containers[0]?.memory).not.toHaveProperty("availableBytes");
    expect(podOf(summary, "idle").memory?.workingSetBytes).toBeGreaterThan(0);
    expect(podOf(summary, "busy").process_stats?.process_count).toBeGreaterThan(0);
  });

  it("tell what they take of disks", async () => {
    const summary = await eventually("the layer", (read) => {
      return (podOf(read, "busy").containers[0]?.rootfs?.usedBytes ?? 0) >= MIB;
    });
    const { fs, runtime } = summary.node;
    expect(fs?.capacityBytes).toBeGreaterThan(fs?.usedBytes ?? Number.POSITIVE_INFINITY);
    expect(runtime?.imageFs?.capacityBytes).toBeGreaterThan(0);
    const busy = podOf(summary, "busy");
    expect(busy.containers[0]?.logs?.usedBytes).toBeGreaterThan(0);
    expect(busy.volume).toMatchObject([{ name: "scratch", capacityBytes: fs?.capacityBytes }]);
    expect(busy.volume?.[0]?.usedBytes).toBeGreaterThanOrEqual(2 * MIB);
    expect(busy["ephemeral-storage"]?.usedBytes).toBeGreaterThanOrEqual(3 * MIB);
  });

  it("count what their networks carry", async () => {
    const received = (summary: Summary) => podOf(summary, "idle").network?.rxBytes ?? 0;
    const before = received(await readSummary());
    const { status } = await node.pod("idle", isRunning);
    const socket = createSocket("udp4");
    for (let sent = 0; sent < 20; sent++) {
      await new Promise<void>((resolve, reject) => {
        socket.send(Buffer.alloc(1_000), 9, status?.podIP, (error) => (error ? reject(error) : resolve()));
      });
    }
    socket.close();
    const summary = await eventually("what was sent", (read) => received(read) >= before + 10_000);
    expect(podOf(summary, "idle").network).toMatchObject({ name: "eth0", interfaces: [{ name: "eth0" }] });
  });

  it("are told of processors and memory alone", async () => {
    const summary = await readSummary("?only_cpu_and_memory=true");
    expect(podOf(summary, "busy").containers[0]?.cpu?.usageCoreNanoSeconds).toBeGreaterThan(0);
    expect(summary.node).not.toHaveProperty("fs");
    expect(podOf(summary, "busy")).not.toHaveProperty("network");
  });

  it("are told as pages of metrics", async () => {
    const readSample = (page: string, series: RegExp) =>
      Number(new RegExp(`^${series.source} (\\S+)`, "m").exec(page)?.[1]);
    const resource = await get("/metrics/resource");
    expect(resource.type).toMatch(/^text\/plain; version=0\.0\.4/);
    const cpu = /container_cpu_usage_seconds_total\{container="main",namespace="default",pod="busy-e2e"\}/;
    expect(readSample(resource.body, cpu)).toBeGreaterThan(0);
    expect(resource.body).toMatch(/^resource_scrape_error 0$/m);
    const { body } = await get("/metrics/cadvisor");
    expect(
      readSample(body, /container_memory_working_set_bytes\{container="main",[^}]*pod="busy-e2e"\}/),
    ).toBeGreaterThan(0);
    expect(readSample(body, /container_spec_memory_limit_bytes\{container="main",[^}]*pod="busy-e2e"\}/)).toBe(
      64 * MIB,
    );
    expect(
      readSample(body, /container_network_receive_bytes_total\{[^}]*pod="idle-e2e",interface="eth0"\}/),
    ).toBeGreaterThan(0);
    expect(readSample(body, /container_file_descriptors\{container="main",[^}]*pod="busy-e2e"\}/)).toBeGreaterThan(0);
    expect(readSample(body, /container_sockets\{container="main",[^}]*pod="busy-e2e"\}/)).toBe(0);
    expect(
      readSample(body, /container_ulimits_soft\{container="main",[^}]*pod="busy-e2e",ulimit="max_open_files"\}/),
    ).toBeGreaterThanOrEqual(1_024);
    expect(readSample(body, /container_fs_io_time_seconds_total\{[^}]*id="\/"[^}]*\}/)).toBeGreaterThan(0);
    expect(readSample(body, /machine_cpu_physical_cores\{[^}]*\}/)).toBeGreaterThan(0);
    expect(body).toMatch(/^container_scrape_error 0$/m);
    for (const page of [resource.body, body]) {
      for (const line of page.split("\n")) {
        expect(line).toMatch(/^$|^# (HELP|TYPE) |^[a-z_]+(\{([a-zA-Z_]+="[^"]*",?)*\})? [-+.\deE]+( \d+)?$/);
      }
    }
    expect((await get("/metrics/probes")).type).toMatch(/^text\/plain/);
  });
});
