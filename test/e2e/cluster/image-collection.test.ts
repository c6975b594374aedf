import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PAUSE_IMAGE } from "../../../src/cluster/images/image-references.ts";
import * as cri from "../../../src/cri/gen/cri-v1.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { type ClusterNode, createClusterNode, NODE_NAME } from "./cluster-node.ts";
import { importUserImages, userImage } from "./user-images.ts";

const TIMEOUT_MS = 20_000;
const USED = userImage("0");

describe("images", () => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode();
    await importUserImages(world.node, ["0"]);
    await world.node.start(world.flags);
    await world.create(shellPod("keeper", RUN_FOR_EVER, {}, { image: USED }));
    await world.pod("keeper", isRunning);
  });
  afterAll(async () => await world?.destroy());

  const present = async (): Promise<string[]> => {
    const { images } = await world.node.cri.images.listImages(cri.ListImagesRequest.fromPartial({}));
    return images.flatMap(({ repoTags }) => repoTags);
  };
  const untilGone = async (name: string) => {
    for (const deadline = Date.now() + TIMEOUT_MS; (await present()).includes(name); await delay(50)) {
      if (Date.now() > deadline) throw new Error(`${name} is still there\n${world.node.log().slice(-3_000)}`);
    }
  };
  /** Another process, with other rules; the pods run on. */
  const restart = async (rules: object) => {
    await world.node.stop();
    const directory = join(world.node.directory, "kubelet.conf.d");
    await mkdir(directory, { recursive: true });
    const kind = { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" };
    await writeFile(join(directory, "10-images.conf"), JSON.stringify({ ...kind, imageMinimumGCAge: "1ms", ...rules }));
    await world.node.start([...world.flags, `--config-dir=${directory}`]);
  };

  it("that nobody has used for too long go, again and again; what is used stays, and what sandboxes are made of", async () => {
    await importUserImages(world.node, ["1"]);
    await restart({ imageMaximumGCAge: "1s" });
    await untilGone(userImage("1"));
    await importUserImages(world.node, ["2"]);
    await untilGone(userImage("2"));
    expect((await present()).toSorted()).toEqual([PAUSE_IMAGE, USED].toSorted());
    await world.pod("keeper", isRunning);
  });

  it("that nobody uses go where the disk is too full, and the node tells where that is not enough", async () => {
    await importUserImages(world.node, ["3"]);
    await restart({ imageGCHighThresholdPercent: 1, imageGCLowThresholdPercent: 0 });
    await untilGone(userImage("3"));
    const { message } = await world.event(NODE_NAME, { type: "Warning", reason: "FreeDiskSpaceFailed" });
    expect(message).toMatch(
      /^Insufficient free disk space on the node's image filesystem \(\d+% of [\d.]+ [KMGT]iB used\)\. Failed to free sufficient space by deleting unused images \(freed \d+ bytes\)\./,
    );
    expect((await present()).toSorted()).toEqual([PAUSE_IMAGE, USED].toSorted());
    await world.create(shellPod("after", RUN_FOR_EVER, {}, { image: USED, imagePullPolicy: "Never" }));
    await world.pod("after", isRunning);
  });
});
