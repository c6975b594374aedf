import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { type ClusterNode, createClusterNode } from "./cluster-node.ts";
import { importUserImages, userImage } from "./user-images.ts";

const USERS = ["", "0", "1000", "1000:2000", "app", "app:team", "zero", "nosuch"];
const isRefused = (pod: Pod) => containerOf(pod, "main")?.state?.waiting?.reason === "CreateContainerConfigError";

describe("as whom containers run, by image and pod", () => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode();
    await importUserImages(world.node, USERS);
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  const create = async (name: string, user: string, pod: object = {}, container: object = {}): Promise<void> => {
    const more = { image: userImage(user), imagePullPolicy: "Never", securityContext: container };
    const volumes = [{ name: "v", emptyDir: {} }];
    const volumeMounts = [{ name: "v", mountPath: "/v" }];
    const spec = { securityContext: pod, volumes };
    await world.create(shellPod(name, RUN_FOR_EVER, spec, { ...more, volumeMounts }));
  };

  /** `uid gid groups`, by the kernel. */
  it.concurrent.each<[string, string, object, object, string]>([
    ["none", "", {}, {}, "0 0 0"],
    ["number", "1000", {}, {}, "1000 0 0"],
    // CRI tells of the image's user without its group, and what kubelet passes on is all that counts.
    ["number-and-group", "1000:2000", {}, {}, "1000 0 0"],
    ["name", "app", {}, {}, "1001 1002 1002 3003"],
    ["name-and-group", "app:team", {}, {}, "1001 1002 1002 3003"],
    ["pod-over-image", "app", { runAsUser: 1234 }, {}, "1234 0 0"],
    ["pod-group-over-image", "1000:2000", { runAsUser: 1234, runAsGroup: 5 }, {}, "1234 5 5"],
    ["container-over-pod", "app", { runAsUser: 1234, runAsGroup: 5 }, { runAsUser: 77, runAsGroup: 78 }, "77 78 78"],
    ["known-number", "", { runAsUser: 1001 }, {}, "1001 1002 1002 3003"],
    ["groups", "1000", { supplementalGroups: [44, 45] }, {}, "1000 0 0 44 45"],
    ["fs-group", "1000:2000", { fsGroup: 88, supplementalGroups: [44] }, {}, "1000 0 0 44 88"],
    ["non-root-number", "1000", { runAsNonRoot: true }, {}, "1000 0 0"],
    ["non-root-asked", "app", { runAsNonRoot: true, runAsUser: 1001 }, {}, "1001 1002 1002 3003"],
    ["container-may-be-root", "", { runAsNonRoot: true }, { runAsNonRoot: false }, "0 0 0"],
    ["unknown-name-asked", "nosuch", { runAsUser: 9 }, {}, "9 0 0"],
  ])("runs: %s", async (name, user, pod, container, expected) => {
    await create(name, user, pod, container);
    await world.pod(name, isRunning);
    const status = await world.exec(name, ["cat", "/proc/1/status"]);
    const read = (field: string) => new RegExp(`^${field}:\\s*(.*)$`, "m").exec(status)?.[1]?.trim().split(/\s+/) ?? [];
    const groups = read("Groups")
      .map(Number)
      .toSorted((a, b) => a - b);
    const wanted = expected.split(" ").map(Number);
    expect([Number(read("Uid")[0]), Number(read("Gid")[0])]).toEqual(wanted.slice(0, 2));
    // Whether the first group is listed once more is the runtime's affair.
    expect(new Set([wanted[1], ...groups])).toEqual(new Set(wanted.slice(1)));
  });

  it.concurrent("gives volumes to the pod's group, and the image's user may write there", async () => {
    await create("owner", "app", { fsGroup: 88 });
    await world.pod("owner", isRunning);
    expect(await world.shell("owner", "stat -c '%u:%g' /v; touch /v/x && stat -c '%u:%g' /v/x")).toBe(
      "0:88\n1001:88\n",
    );
  });

  it.concurrent.each<[string, string, object, string]>([
    ["no-user", "", {}, "container has runAsNonRoot and image will run as root"],
    ["zero-number", "0", {}, "container has runAsNonRoot and image will run as root"],
    ["asked-zero", "1000", { runAsUser: 0 }, "container's runAsUser breaks non-root policy"],
    [
      "a-name",
      "app",
      {},
      "container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root",
    ],
    [
      "a-name-and-group",
      "app:team",
      {},
      "container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root",
    ],
    [
      "a-name-of-root",
      "zero",
      {},
      "container has runAsNonRoot and image has non-numeric user (zero), cannot verify user is non-root",
    ],
  ])("does not run what may not be root: %s", async (name, user, container, why) => {
    await create(name, user, { runAsNonRoot: true }, container);
    const pod = await world.pod(name, isRefused);
    const message = `${why} (pod: "${name}_default(${pod.metadata?.uid})", container: main)`;
    expect(containerOf(pod, "main")?.state?.waiting?.message).toBe(message);
    await world.event(name, { type: "Warning", reason: "Failed", message: `Error: ${message}` });
  });

  it.concurrent("says what the runtime says of a user whom the image does not know", async () => {
    await create("stranger", "nosuch");
    const isFailed = (pod: Pod) =>
      /^(CreateContainerError|RunContainerError)$/.test(containerOf(pod, "main")?.state?.waiting?.reason ?? "");
    const pod = await world.pod("stranger", isFailed);
    expect(containerOf(pod, "main")?.state?.waiting?.message).toMatch(/nosuch|no users found/);
  });
});
