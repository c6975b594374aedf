import { existsSync } from "node:fs";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../../../src/cluster/processes/run-command.ts";
import { isRunning } from "../pods.ts";
import {
  bind,
  claim,
  createClaimed,
  ON_THIS_NODE,
  ofClaim,
  onNode,
  persistentVolume,
  removeClaimed,
} from "./claims.ts";
import { createLoopDevice } from "./loop-device.ts";
import { createVolumeNode, mountingPod, type VolumeNode } from "./volume-node.ts";

/** From the binding to a running pod: a sandbox and two reads of the API. */
const SOON_MS = 30_000;
/** A running pod is looked at again once a minute or so. */
const GROWTH_MS = 180_000;
const CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims";

describe("claims of pods", () => {
  let world: VolumeNode;
  beforeAll(async () => {
    world = await createVolumeNode();
  });
  afterAll(async () => await world?.destroy());
  const path = (...names: string[]) => join(world.scratch, ...names);

  it.concurrent("on a directory of the host are mounted, read-only where the pod says so, and keep their data", async () => {
    await mkdir(path("host"));
    await createClaimed(world, { name: "host", source: { hostPath: { path: path("host") } } });
    const volumes = { v: ofClaim("host"), ro: ofClaim("host", true) };
    await world.run(mountingPod("host", { volumes }));
    await world.shell("host", "echo data > /v/data");
    expect(await world.shell("host", "cat /ro/data")).toBe("data\n");
    await expect(world.shell("host", "echo x > /ro/data")).rejects.toThrow("Read-only file system");
    expect(await world.end("host")).toEqual([]);
    expect(await readFile(path("host/data"), "utf8")).toBe("data\n");
    await removeClaimed(world, "host");
  });

  it.concurrent("on a local directory are bound into the pod, whose group gets it as its policy says", async () => {
    await mkdir(path("local"));
    await writeFile(path("local/old"), "old");
    await createClaimed(world, { name: "local", source: { local: { path: path("local") } }, volume: ON_THIS_NODE });
    const groups = async (name: string, fsGroup: number, fsGroupChangePolicy: string) => {
      const securityContext = { fsGroup, fsGroupChangePolicy };
      const pod = await world.run(mountingPod(name, { volumes: { v: ofClaim("local") }, spec: { securityContext } }));
      const directory = join(world.podDirectory(pod.metadata?.uid ?? ""), "volumes/kubernetes.io~local-volume/local");
      expect((await world.mounts()).map((mount) => mount.path)).toContain(directory);
      const seen = await world.shell(name, "stat -c '%A %g' /v; stat -c %g /v/old");
      expect(await world.end(name)).toEqual([]);
      return seen;
    };
    expect(await groups("local-first", 4000, "OnRootMismatch")).toBe("drwxrwsr-x 4000\n4000\n");
    await runCommand("chgrp", ["0", path("local/old")]);
    expect(await groups("local-same", 4000, "OnRootMismatch")).toBe("drwxrwsr-x 4000\n0\n");
    expect(await groups("local-always", 4000, "Always")).toBe("drwxrwsr-x 4000\n4000\n");
    expect(await groups("local-other", 5000, "OnRootMismatch")).toBe("drwxrwsr-x 5000\n5000\n");
    expect(await readFile(path("local/old"), "utf8")).toBe("old");
    await removeClaimed(world, "local");
  });

  it.concurrent("give the pod's processes the group that the volume is annotated with", async () => {
    await mkdir(path("shared"));
    await runCommand("chgrp", ["4321", path("shared")]);
    await runCommand("chmod", ["0070", path("shared")]);
    const annotations = { "pv.beta.kubernetes.io/gid": "4321" };
    await createClaimed(world, { name: "shared", source: { hostPath: { path: path("shared") } }, annotations });
    const spec = { securityContext: { runAsUser: 1000, runAsGroup: 1000, supplementalGroups: [7] } };
    await world.run(mountingPod("shared", { volumes: { v: ofClaim("shared") }, spec }));
    expect(await world.shell("shared", "id -G; echo mine > /v/data; cat /v/data")).toBe("1000 7 4321\nmine\n");
    expect(await world.end("shared")).toEqual([]);
    await removeClaimed(world, "shared");
  });

  it.concurrent("on a local volume that is not there, or of another node, keep the pod waiting and say so", async () => {
    await createClaimed(world, { name: "gone", source: { local: { path: path("gone") } }, volume: ON_THIS_NODE });
    await world.create(mountingPod("gone", { volumes: { v: ofClaim("gone") } }));
    const gone = await world.event("gone", { type: "Warning", reason: "FailedMount" });
    expect(gone.message).toMatch(/volume "gone" : .*does not exist/);
    await mkdir(path("elsewhere"));
    const source = { local: { path: path("elsewhere") } };
    await createClaimed(world, { name: "elsewhere", source, volume: onNode("other") });
    await world.create(mountingPod("elsewhere", { volumes: { v: ofClaim("elsewhere") } }));
    const elsewhere = await world.event("elsewhere", { type: "Warning", reason: "FailedMount" });
    expect(elsewhere.message).toMatch(/^MountVolume\.NodeAffinity check failed for volume "elsewhere" : /);
    for (const name of ["gone", "elsewhere"]) {
      expect(await world.end(name)).toEqual([]);
      await removeClaimed(world, name);
    }
  });

  it.concurrent("on a local device are formatted once, mounted once for all pods, and keep their data", async ({
    expect,
  }) => {
    const device = await createLoopDevice(path("disk.img"), 16);
    try {
      const source = { local: { path: device.path, fsType: "ext4" } };
      await createClaimed(world, { name: "disk", source, volume: ON_THIS_NODE });
      for (const name of ["disk-a", "disk-b"]) {
        await world.run(mountingPod(name, { volumes: { v: ofClaim("disk") } }));
      }
      expect(await world.shell("disk-a", "grep -c ' /v ext4 rw' /proc/mounts; echo kept > /v/data")).toBe("1\n");
      expect(await world.shell("disk-b", "cat /v/data")).toBe("kept\n");
      expect(await world.end("disk-a")).toEqual([]);
      expect(await world.shell("disk-b", "cat /v/data")).toBe("kept\n");
      expect(await world.end("disk-b")).toEqual([]);
      expect((await world.mounts()).filter((mount) => mount.source === device.path)).toEqual([]);
      await world.run(mountingPod("disk-c", { volumes: { v: ofClaim("disk") } }));
      expect(await world.shell("disk-c", "cat /v/data")).toBe("kept\n");
      expect(await world.end("disk-c")).toEqual([]);
    } finally {
      await removeClaimed(world, "disk");
      await device.remove();
    }
  });

  it.runIf(existsSync("/usr/sbin/mkfs.xfs"))(
    "on a local disk grow while a pod runs (needs mkfs.xfs)",
    { timeout: 240_000 },
    async () => {
      const device = await createLoopDevice(path("growing.img"), 320);
      try {
        const source = { local: { path: device.path, fsType: "xfs" } };
        await createClaimed(world, { name: "growing", source, volume: ON_THIS_NODE });
        await world.run(mountingPod("growing", { volumes: { v: ofClaim("growing") } }));
        const sizeOf = async () => Number(await world.shell("growing", "df -k /v | awk 'NR == 2 { print $2 }'"));
        const before = await sizeOf();
        await runCommand("truncate", ["-s", "384M", path("growing.img")]);
        await runCommand("losetup", ["-c", device.path]);
        const storage = "384Mi";
        await world.api.patch("merge", `${CLAIMS}/growing/status`, {
          status: { allocatedResourceStatuses: { storage: "NodeResizePending" }, allocatedResources: { storage } },
        });
        await world.api.patch("merge", "/api/v1/persistentvolumes/growing", { spec: { capacity: { storage } } });
        const told = async () => {
          const { status } = await world.api.object("GET", `${CLAIMS}/growing`);
          return status;
        };
        await expect.poll(told, { timeout: GROWTH_MS, interval: 1_000 }).toMatchObject({ capacity: { storage } });
        await world.event("growing", { type: "Normal", reason: "FileSystemResizeSuccessful" });
        expect(await sizeOf()).toBeGreaterThan(before + 50_000);
        expect(await world.end("growing")).toEqual([]);
      } finally {
        await removeClaimed(world, "growing");
        await device.remove();
      }
    },
  );

  it.concurrent("of mode Block are a device in the container", async () => {
    const device = await createLoopDevice(path("block.img"), 1);
    try {
      const source = { local: { path: device.path } };
      await createClaimed(world, { name: "block", source, volumeMode: "Block", volume: ON_THIS_NODE });
      const container = { volumeMounts: [], volumeDevices: [{ name: "v", devicePath: "/dev/data" }] };
      await world.run(mountingPod("block", { volumes: { v: ofClaim("block") }, container }));
      const script = "stat -c %F /dev/data; printf hello | dd of=/dev/data conv=notrunc,fsync 2> /dev/null";
      expect(await world.shell("block", script)).toBe("block special file\n");
      expect(await world.end("block")).toEqual([]);
      const head = await runCommand("head", ["-c", "5", device.path]);
      expect(head).toBe("hello");
    } finally {
      await removeClaimed(world, "block");
      await device.remove();
    }
  });

  it.concurrent("that want a file system of a block volume, or the other way round, are told", async () => {
    await mkdir(path("mode"));
    await createClaimed(world, { name: "mode", source: { local: { path: path("mode") } }, volume: ON_THIS_NODE });
    const container = { volumeMounts: [], volumeDevices: [{ name: "v", devicePath: "/dev/data" }] };
    await world.create(mountingPod("mode", { volumes: { v: ofClaim("mode") }, container }));
    const { message } = await world.event("mode", { type: "Warning" });
    expect(message).toMatch(/volumeMode|volumeDevices/);
    expect(await world.end("mode")).toEqual([]);
    await removeClaimed(world, "mode");
  });

  it.concurrent("that are not bound keep the pod waiting, and let it start when they are", async () => {
    await mkdir(path("late"));
    const late = { name: "late", source: { hostPath: { path: path("late") } } };
    await world.api.object("POST", CLAIMS, claim(late));
    await world.create(mountingPod("late", { volumes: { v: ofClaim("late") } }));
    const { message } = await world.event("late", { type: "Warning", reason: "FailedMount" });
    expect(message).toMatch(/error processing PVC default\/late: PVC is not bound/);
    expect((await world.read("late"))?.status?.phase).toBe("Pending");
    await world.api.object("POST", "/api/v1/persistentvolumes", persistentVolume(late));
    await bind(world, "late");
    await world.pod("late", isRunning, SOON_MS);
    expect(await world.end("late")).toEqual([]);
    await removeClaimed(world, "late");
  });

  it.concurrent("that are missing keep the pod waiting, and let it start when they are there", async () => {
    await mkdir(path("missing"));
    await world.create(mountingPod("missing", { volumes: { v: ofClaim("missing") } }));
    const { message } = await world.event("missing", { type: "Warning", reason: "FailedMount" });
    expect(message).toMatch(/error processing PVC default\/missing: .*persistentvolumeclaims? "missing" not found/);
    await createClaimed(world, { name: "missing", source: { hostPath: { path: path("missing") } } });
    await world.pod("missing", isRunning, SOON_MS);
    expect(await world.end("missing")).toEqual([]);
    await removeClaimed(world, "missing");
  });

  it.concurrent("that are being deleted take no new pod", async () => {
    const doomed = { name: "doomed", source: { hostPath: { path: path("doomed") } } };
    await createClaimed(world, doomed);
    const finalizers = ["example.com/keep"];
    await world.api.patch("merge", `${CLAIMS}/doomed`, { metadata: { finalizers } });
    await world.api.json("DELETE", `${CLAIMS}/doomed`);
    await world.create(mountingPod("doomed", { volumes: { v: ofClaim("doomed") } }));
    const { message } = await world.event("doomed", { type: "Warning", reason: "FailedMount" });
    expect(message).toMatch(/error processing PVC default\/doomed: PVC is being deleted/);
    expect(await world.end("doomed")).toEqual([]);
    await world.api.patch("merge", `${CLAIMS}/doomed`, { metadata: { finalizers: null } });
    await removeClaimed(world, "doomed");
  });

  it.concurrent("ReadWriteOncePod are one pod's; the next one waits for its end", async () => {
    await mkdir(path("once"));
    const accessMode = "ReadWriteOncePod";
    await createClaimed(world, {
      name: "once",
      source: { local: { path: path("once") } },
      volume: ON_THIS_NODE,
      accessMode,
    });
    await world.run(mountingPod("once-a", { volumes: { v: ofClaim("once") } }));
    await world.create(mountingPod("once-b", { volumes: { v: ofClaim("once") } }));
    const { message } = await world.event("once-b", { type: "Warning", reason: "FailedMount" });
    expect(message).toMatch(/volume uses the ReadWriteOncePod access mode and is already in use by another pod/);
    expect(await world.end("once-a")).toEqual([]);
    await world.pod("once-b", isRunning, 30_000);
    expect(await world.end("once-b")).toEqual([]);
    await removeClaimed(world, "once");
  });

  it.concurrent("generic ephemeral ones are the pod's own, and nobody else's", async () => {
    await mkdir(path("ephemeral"));
    const owned = { name: "own-v", source: { hostPath: { path: path("ephemeral") } } };
    const spec = {
      accessModes: ["ReadWriteOnce"],
      storageClassName: "by-hand",
      resources: { requests: { storage: "1Mi" } },
    };
    const ephemeral = { volumeClaimTemplate: { spec } };
    const { metadata } = await world.create(mountingPod("own", { volumes: { v: { ephemeral } } }));
    const { name, uid } = metadata ?? {};
    const ownerReferences = [{ apiVersion: "v1", kind: "Pod", name, uid, controller: true, blockOwnerDeletion: true }];
    // The control plane may have made it already.
    const made = await world.api.json("POST", CLAIMS, claim(owned, { ownerReferences }));
    expect([201, 409]).toContain(made.status);
    await world.api.object("POST", "/api/v1/persistentvolumes", persistentVolume(owned));
    await bind(world, "own-v");
    await world.pod("own", isRunning);
    await world.shell("own", "echo mine > /v/x");
    expect((await stat(path("ephemeral/x"))).size).toBe(5);

    await createClaimed(world, { name: "thief-v", source: { hostPath: { path: path("ephemeral") } } });
    await world.create(mountingPod("thief", { volumes: { v: { ephemeral } } }));
    const { message } = await world.event("thief", { type: "Warning", reason: "FailedMount" });
    expect(message).toContain("PVC default/thief-v was not created for pod default/thief (pod is not owner)");
    for (const pod of ["own", "thief"]) {
      expect(await world.end(pod)).toEqual([]);
      await removeClaimed(world, `${pod}-v`);
    }
  });
});
