import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { DEMO_IMAGE } from "../../../src/cluster/images/image-references.ts";
import { settlesOn } from "../cluster/settles.ts";
import { isRunning, RUN_FOR_EVER } from "../pods.ts";
import { mountHung } from "../volumes/hung-mount.ts";
import { createVolumeNode, mountingPod, type VolumeNode } from "../volumes/volume-node.ts";

/** A pod is looked at every 10 s, and containerd reads the sizes of layers as often. */
const EVICTION_MS = 60_000;

// Nothing here keeps the machine busy: all of them wait until their pod is looked at.
vi.setConfig({ maxConcurrency: 16 });

const isFailed = (pod: Pod) => pod.status?.phase === "Failed";
const limited = (limit: string) => ({ resources: { limits: { "ephemeral-storage": limit } } });
/** Writes so much, and goes on running. */
const writing = (mebibytes: number, path: string) =>
  `head -c ${mebibytes * 1024 * 1024} /dev/zero >> ${path}; ${RUN_FOR_EVER}`;

/** The object goes at once where the pod has ended before, and the rest follows it. */
const isRemoved = async (world: VolumeNode, { metadata }: Pod) => {
  await world.remove(metadata?.name ?? "");
  await settlesOn([], async () => await world.leftovers(metadata?.uid ?? ""), 20_000);
};

describe.concurrent("limits of local storage", () => {
  let world: VolumeNode;
  beforeAll(async () => {
    world = await createVolumeNode();
  });
  afterAll(async () => await world?.destroy());

  /** The pod fails as evicted with these words, its containers have ended for good, and nothing of it stays behind. */
  const isEvicted = async (name: string, message: string) => {
    const pod = await world.pod(name, isFailed, EVICTION_MS);
    expect(pod.status).toMatchObject({ phase: "Failed", reason: "Evicted", message });
    await world.event(name, { type: "Warning", reason: "Evicted", message });
    for (const { state, restartCount } of pod.status?.containerStatuses ?? []) {
      expect(state?.terminated).toBeDefined();
      expect(restartCount).toBe(0);
    }
    // It was its own doing.
    expect(pod.status?.conditions?.map(({ type }) => type)).not.toContain("DisruptionTarget");
    await isRemoved(world, pod);
  };
  /** A second container that may write a lot, so that the pod as a whole may too. */
  const beside = { name: "beside", image: DEMO_IMAGE, command: ["sh", "-c", RUN_FOR_EVER], ...limited("200Mi") };
  const pairOf = (script: string, limit: string) => {
    const main = { name: "main", image: DEMO_IMAGE, command: ["sh", "-c", script], ...limited(limit) };
    return { containers: [main, beside] };
  };
  const OF_POD = (limit: string) =>
    `Pod ephemeral local storage usage exceeds the total limit of containers ${limit}. `;

  it.concurrent("an emptyDir may be as large as its sizeLimit", async () => {
    const script = writing(8, "/v/data");
    await world.create(mountingPod("directory", { volumes: { v: { emptyDir: { sizeLimit: "4Mi" } } }, script }));
    await isEvicted("directory", 'Usage of EmptyDir volume "v" exceeds the limit "4Mi". ');
  });

  it.concurrent("a container may write as much over its image", async () => {
    await world.create(mountingPod("layer", { volumes: {}, spec: pairOf(writing(20, "/data"), "4Mi") }));
    await isEvicted("layer", 'Container main exceeded its local ephemeral storage limit "4Mi". ');
  });

  it.concurrent("and into its log", async () => {
    const script = `head -c ${8 * 1024 * 1024} /dev/zero | tr '\\0' x | fold -w 1000; ${RUN_FOR_EVER}`;
    await world.create(mountingPod("log", { volumes: {}, spec: pairOf(script, "4Mi") }));
    await isEvicted("log", 'Container main exceeded its local ephemeral storage limit "4Mi". ');
  });

  it.concurrent("the containers of a pod may together use as much as they may alone", async () => {
    const pod = mountingPod("together", {
      volumes: { v: { emptyDir: {} } },
      script: `head -c 3000000 /dev/zero > /own; ${writing(6, "/v/data")}`,
      container: limited("8Mi"),
    });
    await world.create(pod);
    await isEvicted("together", OF_POD("8Mi"));
  });

  it.concurrent.each([
    ["hosts", "/etc/hosts"],
    ["last-words", "/dev/termination-log"],
    ["resolver", "/etc/resolv.conf"],
    ["hostname", "/etc/hostname"],
  ])("CVE-2020-8557: a container that appends to a file of the node is evicted: %s", async (name, path) => {
    await world.create(mountingPod(name, { volumes: {}, script: writing(8, path), container: limited("4Mi") }));
    await isEvicted(name, OF_POD("4Mi"));
  });

  it.concurrent("what others have mounted in an emptyDir does not count, and may hang", async () => {
    const { metadata } = await world.run(
      mountingPod("hung", { volumes: { v: { emptyDir: { sizeLimit: "4Mi" } } }, script: RUN_FOR_EVER }),
    );
    const volume = join(world.podDirectory(metadata?.uid ?? ""), "volumes/kubernetes.io~empty-dir/v");
    const hung = await mountHung(world.node, join(volume, "hung"));
    try {
      await world.shell("hung", "head -c 8388608 /dev/zero > /v/data");
      await world.pod("hung", isFailed, EVICTION_MS);
    } finally {
      await hung.free();
    }
    await isEvicted("hung", 'Usage of EmptyDir volume "v" exceeds the limit "4Mi". ');
  });

  it.concurrent("a static pod stays, and is told", async () => {
    const pod = mountingPod("static", {
      volumes: { v: { emptyDir: { sizeLimit: "4Mi" } } },
      script: writing(8, "/v/data"),
    });
    await world.node.write("static.yaml", pod);
    const name = "static-e2e";
    const { metadata } = await world.node.pod("static", isRunning);
    await world.node.logged(/cannot evict a critical pod/, { timeoutMs: EVICTION_MS });
    const told = (await world.node.events("static")).filter(({ reason }) => reason === "LimitNotEnforced");
    expect(told.map(({ message, count }) => [message, count])).toEqual([
      [
        'Usage of EmptyDir volume "v" exceeds the limit "4Mi". The pod is static or critical and is not evicted for it.',
        1,
      ],
    ]);
    expect((await world.node.pod("static", isRunning)).status?.containerStatuses?.[0]?.restartCount).toBe(0);
    await world.node.remove("static.yaml");
    await world.node.gone("static");
    await world.gone(name);
    expect(await world.leftovers(metadata?.uid ?? "")).toEqual([]);
  });
});

describe.concurrent("limits of local storage, over a restart of the node agent", () => {
  let world: VolumeNode;
  beforeAll(async () => {
    world = await createVolumeNode();
  });
  afterAll(async () => await world?.destroy());

  it("hold for what runs already, and a pod that was evicted stays so", async () => {
    const podOf = (name: string) =>
      mountingPod(name, { volumes: { v: { emptyDir: { sizeLimit: "4Mi" } } }, script: RUN_FOR_EVER });
    for (const name of ["large", "small"]) await world.run(podOf(name));
    await world.node.kill();
    const volumes = "volumes/kubernetes.io~empty-dir/v/data";
    const { metadata } = (await world.read("large")) ?? {};
    await world.inNamespace(
      "dd",
      "if=/dev/zero",
      `of=${join(world.podDirectory(metadata?.uid ?? ""), volumes)}`,
      "bs=1M",
      "count=8",
    );
    await world.node.start(world.flags);
    const evicted = await world.pod("large", isFailed, EVICTION_MS);
    await world.node.kill();
    await world.node.start(world.flags);
    // The agent has seen all pods of the node when it has seen this one.
    const small = await world.pod("small", isRunning);
    const after = await world.read("large");
    expect(after?.status).toMatchObject({ phase: "Failed", reason: "Evicted", message: evicted.status?.message });
    expect(after?.status?.containerStatuses).toEqual(evicted.status?.containerStatuses);
    expect(small.status?.containerStatuses?.[0]?.restartCount).toBe(0);
    for (const pod of [evicted, small]) await isRemoved(world, pod);
  });
});
