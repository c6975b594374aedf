import { statfs } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { computeRuntimeLayout } from "../../../src/cluster/containerd/runtime-layout.ts";
import { linuxFiles } from "../../../src/host/linux/files/linux-files.ts";
import { keepImage } from "../../../src/node/runtime/images/kept-images.ts";
import { type ClusterNode, createClusterNode } from "../cluster/cluster-node.ts";
import { settlesOn } from "../cluster/settles.ts";
import { importUserImages, userImage } from "../cluster/user-images.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";

const MIB = 1024 ** 2;
const DISK_BYTES = 768 * MIB;
const isFailed = (pod: Pod) => pod.status?.phase === "Failed";

/** Writes into its layer, on the disk of images, and into a volume, on that of pods. */
const writing = (name: string, { layer, volume }: { layer: number; volume: number }) =>
  shellPod(
    name,
    `head -c ${layer * MIB} /dev/zero > /layer; head -c ${volume * MIB} /dev/zero > /v/data; touch /v/done; ${RUN_FOR_EVER}`,
    { volumes: [{ name: "v", emptyDir: {} }] },
    { volumeMounts: [{ name: "v", mountPath: "/v" }] },
  );

describe("a node whose images and containers have a disk of their own", () => {
  let world: ClusterNode;
  const rootOf = () => computeRuntimeLayout(`${world.node.directory}/runtime`).root;
  const diskPressure = async () =>
    (await world.nodeObject()).status?.conditions?.find(({ type }) => type === "DiskPressure")?.status;
  beforeAll(async () => {
    world = await createClusterNode({
      imageDiskBytes: DISK_BYTES,
      configuration: { evictionPressureTransitionPeriod: "4s", imageMinimumGCAge: "1s" },
    });
    await world.node.start(world.flags);
  });
  /** What containerd tells of a pod's layer. It measures once in 10 s. */
  const layerMib = async (name: string) => {
    const { stats } = await world.node.cri.runtime.listContainerStats({ filter: undefined });
    const found = stats.find(({ attributes }) => attributes?.labels["io.kubernetes.pod.name"] === name);
    return Math.floor(Number(found?.writableLayer?.usedBytes?.value ?? 0n) / MIB);
  };
  afterAll(async () => await world?.destroy());

  it("ends who has most in its layers when that disk is short, not who has more in volumes, and recovers", async () => {
    await importUserImages(world.node, ["app", "zero"]);
    const keptImages = `${world.node.directory}/kept-images`;
    await keepImage(linuxFiles, keptImages, userImage("app"));
    await world.create(writing("layers", { layer: 60, volume: 1 }));
    await world.create(writing("volumes", { layer: 1, volume: 100 }));
    for (const name of ["layers", "volumes"]) {
      await world.pod(name, isRunning);
      await world.shell(name, "until test -e /v/done; do sleep 0.1; done");
    }
    await settlesOn(60, async () => await layerMib("layers"), 30_000);
    await world.node.stop();
    const { bavail, bsize } = await statfs(rootOf());
    // Short by half of what the one pod has there.
    const wanted = bavail * bsize + 30 * MIB;
    const short = [`--eviction-hard=imagefs.available<${wanted}`, `--nodelet-kept-images=${keptImages}`];
    await world.node.start([...world.flags, ...short]);
    const evicted = await world.pod("layers", isFailed);
    expect(evicted.status).toMatchObject({
      reason: "Evicted",
      message: expect.stringMatching(/^The node was low on resource: ephemeral-storage\. Threshold quantity: \d+/),
    });
    await settlesOn("False", diskPressure, 30_000);
    await world.pod("volumes", isRunning);
    const images = await world.node.containerd.listImages();
    expect(images).toContain(userImage("app"));
    expect(images).not.toContain(userImage("zero"));
    expect(world.node.log()).not.toMatch(/Evicting pod.*?default\/volumes/);
  });
});
