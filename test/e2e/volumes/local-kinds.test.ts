import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { containerOf } from "../pods.ts";
import { lendHugePages } from "./huge-pages.ts";
import { createVolumeNode, mountingPod, type VolumeNode } from "./volume-node.ts";

describe("volumes of the node itself", () => {
  let world: VolumeNode;
  let returnHugePages: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    // A node without such pages lets no pod in that asks for them.
    returnHugePages = await lendHugePages(2);
    world = await createVolumeNode();
  });
  afterAll(async () => {
    await world?.destroy();
    await returnHugePages?.();
  });

  describe("emptyDir", () => {
    it.concurrent("is a directory of the disk that everyone may write, kept over restarts and gone with the pod", async () => {
      const pod = await world.run(
        mountingPod("disk", {
          volumes: { v: { emptyDir: {} } },
          script: "test -e /v/once || { echo kept > /v/once; exit 1; }; trap 'exit 0' TERM; sleep 1000 & wait",
        }),
      );
      await world.pod("disk", (found) => {
        const main = containerOf(found, "main");
        return main?.restartCount === 1 && main.state?.running !== undefined;
      });
      expect(await world.shell("disk", "stat -c '%a %u:%g' /v; cat /v/once")).toBe("777 0:0\nkept\n");
      const uid = pod.metadata?.uid ?? "";
      const once = join(world.podDirectory(uid), "volumes/kubernetes.io~empty-dir/v/once");
      expect(await readFile(once, "utf8")).toBe("kept\n");
      expect(await world.end("disk")).toEqual([]);
    });

    it.concurrent("in memory is a tmpfs no larger than its sizeLimit, and than the pod's memory limit", async () => {
      await world.run(
        mountingPod("memory", {
          volumes: {
            small: { emptyDir: { medium: "Memory", sizeLimit: "4Mi" } },
            large: { emptyDir: { medium: "Memory", sizeLimit: "10Gi" } },
          },
          container: { resources: { limits: { memory: "64Mi" } } },
        }),
      );
      const sizes = await world.shell("memory", "df -k /small /large | awk 'NR > 1 { print $2 }'");
      expect(sizes).toBe("4096\n65536\n");
      expect(await world.shell("memory", "grep -c '^tmpfs /small tmpfs rw,' /proc/mounts")).toBe("1\n");
      await expect(world.shell("memory", "dd if=/dev/zero of=/small/x bs=1M count=5")).rejects.toThrow(/No space left/);
      expect(await world.end("memory")).toEqual([]);
    });

    it.concurrent("of huge pages is a file system of pages of the size asked for", async () => {
      const limits = { "hugepages-2Mi": "4Mi", memory: "64Mi" };
      await world.run(
        mountingPod("pages", {
          volumes: { v: { emptyDir: { medium: "HugePages-2Mi" } } },
          container: { resources: { limits } },
        }),
      );
      expect(await world.shell("pages", "grep ' /v ' /proc/mounts")).toMatch(/ hugetlbfs rw,.*pagesize=2M/);
      expect(await world.end("pages")).toEqual([]);
    });

    it.concurrent("of huge pages needs a request for them", async () => {
      await world.create(mountingPod("no-pages", { volumes: { v: { emptyDir: { medium: "HugePages-2Mi" } } } }));
      const event = await world.event("no-pages", { reason: "FailedMount" });
      expect(event.message).toMatch(/^MountVolume\.SetUp failed for volume "v" : .*huge ?pages/i);
      expect(await world.end("no-pages")).toEqual([]);
    });
  });

  describe("hostPath", () => {
    const path = (name: string) => join(world.scratch, name);
    const sockets = createServer();
    beforeAll(async () => {
      await mkdir(path("directory"));
      await writeFile(path("file"), "of the host\n");
      await new Promise<void>((resolve) => sockets.listen(path("socket"), resolve));
    });
    afterAll(() => void sockets.close());

    it.concurrent.each([
      ["any", "directory", "", "directory"],
      ["directory", "directory", "Directory", "directory"],
      ["made-directory", "made/deep", "DirectoryOrCreate", "directory"],
      ["file", "file", "File", "regular file"],
      ["made-file", "made-file", "FileOrCreate", "regular empty file"],
      ["socket", "socket", "Socket", "socket"],
      ["char", "/dev/zero", "CharDevice", "character special file"],
      ["block", "/dev/loop7", "BlockDevice", "block special file"],
    ])("is what it is said to be: %s", async (name, file, type, shown) => {
      const hostPath = { path: file.startsWith("/") ? file : path(file), type };
      await world.run(mountingPod(`host-${name}`, { volumes: { v: { hostPath } } }));
      expect(await world.shell(`host-${name}`, "stat -c %F /v")).toBe(`${shown}\n`);
      expect(await world.end(`host-${name}`)).toEqual([]);
      await stat(hostPath.path);
    });

    it.concurrent("that is made has the modes that kubelet gives", async () => {
      const volumes = {
        d: { hostPath: { path: path("modes/directory"), type: "DirectoryOrCreate" } },
        f: { hostPath: { path: path("modes-file"), type: "FileOrCreate" } },
      };
      await world.run(mountingPod("host-modes", { volumes }));
      expect(await world.shell("host-modes", "stat -c '%a %u:%g' /d /f")).toBe("755 0:0\n644 0:0\n");
      await world.end("host-modes");
    });

    it.concurrent.each([
      ["missing-directory", "absent", "Directory", "hostPath PATH doesn't exist"],
      ["missing-file", "absent", "File", "hostPath PATH doesn't exist"],
      ["missing-socket", "absent", "Socket", "hostPath PATH doesn't exist"],
      ["missing-char", "absent", "CharDevice", "hostPath PATH doesn't exist"],
      ["missing-block", "absent", "BlockDevice", "hostPath PATH doesn't exist"],
      ["wrong-directory", "file", "Directory", "hostPath type check failed: PATH is not a directory, it's a File"],
      [
        "wrong-created",
        "file",
        "DirectoryOrCreate",
        "hostPath type check failed: PATH is not a directory, it's a File",
      ],
      ["wrong-file", "directory", "File", "hostPath type check failed: PATH is not a file, it's a Directory"],
      ["wrong-made", "directory", "FileOrCreate", "hostPath type check failed: PATH is not a file, it's a Directory"],
      ["wrong-socket", "file", "Socket", "hostPath type check failed: PATH is not a socket file, it's a File"],
      [
        "wrong-char",
        "/dev/loop7",
        "CharDevice",
        "hostPath type check failed: PATH is not a character device, it's a BlockDevice",
      ],
      [
        "wrong-block",
        "/dev/zero",
        "BlockDevice",
        "hostPath type check failed: PATH is not a block device, it's a CharDevice",
      ],
    ])("that is something else keeps the pod waiting: %s", async (name, file, type, words) => {
      const hostPath = { path: file.startsWith("/") ? file : path(file), type };
      await world.create(mountingPod(name, { volumes: { v: { hostPath } } }));
      const { message } = await world.event(name, { type: "Warning", reason: "FailedMount" });
      expect(message).toBe(`MountVolume.SetUp failed for volume "v" : ${words.replace("PATH", hostPath.path)}`);
      expect((await world.read(name))?.status?.phase).toBe("Pending");
      expect(await world.end(name)).toEqual([]);
    });

    it.concurrent("keeps its data and its owner when the pod goes, and obeys readOnly", async () => {
      const hostPath = { path: path("directory"), type: "Directory" };
      const mounts = [
        { name: "v", mountPath: "/rw" },
        { name: "v", mountPath: "/ro", readOnly: true },
      ];
      const spec = { securityContext: { fsGroup: 3000 } };
      await world.run(mountingPod("host-data", { volumes: { v: { hostPath } }, mounts, spec }));
      await world.shell("host-data", "echo data > /rw/data");
      await expect(world.shell("host-data", "echo x > /ro/data")).rejects.toThrow("Read-only file system");
      expect(await world.end("host-data")).toEqual([]);
      expect(await readFile(path("directory/data"), "utf8")).toBe("data\n");
      expect((await stat(path("directory"))).gid).toBe(0);
    });
  });

  it.concurrent.each([
    ["disk", {}, "drwxrwsrwx 0:2000"],
    ["memory", { medium: "Memory" }, "drwxrwsrwt 0:2000"],
  ])("belongs to the pod's group: emptyDir on %s", async (name, emptyDir, root) => {
    const securityContext = { runAsUser: 1000, runAsGroup: 1000, fsGroup: 2000 };
    await world.run(mountingPod(`group-${name}`, { volumes: { v: { emptyDir } }, spec: { securityContext } }));
    const script = "echo x > /v/x; mkdir /v/d; stat -c '%A %u:%g' /v; stat -c '%u:%g' /v/x /v/d";
    expect(await world.shell(`group-${name}`, script)).toBe(`${root}\n1000:2000\n1000:2000\n`);
    expect(await world.end(`group-${name}`)).toEqual([]);
  });
});
