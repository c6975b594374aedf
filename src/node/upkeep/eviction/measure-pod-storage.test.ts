import { beforeEach, describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { createHangGuard } from "../../../base/hang-guard.ts";
import { silentLog } from "../../../base/log.ts";
import { ContainerStatusResponse, ListContainerStatsResponse } from "../../../cri/gen/cri-v1.ts";
import { createFakeHost, type FakeHost } from "../../../host/fake/create-fake-host.ts";
import type { Files } from "../../../host/port.ts";
import { createFileUsageReader } from "./file-usage.ts";
import { findExceededLimit } from "./judge-local-storage.ts";
import { readLocalStorageLimits } from "./local-storage-limits.ts";
import { createPodStorageMeter, type PodStorageMeter } from "./measure-pod-storage.ts";

const KIB = 1024;
const ROOT = "/var/lib/kubelet";
const LOGS = "/var/log/pods";
const VOLUMES = `${ROOT}/pods/u1/volumes`;
const POD: Pod = {
  metadata: { uid: "u1", name: "web", namespace: "shop" },
  spec: {
    containers: [{ name: "main", resources: { limits: { "ephemeral-storage": "1Gi" } } }, { name: "side" }],
    volumes: [
      { name: "disk", emptyDir: {} },
      { name: "memory", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } },
      { name: "unlimited", emptyDir: { medium: "Memory" } },
      { name: "map", configMap: { name: "m" } },
      { name: "secret", secret: { secretName: "s" } },
      { name: "host", hostPath: { path: "/" } },
    ],
  },
};
const RESOLVER = "/run/containerd/sandboxes/s1/resolv.conf";

let host: FakeHost;
let meter: PodStorageMeter;
let running: Array<{ id: string; name: string }>;
let layers: Record<string, number>;
let asked: string[];
/** The whole `info` that the runtime returns about a container. */
let info: string;
let fails: Error | undefined;
/** A tree that is too deep to be seen as a whole. */
let tooDeep: string | undefined;

beforeEach(() => {
  host = createFakeHost();
  running = [
    { id: "c1", name: "main" },
    { id: "c2", name: "side" },
  ];
  layers = { c1: 7 * KIB, c2: 5 * KIB, old: 900 * KIB };
  asked = [];
  fails = undefined;
  tooDeep = undefined;
  const files: Pick<Files, "diskUsage" | "list"> = {
    list: async (path) => await host.files.list(path),
    async diskUsage(path, signal) {
      const usage = await host.files.diskUsage(path, signal);
      return usage && { ...usage, isWhole: path !== tooDeep };
    },
  };
  const mounts = [
    { destination: "/etc/resolv.conf", source: RESOLVER, type: "bind" },
    { destination: "/etc/hostname", source: "relative", type: "bind" },
    { destination: "/proc", source: "proc", type: "proc" },
  ];
  info = JSON.stringify({ runtimeSpec: { mounts } });
  meter = createPodStorageMeter(
    {
      usage: createFileUsageReader({ files, guard: createHangGuard({ clock: host.clock, maxHung: 2 }) }),
      runtime: {
        async listContainerStats({ filter }) {
          if (fails) throw fails;
          asked.push(`stats of ${filter?.labelSelector["io.kubernetes.pod.uid"]}`);
          const stats = Object.entries(layers).map(([id, bytes]) => {
            return { attributes: { id }, writableLayer: { usedBytes: { value: BigInt(bytes) } } };
          });
          return ListContainerStatsResponse.fromPartial({ stats });
        },
        async containerStatus({ containerId, verbose }) {
          if (fails) throw fails;
          asked.push(`${verbose ? "all" : "status"} of ${containerId}`);
          return ContainerStatusResponse.fromPartial({ status: { id: containerId }, info: { info } });
        },
      },
      runningContainers: () => running,
      log: silentLog,
    },
    { rootDirectory: ROOT, podLogsDirectory: LOGS },
  );
});

const put = (path: string, kibibytes: number) => host.files.put(path, Buffer.alloc(kibibytes * KIB));
const measure = async (pod = POD, signal = new AbortController().signal) => {
  const limits = readLocalStorageLimits(pod);
  if (limits === undefined) throw new Error("the pod has no limits");
  return await meter.measure(pod, limits, signal);
};

describe("a pod's storage is", () => {
  it("nothing while nothing of it is there", async () => {
    running = [];
    expect(await measure()).toEqual({
      volumes: new Map([
        ["disk", 0],
        ["memory", 0],
        ["map", 0],
      ]),
      containers: [],
      podLogs: 0,
      hostFiles: 0,
    });
  });

  it("its own volumes, those in memory where they are limited", async () => {
    put(`${VOLUMES}/kubernetes.io~empty-dir/disk/deep/file`, 64);
    put(`${VOLUMES}/kubernetes.io~empty-dir/memory/file`, 32);
    put(`${VOLUMES}/kubernetes.io~empty-dir/unlimited/file`, 16);
    put(`${VOLUMES}/kubernetes.io~configmap/map/..1/key`, 8);
    put(`${VOLUMES}/kubernetes.io~secret/secret/key`, 512);
    expect(Object.fromEntries((await measure()).volumes)).toEqual({
      disk: (64 + 8) * KIB,
      memory: (32 + 4) * KIB,
      map: (8 + 8) * KIB,
    });
  });

  it("more than any limit where a container has nested directories deeper than can be seen", async () => {
    tooDeep = `${VOLUMES}/kubernetes.io~empty-dir/disk`;
    put(`${VOLUMES}/kubernetes.io~empty-dir/disk/deep/file`, 64);
    put(`${VOLUMES}/kubernetes.io~empty-dir/memory/file`, 32);
    const limits = readLocalStorageLimits(POD);
    const usage = await measure();
    expect(usage.volumes.get("memory")).toBe((32 + 4) * KIB);
    expect(limits && findExceededLimit({ pod: POD, limits, usage, hasDedicatedImageFs: false })).toMatchObject({
      signal: "ephemeralpodfs.limit",
    });
  });

  it("the layers of the containers that run, and all their logs", async () => {
    for (const name of ["0.log", "1.log", "1.log.20260101-000000.gz"]) put(`${LOGS}/shop_web_u1/main/${name}`, 4);
    put(`${LOGS}/shop_web_u1/event.log`, 12);
    put(`${LOGS}/shop_other_u2/main/0.log`, 400);
    const { containers, podLogs } = await measure();
    expect(containers).toEqual([
      { name: "main", writableLayer: 7 * KIB, logs: 12 * KIB },
      { name: "side", writableLayer: 5 * KIB, logs: 0 },
    ]);
    expect(podLogs).toBe(12 * KIB);
    expect(asked).toContain("stats of u1");
  });

  it("the files of the node that are mounted into it (CVE-2020-8557)", async () => {
    put(`${ROOT}/pods/u1/etc-hosts`, 4);
    put(`${ROOT}/pods/u1/containers/main/00000000`, 16);
    put(`${ROOT}/pods/u1/containers/side/00000001`, 64);
    put(RESOLVER, 256);
    // The containers of a pod share each file, so it counts once.
    expect((await measure()).hostFiles).toBe((4 + 16 + 64 + 256) * KIB);
  });

  it("only its limited volumes where nothing else is limited", async () => {
    const pod: Pod = { ...POD, spec: { ...POD.spec, containers: [{ name: "main" }] } };
    put(`${ROOT}/pods/u1/etc-hosts`, 4);
    put(`${VOLUMES}/kubernetes.io~empty-dir/memory/file`, 32);
    const { volumes, ...others } = await measure(pod);
    expect(Object.fromEntries(volumes)).toEqual({ memory: 36 * KIB });
    expect(others).toEqual({ containers: [], podLogs: 0, hostFiles: 0 });
    expect(asked).toEqual([]);
  });
});

it("where the runtime keeps files of a container is asked once for each that runs", async () => {
  await measure();
  await measure();
  running = [{ id: "c3", name: "main" }];
  await measure();
  expect(asked.filter((call) => call.startsWith("all"))).toEqual(["all of c1", "all of c2", "all of c3"]);
});

it.each(["", "{", "[]", "{}", '{"runtimeSpec":{"mounts":[1,{"destination":"/etc/resolv.conf"}]}}'])(
  "a runtime that says nothing of it has none: %s",
  async (text) => {
    info = text;
    put(RESOLVER, 256);
    expect((await measure()).hostFiles).toBe(0);
  },
);

it("what cannot be read is left out, and the rest is told", async () => {
  put(`${VOLUMES}/kubernetes.io~empty-dir/disk/file`, 64);
  put(`${VOLUMES}/kubernetes.io~configmap/map/key`, 8);
  put(`${ROOT}/pods/u1/etc-hosts`, 4);
  fails = new Error("the runtime is away");
  host.files.intercept(({ operation, path }) => {
    if (operation === "diskUsage" && path.endsWith("/disk")) throw new Error("EIO");
  });
  const { volumes, containers, hostFiles } = await measure();
  expect([...volumes.keys()]).toEqual(["memory", "map"]);
  expect(containers.map(({ writableLayer }) => writableLayer)).toEqual([0, 0]);
  expect(hostFiles).toBe(4 * KIB);
});

it("ends when it is told to, also where a disk does not answer", async () => {
  host.files.intercept(async ({ path }) => {
    if (path.endsWith("/disk")) await new Promise(() => undefined);
  });
  const stopping = new AbortController();
  const measuring = measure(POD, stopping.signal);
  await host.clock.settle();
  stopping.abort();
  await expect(measuring).rejects.toMatchObject({ name: "AbortError" });
});
