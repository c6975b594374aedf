import { chmod, chown, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../src/api/gen/types.ts";
import { findProgram } from "../../src/cluster/containerd/machine-facts.ts";
import { computeDemoImage } from "../../src/cluster/images/build-images.ts";
import { buildImageArchive } from "../../src/cluster/images/image-archive.ts";
import { configMap, secret } from "./cluster/api-objects.ts";
import { startLocalRegistry } from "./cluster/local-registry.ts";
import { containerOf } from "./pods.ts";
import { readTestedRuntimes } from "./runtime-abilities.ts";
import { readRunningContainers } from "./runtime-state.ts";
import { createVolumeNode, mountingPod, type VolumeNode } from "./volumes/volume-node.ts";

const ARCHITECTURE = process.arch === "x64" ? "amd64" : "arm64";
const WEIGHTS_IMAGE = "localhost/nodelet-e2e/weights:1";
const GROUP_IMAGE = "localhost/nodelet-e2e/group:1";
const READERS = 5_000;
/** What upstream cuts pods' ranges of IDs from begins here, and each is so long. */
const IDS_PER_POD = 65_536;

/** Why the pod's container waits. */
const waitingOf = (pod: Pod) => containerOf(pod, "main")?.state?.waiting;
const hasRestarted = (pod: Pod) => {
  const { restartCount, state } = containerOf(pod, "main") ?? {};
  return restartCount === 1 && state?.running !== undefined;
};
const waitsFor = (reason: string) => (pod: Pod) => waitingOf(pod)?.reason === reason;

/** Files and no program: an image that can only be mounted. */
async function buildWeights(): Promise<Buffer> {
  return await buildImageArchive({
    reference: WEIGHTS_IMAGE,
    architecture: ARCHITECTURE,
    config: {},
    entries: [
      { type: "directory", path: "layers", mode: 0o755 },
      { type: "file", path: "layers/0.bin", mode: 0o644, data: Buffer.from("0101\n") },
      { type: "file", path: "private", mode: 0o600, data: Buffer.from("root's\n") },
      { type: "symlink", path: "first", target: "layers/0.bin" },
    ],
  });
}

/** The demo image, where the user nobody is in one more group. */
async function buildWithGroup(): Promise<Buffer> {
  const path = await findProgram("busybox");
  const busybox = await readFile(path ?? "busybox");
  const { entries, ...demo } = computeDemoImage({
    architecture: ARCHITECTURE,
    busybox,
    applets: ["sh", "sleep", "cat"],
  });
  const group = Buffer.from(`root:x:0:\nnogroup:x:65534:\nreaders:x:${READERS}:nobody\n`);
  const withGroup = entries.map((entry) => (entry.path === "etc/group" ? { ...entry, data: group } : entry));
  return await buildImageArchive({ ...demo, reference: GROUP_IMAGE, entries: withGroup });
}

describe.each(await readTestedRuntimes())("volumes on $name, $version.text", (runtime) => {
  let world: VolumeNode;
  const { version } = runtime;
  beforeAll(async () => {
    world = await createVolumeNode(runtime.binary === undefined ? {} : { binary: runtime.binary });
    // Whom the host does not know must get to what is mounted for it.
    await chmod(world.node.directory, 0o711);
    // As it is on a node: nobody but root needs to get to the volumes themselves.
    await chmod(join(world.node.directory, "kubelet"), 0o750);
    const images = { weights: await buildWeights(), group: await buildWithGroup() };
    for (const [name, archive] of Object.entries(images)) {
      const tar = join(world.scratch, `${name}.tar`);
      await writeFile(tar, archive);
      await world.node.containerd.importImage(tar);
    }
    await world.cluster.apply(
      secret("credentials", { password: "s3cret\n" }),
      configMap("settings", { mode: "fast\n" }),
      { apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", metadata: { name: "class-runc" }, handler: "runc" },
    );
  });
  afterAll(async () => await world?.destroy());

  const weights = (more: object = {}) => ({ image: { reference: WEIGHTS_IMAGE, ...more } });

  it("the node says what its handlers can do, as far as the runtime tells", async () => {
    const { mountsRecursivelyReadOnly: recursiveReadOnlyMounts, hasUserNamespaces: userNamespaces } = runtime;
    const features = { recursiveReadOnlyMounts, userNamespaces };
    const expected = ["", "runc"].map((name) => ({ name, features }));
    const { status } = await world.nodeObject();
    expect(status?.runtimeHandlers ?? []).toEqual(version.major < 2 ? [] : expected);
  });

  describe.skipIf(runtime.mountsImages)("of images, which it does not mount", () => {
    it.concurrent.each([
      ["whole", {}, "image volumes", "2.1"],
      ["part", { subPath: "layers" }, "sub paths of image volumes", "2.2"],
    ])("are refused, and the release that does is named: %s", async (what, mount, kind, release) => {
      const name = `refused-${what}`;
      await world.create(mountingPod(name, { volumes: { v: weights() }, mounts: [{ name: "v", ...mount }] }));
      const pod = await world.pod(name, waitsFor("CreateContainerConfigError"));
      const does = `containerd ${version.text} does not support ${kind}, which need containerd ${release} or later`;
      const message = `cannot mount volume "v" into container "main": ${does}`;
      expect(waitingOf(pod)?.message).toBe(message);
      await world.event(name, { type: "Warning", reason: "Failed", message: `Error: ${message}` });
      expect(await world.end(name)).toEqual([]);
    });
  });

  describe.skipIf(!runtime.mountsImages)("of images", () => {
    it.concurrent("show their files, which nobody can change, to each container that starts", async () => {
      await world.run(
        mountingPod("weights", {
          volumes: { v: weights({ pullPolicy: "Never" }) },
          mounts: [{ name: "v" }, { name: "v", mountPath: "/again", readOnly: true }],
          script: "trap 'exit 1' TERM; sleep 1000 & wait",
        }),
      );
      const look = async () =>
        await world.shell("weights", "cat /v/first /again/layers/0.bin /v/private; stat -c '%a %u:%g' /v/private");
      const seen = "0101\n0101\nroot's\n600 0:0\n";
      expect(await look()).toBe(seen);
      for (const change of ["echo x > /v/new", "echo x >> /v/first", "rm /again/private"]) {
        await expect(world.shell("weights", change)).rejects.toThrow("Read-only file system");
      }
      await world.shell("weights", "kill -TERM 1");
      await world.pod("weights", hasRestarted);
      expect(await look()).toBe(seen);
      expect(await world.end("weights")).toEqual([]);
    });

    it.concurrent("say that an image which is not to be pulled is absent", async () => {
      const reference = "localhost/nodelet-e2e/absent:1";
      await world.create(mountingPod("never", { volumes: { v: { image: { reference, pullPolicy: "Never" } } } }));
      const pod = await world.pod("never", waitsFor("ErrImageNeverPull"));
      const message = `Container image "${reference}" is not present with pull policy of Never`;
      expect(waitingOf(pod)?.message).toBe(message);
      await world.event("never", { type: "Warning", reason: "ErrImageNeverPull", message });
      await world.event("never", { type: "Warning", reason: "Failed", message: "Error: ErrImageNeverPull" });
      expect(await world.end("never")).toEqual([]);
    });

    it.concurrent("are pulled with the pod's secrets", async () => {
      const registry = await startLocalRegistry();
      try {
        const data = { ".dockerconfigjson": registry.dockerConfig };
        await world.cluster.apply(secret("registry", data, { type: "kubernetes.io/dockerconfigjson" }));
        const volumes = { v: { image: { reference: registry.image } } };
        await world.create(mountingPod("denied", { volumes }));
        const denied = await world.pod("denied", waitsFor("ErrImagePull"));
        expect(waitingOf(denied)?.message).toMatch(/401|[Uu]nauthorized|authorization failed/);
        await world.run(mountingPod("pulled", { volumes, spec: { imagePullSecrets: [{ name: "registry" }] } }));
        expect(await world.shell("pulled", "ls /v")).toBe("pause\n");
        await world.event("pulled", { reason: "Pulling", message: `Pulling image "${registry.image}"` });
        for (const name of ["denied", "pulled"]) expect(await world.end(name)).toEqual([]);
      } finally {
        await registry.close();
      }
    });

    it.skipIf(runtime.mountsPartsOfImages)("are shown as a whole, or not at all", async () => {
      const mounts = [{ name: "v", subPath: "layers" }];
      await world.create(mountingPod("part", { volumes: { v: weights() }, mounts }));
      const pod = await world.pod("part", waitsFor("CreateContainerConfigError"));
      const does = `containerd ${version.text} does not support sub paths of image volumes`;
      const message = `cannot mount volume "v" into container "main": ${does}, which need containerd 2.2 or later`;
      expect(waitingOf(pod)?.message).toBe(message);
      expect(await world.end("part")).toEqual([]);
    });

    it("are mounted only while their containers are there", async () => {
      const mounted = async () => (await world.mounts()).filter(({ path }) => path.includes("/image-volumes/")).length;
      expect(await mounted()).toBe(0);
      await world.run(mountingPod("while", { volumes: { v: weights() } }));
      expect(await mounted()).toBe(1);
      expect(await world.end("while")).toEqual([]);
      expect(await mounted()).toBe(0);
    });

    it.skipIf(!runtime.mountsPartsOfImages)("may be shown in part", async () => {
      const mounts = [{ name: "v", subPath: "layers" }];
      await world.run(mountingPod("part", { volumes: { v: weights() }, mounts }));
      expect(await world.shell("part", "ls /v")).toBe("0.bin\n");
      expect(await world.end("part")).toEqual([]);
    });
  });

  describe("recursiveReadOnly", () => {
    let directory: string;
    /** A volume beneath which the host has mounted a file system. */
    beforeAll(async () => {
      directory = join(world.scratch, "recursive");
      await mkdir(join(directory, "beneath"), { recursive: true });
      await world.inNamespace("mount", "-t", "tmpfs", "-o", "size=64k", "e2e", join(directory, "beneath"));
    });
    afterAll(async () => void (await world.inNamespace("umount", join(directory, "beneath"))));

    const readOnlyPod = (name: string, recursiveReadOnly: string, runtimeClassName?: string) =>
      mountingPod(name, {
        volumes: { v: { hostPath: { path: directory, type: "Directory" } } },
        mounts: [{ name: "v", readOnly: true, recursiveReadOnly }],
        ...(runtimeClassName && { spec: { runtimeClassName } }),
      });
    const statusOf = (pod: Pod) => containerOf(pod, "main")?.volumeMounts;
    const enabledOrNot = runtime.mountsRecursivelyReadOnly ? "Enabled" : "Disabled";
    const modes: Array<[mode: string, className: string | undefined, effect: string]> = [
      ["Disabled", undefined, "Disabled"],
      ["IfPossible", undefined, enabledOrNot],
      ["IfPossible", "class-runc", enabledOrNot],
    ];
    if (runtime.mountsRecursivelyReadOnly) {
      modes.push(["Enabled", undefined, "Enabled"], ["Enabled", "class-runc", "Enabled"]);
    }

    it.concurrent.each(modes)(
      "%s, runtime class %s: is %s, and the status says so",
      async (mode, className, effect) => {
        const name = `recursive-${mode}-${className ?? "default"}`.toLowerCase();
        const pod = await world.run(readOnlyPod(name, mode, className));
        const told = { name: "v", mountPath: "/v", readOnly: true, recursiveReadOnly: effect };
        expect(statusOf(pod)).toEqual([told]);
        await expect(world.shell(name, "echo x > /v/x")).rejects.toThrow("Read-only file system");
        const write = world.shell(name, `echo x > /v/beneath/${name}`);
        if (effect === "Disabled") expect(await write).toBe("");
        else await expect(write).rejects.toThrow("Read-only file system");
        expect(await world.end(name)).toEqual([]);
      },
    );

    it.skipIf(runtime.mountsRecursivelyReadOnly)("Enabled: the container is not made, and says why", async () => {
      await world.create(readOnlyPod("enabled", "Enabled"));
      const pod = await world.pod("enabled", waitsFor("CreateContainerConfigError"));
      const message =
        'failed to resolve recursive read-only mode: volume "v" requested recursive read-only mode, but it is not supported by the runtime';
      expect(waitingOf(pod)?.message).toBe(message);
      await world.event("enabled", { type: "Warning", reason: "Failed", message: `Error: ${message}` });
      expect(await world.end("enabled")).toEqual([]);
    });
  });

  describe("of a group that the image gives to its user", () => {
    const nobody = 65_534;
    const readersPod = async (name: string, supplementalGroupsPolicy: string) => {
      const path = join(world.scratch, name);
      await mkdir(path);
      await writeFile(join(path, "file"), "readers'\n", { mode: 0o640 });
      await chown(join(path, "file"), 0, READERS);
      return mountingPod(name, {
        volumes: { v: { hostPath: { path, type: "Directory" } } },
        spec: { securityContext: { runAsUser: nobody, supplementalGroupsPolicy } },
        container: { image: GROUP_IMAGE },
      });
    };

    it.concurrent("are open to it by Merge", async () => {
      await world.run(await readersPod("merge", "Merge"));
      expect(await world.shell("merge", "cat /v/file")).toBe("readers'\n");
      expect(await world.end("merge")).toEqual([]);
    });

    it.skipIf(!runtime.leavesOutGroups).concurrent("are closed to it by Strict", async () => {
      await world.run(await readersPod("strict", "Strict"));
      await expect(world.shell("strict", "cat /v/file")).rejects.toThrow("Permission denied");
      expect(await world.end("strict")).toEqual([]);
    });

    it.skipIf(runtime.leavesOutGroups).concurrent("are not opened by Strict: the pod is refused", async () => {
      await world.create(await readersPod("strict", "Strict"));
      const message = "SupplementalGroupsPolicy=Strict is not supported in this node";
      await world.event("strict", { type: "Warning", reason: "SupplementalGroupsPolicyNotSupported", message });
      expect(await world.end("strict")).toEqual([]);
    });
  });

  describe("mountPropagation", () => {
    it.concurrent.each([
      ["None", false],
      ["HostToContainer", true],
    ])("%s: what the host mounts later is seen: %s", async (mode, isSeen) => {
      const name = `propagation-${mode}`.toLowerCase();
      const path = join(world.scratch, name);
      await mkdir(join(path, "later"), { recursive: true });
      const volumes = { v: { hostPath: { path, type: "Directory" } } };
      await world.run(mountingPod(name, { volumes, mounts: [{ name: "v", mountPropagation: mode }] }));
      await world.inNamespace("mount", "-t", "tmpfs", "-o", "size=64k", "e2e", join(path, "later"));
      try {
        const seen = await world.shell(name, "grep -c ' /v/later ' /proc/mounts || true");
        expect(seen).toBe(isSeen ? "1\n" : "0\n");
      } finally {
        await world.inNamespace("umount", join(path, "later"));
      }
      expect(await world.end(name)).toEqual([]);
    });
  });

  describe.skipIf(runtime.hasUserNamespaces)("of a pod with users of its own, which it cannot give", () => {
    it("are not mounted: the sandbox is refused before the runtime is asked for one", async () => {
      await world.create(mountingPod("no-users", { volumes: { v: { emptyDir: {} } }, spec: { hostUsers: false } }));
      const why = "can't set `spec.hostUsers: false`, runtime does not support user namespaces";
      const message = `Failed to create pod sandbox: ${why}`;
      await world.event("no-users", { type: "Warning", reason: "FailedCreatePodSandBox", message });
      expect(waitingOf((await world.read("no-users")) ?? {})).toMatchObject({ reason: "ContainerCreating" });
      const { items } = await world.node.cri.runtime.listPodSandbox({ filter: undefined });
      expect(items.filter(({ metadata }) => metadata?.name === "no-users")).toEqual([]);
      expect(await world.end("no-users")).toEqual([]);
    });
  });

  describe.skipIf(!runtime.hasUserNamespaces)("of a pod with users of its own", () => {
    const pidOf = async (pod: string) => {
      const found = (await readRunningContainers(world.node)).find((container) => container.pod === pod);
      if (found === undefined) throw new Error(`no container of ${pod} runs`);
      return found.pid;
    };
    /** The host's ID of the pod's root. */
    const firstIdOf = async (pod: string) => {
      const [inside, outside, length] = (await readFile(`/proc/${await pidOf(pod)}/uid_map`, "utf8"))
        .trim()
        .split(/ +/);
      expect([inside, length]).toEqual(["0", String(IDS_PER_POD)]);
      return Number(outside);
    };
    const volumes = {
      e: { emptyDir: {} },
      m: { emptyDir: { medium: "Memory", sizeLimit: "64Ki" } },
      s: { secret: { secretName: "credentials", defaultMode: 0o400 } },
      c: { configMap: { name: "settings" } },
    };
    const mounts = [
      ...["e", "m", "s", "c"].map((name) => ({ name })),
      { name: "e", mountPath: "/part", subPath: "made/deep" },
      { name: "c", mountPath: "/mode", subPath: "mode" },
    ];
    const owners = (paths: string) => `stat -L -c '%n %u:%g' ${paths}`;

    it.concurrent("belong to the pod's root, who is nobody on the host", async () => {
      await world.run(mountingPod("root", { volumes, mounts, spec: { hostUsers: false } }));
      const paths = "/e /m /s/password /c/mode /part /mode /etc/hosts /dev/termination-log /etc/resolv.conf".split(" ");
      expect(await world.shell("root", owners(paths.join(" ")))).toBe(paths.map((path) => `${path} 0:0\n`).join(""));
      expect(await world.shell("root", "cat /s/password /c/mode /mode")).toBe("s3cret\nfast\nfast\n");
      await world.shell("root", "for d in e m part; do echo x > /$d/x; done; echo x > /dev/termination-log");
      const firstId = await firstIdOf("root");
      expect(firstId).toBeGreaterThanOrEqual(IDS_PER_POD);
      expect(firstId % IDS_PER_POD).toBe(0);
      const uid = (await world.read("root"))?.metadata?.uid ?? "";
      const written = join(world.podDirectory(uid), "volumes/kubernetes.io~empty-dir/e/x");
      // The mount turns the IDs around: on the disk the files are as they would be without the namespace.
      expect(await stat(written)).toMatchObject({ uid: 0, gid: 0 });
      expect(await world.end("root")).toEqual([]);
    });

    it.concurrent("belong to its fsGroup, and its users may not what others may not", async () => {
      const spec = { hostUsers: false, securityContext: { runAsUser: 1000, runAsGroup: 1000, fsGroup: 2000 } };
      await world.run(mountingPod("group", { volumes, mounts, spec }));
      const paths = "/e /m /s/password /c/mode /mode".split(" ");
      const expected = paths.map((path) => `${path} 0:2000\n`).join("");
      expect(await world.shell("group", owners(paths.join(" ")))).toBe(expected);
      expect(await world.shell("group", "echo x > /e/x; stat -c %u:%g /e/x; cat /s/password; id -u")).toBe(
        "1000:2000\ns3cret\n1000\n",
      );
      await expect(world.shell("group", "echo x >> /mode")).rejects.toThrow(/denied|Read-only/);
      expect(await readFile(`/proc/${await pidOf("group")}/status`, "utf8")).toMatch(
        new RegExp(`^Uid:\\t${(await firstIdOf("group")) + 1000}\\t`, "m"),
      );
      expect(await world.end("group")).toEqual([]);
    });

    it.concurrent("lie beside a /proc that may be bare for such a pod, and only for one", async () => {
      const hidden = "grep -c ' /proc/' /proc/mounts || true";
      await world.run(mountingPod("masked", { volumes: {}, spec: { hostUsers: false } }));
      expect(Number(await world.shell("masked", hidden))).toBeGreaterThan(1);
      const container = { securityContext: { procMount: "Unmasked" } };
      await world.run(mountingPod("bare", { volumes: {}, spec: { hostUsers: false }, container }));
      expect(await world.shell("bare", hidden)).toBe("0\n");
      for (const name of ["masked", "bare"]) expect(await world.end(name)).toEqual([]);
    });

    it.concurrent("may be of an image, or of the host", async () => {
      const path = join(world.scratch, "mapped");
      await mkdir(path);
      await writeFile(join(path, "file"), "host\n", { mode: 0o600 });
      const both = { v: weights(), h: { hostPath: { path, type: "Directory" } } };
      await world.run(mountingPod("mapped", { volumes: both, spec: { hostUsers: false } }));
      expect(await world.shell("mapped", "cat /v/private /h/file")).toBe("root's\nhost\n");
      expect(await world.end("mapped")).toEqual([]);
    });

    it("are another pod's neither on the host nor after a restart of the node agent", async () => {
      const spec = { hostUsers: false };
      const names = ["first", "second"];
      for (const name of names) await world.run(mountingPod(name, { volumes, mounts, spec }));
      const before = await Promise.all(names.map(firstIdOf));
      expect(new Set(before).size).toBe(names.length);
      const running = await readRunningContainers(world.node);
      await world.node.kill();
      await world.node.start(world.flags);
      await world.run(mountingPod("third", { volumes, mounts, spec }));
      expect(before).not.toContain(await firstIdOf("third"));
      const others = (await readRunningContainers(world.node)).filter(({ pod }) => pod !== "third");
      expect(others).toEqual(running);
      // A container that starts again is in the sandbox that stands, with its IDs.
      await world.shell("first", "kill -TERM 1");
      await world.pod("first", hasRestarted);
      expect(await firstIdOf("first")).toBe(before[0]);
      expect(await world.shell("first", "cat /s/password /mode")).toBe("s3cret\nfast\n");
      for (const name of [...names, "third"]) expect(await world.end(name)).toEqual([]);
    });
  });
});
