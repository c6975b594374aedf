import { mkdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { configMap, secret } from "../cluster/api-objects.ts";
import { settlesOn } from "../cluster/settles.ts";
import { containerOf, isRunning, RUN_FOR_EVER } from "../pods.ts";
import { startExchangeRace } from "./exchange-race.ts";
import { createVolumeNode, mountingPod, type VolumeNode } from "./volume-node.ts";

/** 200 starts. */
const RACE_PODS = 8;
const RACE_CONTAINERS = 10;

describe("what has gone wrong elsewhere", () => {
  let world: VolumeNode;
  beforeAll(async () => {
    world = await createVolumeNode();
  });
  afterAll(async () => await world?.destroy());
  const path = (...names: string[]) => join(world.scratch, ...names);

  describe("CVE-2017-1002101: a subPath that a container has made a link", () => {
    it.concurrent.each([
      ["root", "ln -s / /v/x"],
      ["host-file", "ln -s /etc/passwd /v/x"],
      ["climbing", `ln -s ${"../".repeat(9)} /v/x`],
      ["proc", "ln -s /proc/1/root /v/x"],
      ["chain", "ln -s y /v/x; ln -s ../.. /v/y"],
    ])("fails with an event where it leads out: %s", async (name, plant) => {
      const planter = {
        name: "planter",
        image: "localhost/nodelet/demo:1",
        command: ["sh", "-c", plant],
        volumeMounts: [{ name: "v", mountPath: "/v" }],
      };
      await world.create(
        mountingPod(`planted-${name}`, {
          volumes: { v: { emptyDir: {} } },
          mounts: [{ name: "v", mountPath: "/x", subPath: "x" }],
          spec: { initContainers: [planter] },
        }),
      );
      const pod = await world.pod(
        `planted-${name}`,
        (found) => containerOf(found, "main")?.state?.waiting?.reason === "CreateContainerConfigError",
      );
      expect(containerOf(pod, "main")?.state?.waiting?.message).toBe(
        'failed to prepare subPath for volumeMount "v" of container "main"',
      );
      const { message } = await world.event(`planted-${name}`, { type: "Warning", reason: "Failed" });
      expect(message).toContain('failed to prepare subPath for volumeMount "v" of container "main"');
      const uid = pod.metadata?.uid ?? "";
      expect((await world.mounts()).filter((mount) => mount.path.includes(`${uid}/volume-subpaths`))).toEqual([]);
      expect(await world.end(`planted-${name}`)).toEqual([]);
    });

    it.concurrent("is what it leads to where that is in the volume", async () => {
      await mkdir(path("inside/target"), { recursive: true });
      await writeFile(path("inside/target/file"), "inside\n");
      await symlink("target", path("inside/link"));
      await world.run(
        mountingPod("inside", {
          volumes: { v: { hostPath: { path: path("inside"), type: "Directory" } } },
          mounts: [{ name: "v", subPath: "link" }],
        }),
      );
      expect(await world.shell("inside", "cat /v/file")).toBe("inside\n");
      expect(await world.end("inside")).toEqual([]);
    });
  });

  it("CVE-2021-25741: links exchanged with directories while 80 containers are mounted show nothing outside", async () => {
    await mkdir(path("race/volume/swap"), { recursive: true });
    await mkdir(path("race/outside"));
    await writeFile(path("race/volume/swap/marker"), "inside");
    await writeFile(path("race/outside/marker"), "outside");
    await symlink(path("race/outside"), path("race/volume/link"));
    const names = Array.from({ length: RACE_PODS }, (_, index) => `race-${index}`);
    const race = await startExchangeRace(path("race/volume/swap"), path("race/volume/link"));
    const watching = watchSubPaths(world);
    try {
      await Promise.all(names.map(async (name) => await world.create(racingPod(name, path("race/volume")))));
      const pods = await Promise.all(names.map(async (name) => await world.pod(name, isAttempted, 170_000)));
      const states = pods.flatMap((pod) => pod.status?.containerStatuses ?? []);
      const shown = states.flatMap(({ state, lastState }) => state?.terminated ?? lastState?.terminated ?? []);
      expect(states).toHaveLength(RACE_PODS * RACE_CONTAINERS);
      // 80 starts at once may be too many for the runtime: without a shim nothing was mounted.
      const ran = shown.filter(({ message }) => message?.includes("failed to start shim") !== true);
      expect(ran.filter(({ message }) => message !== "inside")).toEqual([]);
      // Both happened, or nothing was raced.
      const refused = states.filter(({ state }) => state?.waiting?.reason === "CreateContainerConfigError");
      expect(ran.length).toBeGreaterThan(20);
      expect(refused.length).toBeGreaterThan(0);
      const roots = await watching.stop();
      expect(roots.filter((root) => !root.startsWith(path("race/volume/")))).toEqual([]);
    } finally {
      await race.stop();
      await watching.stop();
    }
    for (const name of names) await world.remove(name, 0);
    await settlesOn(
      [],
      async () => (await world.mounts()).filter((mount) => mount.path.includes("volume-subpaths")),
      60_000,
    );
    expect(await readFile(path("race/outside/marker"), "utf8")).toBe("outside");
  });

  describe("CVE-2017-1002102: links planted where the node agent writes and removes", () => {
    it.concurrent("in a volume's ..data: neither an update nor the end touches what it leads to", async () => {
      await mkdir(path("host-data"));
      await writeFile(path("host-data/key"), "of the host\n");
      await world.cluster.apply(configMap("planted", { key: "1" }));
      const { metadata } = await world.run(
        mountingPod("planted-data", { volumes: { v: { configMap: { name: "planted" } } } }),
      );
      await expect(world.shell("planted-data", "rm /v/..data")).rejects.toThrow("Read-only file system");
      const volume = join(world.podDirectory(metadata?.uid ?? ""), "volumes/kubernetes.io~configmap/v");
      await rm(join(volume, "..data"));
      await symlink(path("host-data"), join(volume, "..data"));
      await world.cluster.apply(configMap("planted", { key: "2", more: "3" }));
      await settlesOn(true, async () => (await readlink(join(volume, "..data"))).startsWith(".."));
      expect(await world.shell("planted-data", "cat /v/key")).toBe("2");
      await rm(join(volume, "..data"));
      await symlink(path("host-data"), join(volume, "..data"));
      expect(await world.end("planted-data")).toEqual([]);
      expect(await readFile(path("host-data/key"), "utf8")).toBe("of the host\n");
    });

    it.concurrent("in the place of a volume, or within one: the end removes the link and nothing behind it", async () => {
      await mkdir(path("behind/deep"), { recursive: true });
      await writeFile(path("behind/deep/key"), "of the host\n");
      const { metadata } = await world.run(
        mountingPod("planted-place", { volumes: { v: { emptyDir: {} }, w: { emptyDir: {} } } }),
      );
      await world.shell("planted-place", `ln -s ${path("behind")} /w/link; mkdir /w/d; ln -s / /w/d/root`);
      const volumes = join(world.podDirectory(metadata?.uid ?? ""), "volumes/kubernetes.io~empty-dir");
      await rm(join(volumes, "v"), { recursive: true });
      await symlink(path("behind"), join(volumes, "v"));
      await symlink(path("behind"), join(volumes, "..", "kubernetes.io~secret"));
      expect(await world.end("planted-place")).toEqual([]);
      expect(await readFile(path("behind/deep/key"), "utf8")).toBe("of the host\n");
    });

    it.concurrent("a secret's volume cannot be written, whatever the pod asks for", async () => {
      await world.cluster.apply(secret("guarded", { key: "x" }));
      await world.run(
        mountingPod("guarded", {
          volumes: { v: { secret: { secretName: "guarded" } } },
          mounts: [{ name: "v", readOnly: false }],
          container: { securityContext: { privileged: true } },
        }),
      );
      await expect(world.shell("guarded", "echo x > /v/y")).rejects.toThrow("Read-only file system");
      expect(await world.end("guarded")).toEqual([]);
    });
  });

  it("CVE-2020-8557: what containers can write of the node's files is in the pod's directory, and goes with it", async () => {
    const { metadata } = await world.run(mountingPod("writer", { volumes: {} }));
    const directory = world.podDirectory(metadata?.uid ?? "");
    const script =
      "for f in /etc/hosts /dev/termination-log; do dd if=/dev/zero of=$f bs=64k count=16 2> /dev/null; done";
    await world.shell("writer", script);
    // There it counts as the pod's own storage.
    const used = Number((await world.inNamespace("du", "-sk", directory)).split("\t")[0]);
    expect(used).toBeGreaterThan(2_000);
    expect(await world.end("writer")).toEqual([]);
  });

  it("CVE-2024-10220, CVE-2025-1767: a gitRepo volume runs nothing and is refused clearly", async () => {
    const repository = path("repository");
    await mkdir(join(repository, ".git/hooks"), { recursive: true });
    const script = `#!/bin/sh\ntouch ${path("hooked")}\n`;
    await writeFile(join(repository, ".git/hooks/post-checkout"), script, { mode: 0o755 });
    await world.create(mountingPod("git", { volumes: { v: { gitRepo: { repository, directory: "." } } } }));
    const { message } = await world.event("git", { type: "Warning" });
    expect(message).toMatch(/gitRepo|git-repo/i);
    const pod = await world.read("git");
    expect(pod === undefined || isRunning(pod)).toBe(false);
    await expect(readFile(path("hooked"))).rejects.toThrow("ENOENT");
    expect(await world.end("git")).toEqual([]);
  });
});

/** Containers that tell what they see at the subPath and end. */
function racingPod(name: string, volume: string): object {
  const containers = Array.from({ length: RACE_CONTAINERS }, (_, index) => ({
    name: `c${index}`,
    image: "localhost/nodelet/demo:1",
    command: ["sh", "-c", "cat /v/marker > /dev/termination-log"],
    volumeMounts: [{ name: "v", mountPath: "/v", subPath: "swap" }],
  }));
  const volumes = { v: { hostPath: { path: volume, type: "Directory" } } };
  return mountingPod(name, { volumes, spec: { containers, restartPolicy: "Never" }, script: RUN_FOR_EVER });
}

/** Every container has ended or has been refused. */
function isAttempted({ status }: Pod): boolean {
  const states = status?.containerStatuses ?? [];
  if (states.length < RACE_CONTAINERS) return false;
  return states.every(({ state }) => state?.terminated ?? state?.waiting?.reason === "CreateContainerConfigError");
}

/** Looks at the mount table all the time; gives what was ever shown at a subPath of the race. */
function watchSubPaths(world: VolumeNode): { stop(): Promise<string[]> } {
  const roots = new Set<string>();
  let isOver = false;
  const look = async () => {
    while (!isOver) {
      for (const mount of await world.mounts()) {
        if (mount.path.includes("/volume-subpaths/")) roots.add(mount.root);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const looking = look();
  return {
    async stop() {
      isOver = true;
      await looking;
      return [...roots];
    },
  };
}
