import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configMap } from "../cluster/api-objects.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { createVolumeNode, mountingPod, type VolumeNode } from "./volume-node.ts";

const MIB = 1024 * 1024;
const PODS = "/api/v1/namespaces/default/pods";

describe("volumes that cannot be", () => {
  let world: VolumeNode;
  beforeAll(async () => {
    world = await createVolumeNode();
    await world.cluster.apply(configMap("settings", { key: "value" }));
    await world.run(shellPod("bystander", RUN_FOR_EVER));
  });
  afterAll(async () => await world?.destroy());

  const volumes = { v: { configMap: { name: "settings" } } };
  const items = (...paths: string[]) => ({
    v: { configMap: { name: "settings", items: paths.map((path) => ({ key: "key", path })) } },
  });

  it.concurrent.each<[string, object, RegExp]>([
    ["climb", mountingPod("x", { volumes: items("../x") }), /items\[0\]\.path: Invalid value.*must not contain '\.\.'/],
    ["climb within", mountingPod("x", { volumes: items("a/../../x") }), /items\[0\]\.path.*must not contain '\.\.'/],
    ["are absolute", mountingPod("x", { volumes: items("/etc/passwd") }), /items\[0\]\.path.*must be a relative path/],
    ["are empty", mountingPod("x", { volumes: items("") }), /items\[0\]\.path: Required value/],
    [
      "look like the links",
      mountingPod("x", { volumes: items("..data") }),
      /items\[0\]\.path.*must not start with '\.\.'/,
    ],
    [
      "climb in a subPath",
      mountingPod("x", { volumes, mounts: [{ name: "v", subPath: "../x" }] }),
      /subPath: Invalid value.*must not contain '\.\.'/,
    ],
    [
      "are absolute in a subPath",
      mountingPod("x", { volumes, mounts: [{ name: "v", subPath: "/etc" }] }),
      /subPath: Invalid value.*must be a relative path/,
    ],
    [
      "climb in a hostPath",
      mountingPod("x", { volumes: { v: { hostPath: { path: "/tmp/../etc" } } } }),
      /hostPath\.path: Invalid value.*must not contain '\.\.'/,
    ],
    [
      "are those of two volumes",
      mountingPod("x", {
        volumes: {},
        spec: {
          volumes: [
            { name: "v", emptyDir: {} },
            { name: "v", emptyDir: {} },
          ],
        },
      }),
      /spec\.volumes\[1\]\.name: Duplicate value: "v"/,
    ],
    [
      "are of no volume",
      mountingPod("x", { volumes, mounts: [{ name: "other" }] }),
      /volumeMounts\[0\]\.name: Not found: "other"/,
    ],
    [
      "are mounted at one path twice",
      mountingPod("x", { volumes, mounts: [{ name: "v" }, { name: "v" }] }),
      /volumeMounts\[1\]\.mountPath: Invalid value.*must be unique/,
    ],
  ])("names that %s are refused by the server", async (_what, pod, words) => {
    const refused = await world.api.json("POST", PODS, pod);
    expect(refused).toMatchObject({ status: 422, body: { message: expect.stringMatching(words) } });
  });

  it("a manifest with two volumes of one name, or a mount of none, is refused with its name", async () => {
    const from = world.node.log().length;
    const twice = [
      { name: "v", emptyDir: {} },
      { name: "v", emptyDir: {} },
    ];
    await world.node.write("twice.json", shellPod("twice", "x", { volumes: twice }));
    await world.node.write(
      "unknown.json",
      shellPod("unknown", "x", {}, { volumeMounts: [{ name: "v", mountPath: "/v" }] }),
    );
    await world.node.logged(/twice\.json.*spec\.volumes\[1\]\.name: Duplicate value/, { from });
    await world.node.logged(/unknown\.json.*volumeMounts\[0\]\.name: Not found/, { from });
    for (const file of ["twice.json", "unknown.json"]) await world.node.remove(file);
  });

  it.concurrent("an object of 2 MiB is refused by the server; two of nearly 1 MiB in one volume are shown", async () => {
    const path = "/api/v1/namespaces/default/configmaps";
    const tooLarge = await world.api.json("POST", path, configMap("huge", { key: "x".repeat(2 * MIB) }));
    expect(tooLarge.status).toBeGreaterThanOrEqual(400);
    expect(JSON.stringify(tooLarge.body)).toMatch(/Too long|too large/i);
    const sources = [];
    for (const name of ["large-a", "large-b"]) {
      await world.cluster.apply(configMap(name, { [name]: "y".repeat(MIB - 1_000) }));
      sources.push({ configMap: { name } });
    }
    await world.run(mountingPod("large", { volumes: { v: { projected: { sources } } } }));
    expect(await world.shell("large", "cat /v/large-a /v/large-b | wc -c")).toBe(`${2 * MIB - 2_000}\n`);
    expect(await world.end("large")).toEqual([]);
  });

  it.concurrent.each([
    ["flexVolume", { driver: "example.com/lvm" }],
    ["glusterfs", { endpoints: "e", path: "p" }],
    ["storageos", { volumeName: "x" }],
  ])("of a kind that upstream removed are refused by its name: %s", async (kind, source) => {
    const name = `kind-${kind.toLowerCase()}`;
    await world.create(mountingPod(name, { volumes: { v: { [kind]: source } } }));
    const { message } = await world.event(name, { type: "Warning" });
    expect(message).toMatch(new RegExp(kind, "i"));
    const pod = await world.read(name);
    expect(pod === undefined || isRunning(pod)).toBe(false);
    expect(await world.end(name)).toEqual([]);
  });

  it("say what is missing once, however often it is tried", async () => {
    await world.create(
      mountingPod("once", {
        volumes: { v: { configMap: { name: "absent" } }, w: { secret: { secretName: "absent" } } },
      }),
    );
    await world.event("once", { message: 'MountVolume.SetUp failed for volume "v" : configmap "absent" not found' });
    await world.event("once", { message: 'MountVolume.SetUp failed for volume "w" : secret "absent" not found' });
    const events = (await world.events("once")).filter(({ reason }) => reason === "FailedMount");
    expect(events).toHaveLength(2);
    expect(await world.end("once")).toEqual([]);
  });

  describe("where the disk is", () => {
    /** A pods directory of its own for the time of `work`. */
    const onDisk = async (options: string, victim: string, work: (directory: string) => Promise<void>) => {
      const pods = join(world.node.directory, "kubelet/pods");
      const before = (await world.read("bystander"))?.status;
      await world.inNamespace("mount", "-t", "tmpfs", "-o", options, "tmpfs", pods);
      try {
        await work(pods);
      } finally {
        await world.remove(victim, 0).catch(() => undefined);
        await world.gone(victim);
        await world.inNamespace("umount", "--lazy", pods);
      }
      expect((await world.read("bystander"))?.status).toEqual(before);
    };
    const retriedFor = 60_000;

    it("full, one event says so, other pods start, and this one does when there is room", async () => {
      await world.cluster.apply(configMap("bulky", { key: "z".repeat(MIB - 1_000) }));
      await onDisk("size=768k", "full", async (pods) => {
        await world.create(mountingPod("full", { volumes: { v: { configMap: { name: "bulky" } } } }));
        const { message } = await world.event("full", { type: "Warning", reason: "FailedMount" });
        expect(message).toMatch(/^MountVolume\.SetUp failed for volume "v" : .*(ENOSPC|no space left)/i);
        await world.run(mountingPod("other", { volumes: { v: { emptyDir: {} } } }));
        await world.end("other");
        await world.inNamespace("mount", "-o", "remount,size=8m", pods);
        await world.pod("full", isRunning, retriedFor);
      });
    });

    it("read-only, one event says so, and the pod starts when it can be written", async () => {
      await onDisk("size=8m,ro", "read-only", async (pods) => {
        await world.create(mountingPod("read-only", { volumes: { v: { emptyDir: {} } } }));
        const { message } = await world.event("read-only", { type: "Warning", reason: "FailedMount" });
        expect(message).toMatch(/EROFS|read-only file system/i);
        await world.inNamespace("mount", "-o", "remount,rw", pods);
        await world.pod("read-only", isRunning, retriedFor);
      });
    });
  });

  it("a directory that a file is in the way of fails for its pod alone", async () => {
    await mkdir(join(world.scratch, "way"));
    await writeFile(join(world.scratch, "way/file"), "x");
    const hostPath = { path: join(world.scratch, "way/file/deep"), type: "DirectoryOrCreate" };
    await world.create(mountingPod("way", { volumes: { v: { hostPath } } }));
    const { message } = await world.event("way", { type: "Warning", reason: "FailedMount" });
    expect(message).toMatch(/ENOTDIR|not a directory/i);
    expect(await world.end("way")).toEqual([]);
  });
});
