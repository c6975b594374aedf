import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { secret } from "../cluster/api-objects.ts";
import { settlesOn } from "../cluster/settles.ts";
import { isRunning } from "../pods.ts";
import { createClaimed, ON_THIS_NODE, ofClaim, removeClaimed } from "./claims.ts";
import { createVolumeNode, mountingPod, type VolumeNode } from "./volume-node.ts";

const CLEANED_MS = 60_000;

describe("volumes when the node agent dies", () => {
  let world: VolumeNode;
  beforeAll(async () => {
    world = await createVolumeNode();
    await world.cluster.apply(secret("credentials", { key: "x" }));
    await mkdir(join(world.scratch, "local"));
    const source = { local: { path: join(world.scratch, "local") } };
    await createClaimed(world, { name: "local", source, volume: ON_THIS_NODE });
  });
  afterAll(async () => await world?.destroy());

  const everyKind = (name: string): object =>
    mountingPod(name, {
      volumes: {
        disk: { emptyDir: {} },
        memory: { emptyDir: { medium: "Memory" } },
        private: { secret: { secretName: "credentials" } },
        claimed: ofClaim("local"),
      },
      mounts: [
        { name: "disk", subPath: "part" },
        { name: "memory" },
        { name: "private" },
        { name: "claimed" },
        { name: "private", mountPath: "/key", subPath: "key" },
      ],
    });
  const restart = async (meanwhile: () => Promise<void>) => {
    await world.node.kill();
    await meanwhile();
    await world.node.start(world.flags);
  };

  it("stay as they are under running pods", async () => {
    const before = await world.run(everyKind("survivor"));
    await world.shell("survivor", "echo d > /disk/d; echo m > /memory/m; echo c > /claimed/c");
    const mountsOf = async () =>
      (await world.mounts()).filter(({ path }) => path.includes(before.metadata?.uid ?? "?"));
    const mounted = await mountsOf();
    await restart(async () => undefined);
    await world.run(mountingPod("marker", { volumes: { v: { emptyDir: {} } } }));
    expect(await mountsOf()).toEqual(mounted);
    expect(await world.shell("survivor", "cat /disk/d /memory/m /claimed/c /private/key /key")).toBe("d\nm\nc\nxx");
    expect((await world.read("survivor"))?.status).toEqual(before.status);
    expect(await world.end("survivor")).toEqual([]);
    expect(await world.end("marker")).toEqual([]);
  });

  it("go with pods that were deleted meanwhile, however that was asked", async () => {
    const names = ["deleted", "forced"];
    const uids = [];
    for (const name of names) uids.push((await world.run(everyKind(name))).metadata?.uid ?? "");
    await restart(async () => {
      await world.remove("deleted");
      await world.remove("forced", 0);
    });
    await world.gone("deleted");
    for (const uid of uids) await settlesOn([], async () => await world.leftovers(uid), CLEANED_MS);
    expect(await readFile(join(world.scratch, "local/c"), "utf8")).toBe("c\n");
  });

  it("are finished or undone when it dies at any moment of a start", async () => {
    for (let round = 0; round < 8; round++) {
      const name = `cut-${round}`;
      const { metadata } = await world.create(everyKind(name));
      await new Promise((resolve) => setTimeout(resolve, 30 * round + 30 * Math.random()));
      const isDeleted = round % 2 === 1;
      await restart(async () => {
        if (isDeleted) await world.remove(name, 0);
      });
      if (!isDeleted) {
        await world.pod(name, isRunning);
        expect(await world.shell(name, "cat /private/key /key")).toBe("xx");
        await world.remove(name);
      }
      await world.gone(name);
      await settlesOn([], async () => await world.leftovers(metadata?.uid ?? ""), CLEANED_MS);
    }
    expect((await world.mounts()).filter(({ path }) => path.includes("kubelet/pods/"))).toEqual([]);
  });

  describe("directories of pods that nobody knows", () => {
    const uidOf = (number: number) => `00000000-0000-4000-8000-00000000000${number}`;
    const makeOrphan = async (number: number) => {
      const directory = world.podDirectory(uidOf(number));
      for (const made of [
        "volumes/kubernetes.io~empty-dir/v/deep",
        "plugins/kubernetes.io~empty-dir/v",
        "containers/main",
      ]) {
        await mkdir(join(directory, made), { recursive: true });
      }
      await writeFile(join(directory, "volumes/kubernetes.io~empty-dir/v/deep/file"), "x");
      await writeFile(join(directory, "plugins/kubernetes.io~empty-dir/v/ready"), "");
      await writeFile(join(directory, "etc-hosts"), "127.0.0.1 localhost\n");
      return directory;
    };
    it("are removed with all that a kubelet left in them", async () => {
      const directories: string[] = [];
      await restart(async () => {
        directories.push(await makeOrphan(1));
        const memory = join(directories[0] ?? "", "volumes/kubernetes.io~secret/s");
        await mkdir(memory, { recursive: true });
        await world.inNamespace("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", memory);
      });
      await settlesOn([], async () => await world.leftovers(uidOf(1)), CLEANED_MS);
    });

    it("never lose what is mounted beneath them, used or not (#60987, #105536)", async () => {
      const places = [
        "volumes/example.com~disk/data",
        "volumes/kubernetes.io~empty-dir/v/deep/mounted",
        "volumes/kubernetes.io~local-volume/pv",
        "containers/main/mounted",
        ".",
      ];
      const orphans = places.map((place, index) => {
        const [uid, source] = [uidOf(2 + index), join(world.scratch, `precious-${index}`)];
        return { uid, source, mountPoint: join(world.podDirectory(uid), place) };
      });
      const used = orphans[2];
      let user: ChildProcess | undefined;
      await restart(async () => {
        for (const [index, { source, mountPoint }] of orphans.entries()) {
          await mkdir(source);
          await writeFile(join(source, "precious"), "kept\n");
          await makeOrphan(2 + index);
          await mkdir(mountPoint, { recursive: true });
          await world.inNamespace("mount", "--bind", source, mountPoint);
        }
        const script = `cd ${used?.mountPoint}; echo in; exec sleep 1000`;
        const [program = "", ...args] = [...world.node.containerd.enterMountNamespace, "sh", "-c", script];
        user = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"] });
        await once(user.stdout ?? user, "data");
      });
      const areKept = async () => {
        const read = async (source: string) => await readFile(join(source, "precious"), "utf8").catch(() => "lost");
        expect(await Promise.all(orphans.map(async ({ source }) => await read(source)))).toEqual(
          orphans.map(() => "kept\n"),
        );
      };
      try {
        await world.node.logged(/Orphaned pod found, but its directory cannot be removed/);
        // When a pod has come and gone after it, the cleaner has looked there.
        await world.run(mountingPod("after", { volumes: { v: { emptyDir: {} } } }));
        expect(await world.end("after")).toEqual([]);
        await areKept();
        expect((await world.mounts()).map(({ path }) => path)).toContain(used?.mountPoint);
      } finally {
        user?.kill("SIGKILL");
      }
      await restart(async () => {
        for (const { path } of await world.mounts()) {
          if (orphans.some(({ mountPoint }) => join(mountPoint) === path)) await world.inNamespace("umount", path);
        }
      });
      for (const { uid } of orphans) await settlesOn([], async () => await world.leftovers(uid), CLEANED_MS);
      await areKept();
    });
  });

  it("leave nothing of claims either", async () => {
    await removeClaimed(world, "local");
    expect((await world.mounts()).filter(({ path }) => path.includes("kubernetes.io~local-volume"))).toEqual([]);
  });
});
