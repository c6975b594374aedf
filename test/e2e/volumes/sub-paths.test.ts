import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configMap } from "../cluster/api-objects.ts";
import { settlesOn } from "../cluster/settles.ts";
import { containerOf } from "../pods.ts";
import { createVolumeNode, mountingPod, type VolumeNode } from "./volume-node.ts";

describe("parts of volumes, and mounts within them", () => {
  let world: VolumeNode;
  beforeAll(async () => {
    world = await createVolumeNode();
  });
  afterAll(async () => await world?.destroy());
  const path = (name: string) => join(world.scratch, name);

  describe("subPath", () => {
    it.concurrent("is a directory, a file, or made where it is missing, with the volume's mode", async () => {
      await mkdir(path("parts/dir"), { recursive: true });
      await writeFile(path("parts/dir/file"), "content\n", { mode: 0o600 });
      await world.run(
        mountingPod("parts", {
          volumes: { v: { hostPath: { path: path("parts"), type: "Directory" } }, e: { emptyDir: {} } },
          mounts: [
            { name: "v", mountPath: "/dir", subPath: "dir" },
            { name: "v", mountPath: "/file", subPath: "dir/file" },
            { name: "v", mountPath: "/new", subPath: "made/deep" },
            { name: "e", mountPath: "/empty", subPath: "a/b" },
            { name: "v", mountPath: "/ro", subPath: "dir", readOnly: true },
          ],
        }),
      );
      const script =
        "cat /dir/file /file; echo more >> /file; echo x > /new/x; echo y > /empty/y; stat -c %a /new /empty";
      expect(await world.shell("parts", script)).toBe("content\ncontent\n755\n777\n");
      await expect(world.shell("parts", "echo x > /ro/file")).rejects.toThrow("Read-only file system");
      expect(await world.end("parts")).toEqual([]);
      expect(await readFile(path("parts/dir/file"), "utf8")).toBe("content\nmore\n");
      expect(await readFile(path("parts/made/deep/x"), "utf8")).toBe("x\n");
    });

    it.concurrent("shows one key of a config map as it was when the container started, also to its next start", async () => {
      await world.cluster.apply(configMap("part", { "app.conf": "v1" }));
      await world.run(
        mountingPod("key", {
          volumes: { v: { configMap: { name: "part" } } },
          mounts: [
            { name: "v", mountPath: "/etc/app.conf", subPath: "app.conf" },
            { name: "v", mountPath: "/whole" },
          ],
          script: "cat /etc/app.conf > /dev/termination-log; trap 'exit 1' TERM; sleep 1000 & wait",
        }),
      );
      await world.cluster.apply(configMap("part", { "app.conf": "v2" }));
      await settlesOn("v2", async () => await world.shell("key", "cat /whole/app.conf"));
      expect(await world.shell("key", "cat /etc/app.conf")).toBe("v1");
      // A container that starts again is mounted anew, and sees what is there now.
      // The command may not outlive the container that it ends.
      await world.shell("key", "kill -TERM 1").catch(() => "");
      const isAgain = async () => containerOf((await world.read("key")) ?? {}, "main")?.restartCount ?? 0;
      await settlesOn(1, isAgain, 10_000);
      await settlesOn("v2", async () => await world.shell("key", "cat /etc/app.conf").catch(() => ""), 10_000);
      expect(await world.end("key")).toEqual([]);
    });

    it.concurrent("is expanded from the container's environment by subPathExpr", async () => {
      const env = [
        { name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        { name: "LEVEL", value: "debug" },
      ];
      await world.run(
        mountingPod("expr", {
          volumes: { v: { emptyDir: {} } },
          mounts: [
            { name: "v", mountPath: "/all" },
            { name: "v", mountPath: "/mine", subPathExpr: "logs/$(POD)/$(LEVEL)" },
          ],
          container: { env },
        }),
      );
      expect(await world.shell("expr", "echo x > /mine/x; find /all -type f")).toBe("/all/logs/expr/debug/x\n");
      expect(await world.end("expr")).toEqual([]);
    });

    it.concurrent.each([
      ["missing", "$(ABSENT)/x", [], /ABSENT/],
      ["empty", "$(EMPTY)/x", [{ name: "EMPTY", value: "" }], undefined],
      ["climbing", "$(UP)/x", [{ name: "UP", value: ".." }], /\.\./],
      ["absolute", "$(ROOT)/x", [{ name: "ROOT", value: "/etc" }], /absolute|\/etc/],
    ])("refuses an expansion that is %s, and says so on the pod", async (name, subPathExpr, env, words) => {
      await world.create(
        mountingPod(`expr-${name}`, {
          volumes: { v: { emptyDir: {} } },
          mounts: [{ name: "v", subPathExpr }],
          container: { env },
        }),
      );
      const isWaiting = "CreateContainerConfigError";
      const read = async () => containerOf((await world.read(`expr-${name}`)) ?? {}, "main")?.state?.waiting?.reason;
      await settlesOn(isWaiting, read, 10_000);
      const { message } = await world.event(`expr-${name}`, { type: "Warning", reason: "Failed" });
      if (words) expect(message).toMatch(words);
      expect(await world.end(`expr-${name}`)).toEqual([]);
    });

    it.concurrent("is mounted by the node agent, beneath the pod, and goes with each container's end", async () => {
      const pod = await world.run(
        mountingPod("place", { volumes: { v: { emptyDir: {} } }, mounts: [{ name: "v", subPath: "a" }] }),
      );
      const directory = join(world.podDirectory(pod.metadata?.uid ?? ""), "volume-subpaths/v/main/0");
      expect((await world.mounts()).map((mount) => mount.path)).toContain(directory);
      // One that starts again leaves no second mount.
      await world.shell("place", "kill -KILL -1; true").catch(() => undefined);
      await world.shell("place", "kill -TERM 1").catch(() => undefined);
      await settlesOn(
        true,
        async () => (containerOf((await world.read("place")) ?? {}, "main")?.restartCount ?? 0) > 0,
        10_000,
      );
      await settlesOn(1, async () => (await world.mounts()).filter((mount) => mount.path === directory).length);
      expect(await world.end("place")).toEqual([]);
    });
  });

  describe("mountPropagation", () => {
    /** A volume in which the host has something mounted before the pod, and may mount more. */
    const prepare = async (name: string): Promise<string> => {
      const directory = path(name);
      await mkdir(join(directory, "later"), { recursive: true });
      await mkdir(join(directory, "from-container"), { recursive: true });
      return directory;
    };
    const propagating = (name: string, directory: string, mountPropagation: string) =>
      mountingPod(name, {
        volumes: { v: { hostPath: { path: directory, type: "Directory" } } },
        mounts: [{ name: "v", mountPropagation }],
        container: { securityContext: { privileged: true } },
      });

    it.concurrent.each([
      ["None", false, false],
      ["HostToContainer", true, false],
      ["Bidirectional", true, true],
    ])("is %s", async (mode, seesHost, isSeen) => {
      const name = mode.toLowerCase();
      const directory = await prepare(name);
      await world.run(propagating(name, directory, mode));
      await world.inNamespace("mount", "-t", "tmpfs", "-o", "size=64k", "e2e", join(directory, "later"));
      try {
        expect(await world.shell(name, "grep -c ' /v/later ' /proc/mounts || true")).toBe(seesHost ? "1\n" : "0\n");
        await world.shell(name, "mount -t tmpfs -o size=64k e2e /v/from-container");
        const seen = (await world.mounts()).filter((mount) => mount.path === join(directory, "from-container"));
        expect(seen.length > 0).toBe(isSeen);
      } finally {
        await world.shell(name, "umount /v/from-container").catch(() => undefined);
        await world.inNamespace("umount", join(directory, "later"));
      }
      expect(await world.end(name)).toEqual([]);
    });
  });

  it.concurrent("recursiveReadOnly: IfPossible runs where the runtime cannot; Enabled is refused, and says so", async ({
    expect,
  }) => {
    await mkdir(path("recursive"));
    const pod = (name: string, recursiveReadOnly: string) =>
      mountingPod(name, {
        volumes: { v: { hostPath: { path: path("recursive"), type: "Directory" } } },
        mounts: [{ name: "v", readOnly: true, recursiveReadOnly, mountPropagation: "None" }],
      });
    await world.run(pod("possible", "IfPossible"));
    await expect(world.shell("possible", "echo x > /v/x")).rejects.toThrow("Read-only file system");
    await world.create(pod("enabled", "Enabled"));
    // containerd tells since 2.0 what its handlers can do.
    if (Number.parseInt(world.node.containerd.version, 10) < 2) {
      const told = async () => {
        const found = await world.read("enabled");
        const waiting = found && containerOf(found, "main")?.state?.waiting;
        return `${found?.status?.reason ?? ""} ${found?.status?.message ?? ""} ${waiting?.message ?? ""}`;
      };
      await expect.poll(told, { timeout: 10_000 }).toMatch(/recursive(ly)?[ -]?read[ -]?only/i);
    }
    for (const name of ["possible", "enabled"]) expect(await world.end(name)).toEqual([]);
  });
});
