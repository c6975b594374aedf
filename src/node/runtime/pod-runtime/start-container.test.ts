import { describe, expect, it } from "vitest";
import { notFoundError } from "../../../api/api-error.ts";
import type { Secret, VolumeMount } from "../../../api/gen/types.ts";
import { CodedError } from "../../../base/errors.ts";
import { NO_DEVICE_OPTIONS } from "../../resources/devices/device-options.ts";
import type { ReadyVolume } from "../../storage/volumes/volume-plugin.ts";
import type { EnvironmentRefs } from "../config/environment-refs.ts";
import { createRuntimeRig, makePod, type RuntimeRigOptions } from "./__fixtures__/runtime-rig.ts";

type Rig = ReturnType<typeof createRuntimeRig>;

describe("a container that does not start says why", () => {
  it.each<[string, Parameters<typeof makePod>[0], (rig: Rig) => void]>([
    ["InvalidImageName", { main: [{ image: "not an image" }] }, () => {}],
    ["ErrImageNeverPull", { main: [{ image: "missing", imagePullPolicy: "Never" }] }, () => {}],
    ["ErrImagePull", { main: [{ image: "missing" }] }, () => {}],
    ["ImageInspectError", {}, ({ failing }) => void failing.set("imageStatus", "unavailable")],
    [
      "CreateContainerConfigError",
      { main: [{ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "no.such.field" } } }] }] },
      () => {},
    ],
    ["CreateContainerError", {}, ({ failing }) => void failing.set("createContainer", "unknown")],
    ["RunContainerError", {}, ({ failing }) => void failing.set("startContainer", "unknown")],
    ["RunContainerError", { main: [{ command: ["no-such-program"] }] }, () => {}],
    ["PostStartHookError", { main: [{ lifecycle: { postStart: { exec: { command: ["false"] } } } }] }, () => {}],
  ])("%s %o", async (reason, shape, prepare) => {
    const rig = createRuntimeRig();
    prepare(rig);
    const { told } = await rig.sync(makePod(shape));
    expect(told).toEqual([`main ${reason}`]);
    expect(rig.cri.runningContainers()).toEqual([]);
    expect(rig.events().length).toBeGreaterThan(0);
  });

  it("also when its files cannot be made", async () => {
    const rig = createRuntimeRig();
    rig.host.files.intercept(({ operation, path }) => {
      if (operation === "replace" && path.includes("/containers/main/")) throw new Error("no space left on device");
    });
    const { failures } = await rig.sync(makePod());
    expect(failures.get("main")).toMatchObject({ reason: "CreateContainerError", message: "no space left on device" });
  });

  it("also when its old logs cannot be read, which leaves the other containers alone", async () => {
    const rig = createRuntimeRig();
    rig.host.files.put(`${rig.logDirectory(makePod())}/main`, "a file where a directory should be");
    const { told } = await rig.sync(makePod({ main: [{}, { name: "other" }] }));
    expect(told).toEqual(["main CreateContainerError"]);
    expect(rig.containers()).toEqual(["other#0 running"]);
  });
});

it("no directory is made where a pod's link in place of the logs leads", async () => {
  const rig = createRuntimeRig();
  const logs = rig.logDirectory(makePod());
  await rig.host.files.makeDirectory("/root/.ssh", 0o700);
  await rig.host.files.makeDirectory(logs, 0o755);
  await rig.host.files.link("/root/.ssh", `${logs}/main`);
  const { told } = await rig.sync(makePod());
  expect(told).toEqual(["main CreateContainerError"]);
  await rig.host.files.remove(logs);
  await rig.host.files.link("/root", logs);
  expect((await rig.sync(makePod({ main: [{ name: "other" }] }))).told).toEqual(["other CreateContainerError"]);
  expect((await rig.host.files.stat("/root/.ssh"))?.mode).toBe(0o700);
  expect((await rig.host.files.list("/root")).map(({ name }) => name)).toEqual([".ssh"]);
});

it("a link that cannot be made keeps no container from running", async () => {
  const rig = createRuntimeRig();
  rig.host.files.intercept(({ operation }) => {
    if (operation === "link") throw new Error("EROFS");
  });
  expect((await rig.sync(makePod())).told).toEqual([]);
  expect(rig.containers()).toEqual(["main#0 running"]);
});

describe("a postStart hook", () => {
  it("that works lets the container run", async () => {
    const rig = createRuntimeRig();
    const postStart = { httpGet: { port: 8080, path: "/hello" } };
    rig.host.http.serve("http://10.88.0.2:8080/hello", { status: 500 });
    expect((await rig.sync(makePod({ main: [{ lifecycle: { postStart } }] }))).told).toEqual([]);
    expect(rig.containers()).toEqual(["main#0 running"]);
  });

  it("that fails stops the container as any other stop does, and lets it be tried again at once", async () => {
    const rig = createRuntimeRig();
    const lifecycle = { postStart: { exec: { command: ["false"] } }, preStop: { sleep: { seconds: 1 } } };
    const pod = makePod({ main: [{ lifecycle }], spec: { terminationGracePeriodSeconds: 0 } });
    const { failures } = await rig.sync(pod);
    expect(failures.get("main")).toMatchObject({ reason: "PostStartHookError", retryAt: rig.clock.now() });
    expect(rig.calls.at(-1)).toBe("0s stop main 2");
    expect(rig.events()).toEqual(
      expect.arrayContaining([
        expect.stringContaining("FailedPostStartHook: PostStartHook failed: "),
        "Killing: FailedPostStartHook",
      ]),
    );
  });
});

describe("/etc/hosts", () => {
  it.each([
    [{}, "10.88.0.2\tweb"],
    [{ hostNetwork: true, dnsPolicy: "Default" }, "127.0.0.1 localhost of the node"],
  ])("with %o is made by the node", async (spec, expected) => {
    const rig = createRuntimeRig();
    rig.host.files.put("/etc/hosts", "127.0.0.1 localhost of the node\n");
    await rig.sync(makePod({ spec }));
    const mounts = rig.cri.containers()[0]?.config.mounts ?? [];
    const hosts = mounts.find(({ containerPath }) => containerPath === "/etc/hosts")?.hostPath ?? "";
    expect(rig.host.files.text(hosts)).toContain(expected);
  });
});

describe("an environment that is read from the API", () => {
  const createRefs = (secrets: Record<string, Secret>): EnvironmentRefs => ({
    async secret(_namespace, name) {
      const secret = secrets[name];
      if (secret === undefined) throw notFoundError({ group: "", resource: "secrets" }, name);
      return secret;
    },
    configMap: async () => ({ data: { "a=b": "1", COLOUR: "blue" } }),
    services: () => ({ hasSynced: true, list: () => [] }),
  });
  const env = [{ name: "WORD", valueFrom: { secretKeyRef: { name: "s", key: "word" } } }];

  it("is the container's, as it is when the container is made", async () => {
    const secrets: Record<string, Secret> = {};
    const rig = createRuntimeRig({ refs: createRefs(secrets) });
    const pod = makePod({ main: [{ env, envFrom: [{ configMapRef: { name: "c" } }], args: ["$(WORD)"] }] });
    const { failures } = await rig.sync(pod);
    expect(failures.get("main")).toEqual({ reason: "CreateContainerConfigError", message: 'secret "s" not found' });
    expect(rig.events()).toContain('Failed: Error: secret "s" not found');
    // It may be tried for days: no try may leave a file behind.
    expect(await rig.host.files.stat("/var/lib/kubelet/pods/uid-1/containers")).toBeUndefined();
    secrets["s"] = { data: { word: Buffer.from("geheim").toString("base64") } };
    expect((await rig.sync(pod)).told).toEqual([]);
    const config = rig.cri.containers()[0]?.config;
    const made = config?.envs.map(({ key, value }) => [key, Buffer.from(value).toString()]);
    expect(made).toEqual([
      ["COLOUR", "blue"],
      ["WORD", "geheim"],
    ]);
    expect(config?.args).toEqual(["geheim"]);
    expect(rig.events()).toContain(
      "InvalidEnvironmentVariableNames: Keys [a=b] from the EnvFrom configMap default/c were skipped since they are considered invalid environment variable names.",
    );
    expect(JSON.stringify(rig.events())).not.toContain("geheim");
  });

  it("makes the container wait for the services", async () => {
    const services = () => ({ hasSynced: false, list: () => [] });
    const rig = createRuntimeRig({ refs: { ...createRefs({}), services } });
    const { failures } = await rig.sync(makePod());
    const message = "services have not yet been read at least once, cannot construct envvars";
    expect(failures.get("main")).toEqual({ reason: "CreateContainerConfigError", message });
  });
});

describe("a container that must not run as root", () => {
  const securityContext = { runAsNonRoot: true };
  const images = [
    { ref: "root", user: 0 },
    { ref: "unnamed" },
    { ref: "named", user: "www" },
    { ref: "numeric", user: 1000 },
  ];

  it.each([
    ["root", "container has runAsNonRoot and image will run as root"],
    ["unnamed", "container has runAsNonRoot and image will run as root"],
    ["named", "container has runAsNonRoot and image has non-numeric user (www), cannot verify user is non-root"],
  ])("does not with image %s, neither pulled nor on the node already", async (image, message) => {
    const where = '(pod: "web_default(uid-1)", container: main)';
    const failure = { reason: "CreateContainerConfigError", message: `${message} ${where}` };
    const rig = createRuntimeRig({ registry: images });
    const pod = makePod({ main: [{ image, securityContext }] });
    expect((await rig.sync(pod)).failures.get("main")).toEqual(failure);
    expect((await rig.sync(pod)).failures.get("main")).toEqual(failure);
    expect(rig.events().filter((event) => event.startsWith("Pulled"))).toHaveLength(2);
    expect(rig.cri.containers()).toEqual([]);
  });

  it("CVE-2019-11245: runs as the image's user at its first start and after each end", async () => {
    const rig = createRuntimeRig({ registry: images });
    const pod = makePod({ main: [{ image: "numeric", securityContext, command: ["true"] }] });
    for (let start = 0; start < 3; start++) {
      await rig.sync(pod);
      await rig.clock.advance(400_000);
    }
    const users = rig.cri.containers().map(({ config }) => config.linux?.securityContext?.runAsUser?.value);
    expect(users.length).toBeGreaterThan(1);
    expect(new Set(users)).toEqual(new Set([1000n]));
  });
});

describe("an ephemeral container", () => {
  const debug = { name: "debug", image: "busybox", command: ["sleep", "9999"], stdin: true, tty: true };

  it("is added to a pod that runs, beside its target", async () => {
    const rig = createRuntimeRig();
    await rig.sync(makePod());
    const targetId = rig.cri.containers()[0]?.id;
    await rig.sync(makePod({ spec: { ephemeralContainers: [{ ...debug, targetContainerName: "main" }] } }));
    expect(rig.containers()).toEqual(["main#0 running", "debug#0 running"]);
    const config = rig.cri.containers()[1]?.config;
    expect(config).toMatchObject({ stdin: true, tty: true });
    expect(config?.linux?.securityContext?.namespaceOptions).toMatchObject({ pid: 3, targetId });
  });

  it("does not run without its target: it would look into nothing", async () => {
    const rig = createRuntimeRig();
    const spec = { ephemeralContainers: [{ ...debug, targetContainerName: "gone" }] };
    const { failures } = await rig.sync(makePod({ spec }));
    const message = "unable to find target container gone";
    expect(failures.get("debug")).toEqual({ reason: "CreateContainerConfigError", message });
    expect(rig.containers()).toEqual(["main#0 running"]);
  });
});

describe("a container with volumes", () => {
  const DATA = "/host/data";
  const data = (more: Partial<Extract<ReadyVolume, { kind: "files" }>> = {}): [string, ReadyVolume] => [
    "data",
    { kind: "files", hostPath: DATA, readOnly: false, relabel: false, ...more },
  ];
  const model: [string, ReadyVolume] = ["model", { kind: "image", image: "model:1", pullPolicy: "IfNotPresent" }];
  const disk: [string, ReadyVolume] = ["disk", { kind: "device", hostPath: "/dev/loop7", readOnly: false }];
  const registry = [{ ref: "busybox" }, { ref: "model:1" }];
  const mounting = (mount: Partial<VolumeMount>, name = "data") => ({
    volumeMounts: [{ name, mountPath: "/x", ...mount }],
  });
  const mountsOf = (rig: Rig, name = "main") =>
    rig.cri
      .containers()
      .findLast(({ config }) => config.metadata?.name === name)
      ?.config.mounts.filter(({ containerPath }) => containerPath === "/x");

  it("gets a part of one that its environment names, which is made as its volume is", async () => {
    const rig = createRuntimeRig();
    await rig.host.files.makeDirectory(DATA, 0o2775);
    const env = [{ name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }];
    const pod = makePod({ main: [{ env, ...mounting({ subPathExpr: "logs/$(POD)" }) }] });
    expect((await rig.sync(pod, { volumes: new Map([data()]) })).told).toEqual([]);
    const hostPath = "/var/lib/kubelet/pods/uid-1/volume-subpaths/data/main/0";
    expect(mountsOf(rig)).toMatchObject([{ hostPath, readonly: false }]);
    expect(await rig.host.files.stat(`${DATA}/logs/web`)).toMatchObject({ type: "directory", mode: 0o2775 });
    expect(rig.host.mounts.mounted().map(({ path }) => path)).toContain(hostPath);
  });

  it("does not start with a part that leads out of its volume, which leaves the others alone and names no host path", async () => {
    const rig = createRuntimeRig();
    await rig.host.files.makeDirectory(DATA, 0o755);
    await rig.host.files.link("/etc", `${DATA}/sub`);
    const pod = makePod({ main: [mounting({ subPath: "sub" }), { name: "other", ...mounting({}) }] });
    const { failures } = await rig.sync(pod, { volumes: new Map([data()]) });
    const message = 'failed to prepare subPath for volumeMount "data" of container "main"';
    expect(failures.get("main")).toEqual({ reason: "CreateContainerConfigError", message });
    expect(rig.events()).toContain(`Failed: Error: ${message}`);
    expect(rig.containers()).toEqual(["other#0 running"]);
    expect(await rig.host.files.stat("/var/lib/kubelet/pods/uid-1/containers/main")).toBeUndefined();
  });

  it("finds what is there now when it is started again", async () => {
    const rig = createRuntimeRig();
    rig.host.files.put(`${DATA}/old/key`, "old");
    rig.host.files.put(`${DATA}/new/key`, "new");
    await rig.host.files.link("old", `${DATA}/current`);
    const pod = makePod({ main: [{ command: ["true"], ...mounting({ subPath: "current/key" }) }] });
    const seen: Array<string | undefined> = [];
    for (const version of ["old", "new"]) {
      await rig.host.files.link(version, `${DATA}/current`);
      await rig.sync(pod, { volumes: new Map([data()]) });
      await rig.clock.advance(400_000);
      seen.push(rig.host.files.text(mountsOf(rig)?.[0]?.hostPath ?? ""));
    }
    expect(seen).toEqual(["old", "new"]);
    expect(rig.cri.containers()).toHaveLength(2);
  });

  it("gets block devices", async () => {
    const rig = createRuntimeRig();
    const pod = makePod({ main: [{ volumeDevices: [{ name: "disk", devicePath: "/dev/xvda" }] }] });
    await rig.sync(pod, { volumes: new Map([disk]) });
    expect(rig.cri.containers()[0]?.config.devices).toEqual([
      { containerPath: "/dev/xvda", hostPath: "/dev/loop7", permissions: "mrw" },
    ]);
  });

  it("gets what device plugins add to it, and the pod's own after it", async () => {
    const given = {
      envs: [{ name: "GPU", value: "0" }],
      mounts: [{ containerPath: "/driver", hostPath: "/usr/lib/driver", readOnly: true }],
      devices: [{ containerPath: "/dev/gpu", hostPath: "/dev/gpu0", permissions: "rw" }],
      annotations: { "example.com/gpu": "0", "io.kubernetes.container.restartCount": "7" },
      cdiDevices: ["example.com/gpu=0"],
    };
    const rig = createRuntimeRig({ devices: { prepare: async () => ({ ok: true, options: given }) } });
    const main = { volumeDevices: [{ name: "disk", devicePath: "/dev/xvda" }], env: [{ name: "GPU", value: "none" }] };
    await rig.sync(makePod({ main: [main] }), { volumes: new Map([disk]) });
    const config = rig.cri.containers()[0]?.config;
    expect(config?.devices.map(({ containerPath }) => containerPath)).toEqual(["/dev/gpu", "/dev/xvda"]);
    expect(config?.CDIDevices).toEqual([{ name: "example.com/gpu=0" }]);
    expect(config?.mounts[0]).toMatchObject({ containerPath: "/driver", hostPath: "/usr/lib/driver", readonly: true });
    expect(config?.envs.map(({ key, value }) => `${key}=${Buffer.from(value).toString()}`)).toEqual([
      "GPU=0",
      "GPU=none",
    ]);
    expect(config?.annotations).toMatchObject({
      "example.com/gpu": "0",
      "io.kubernetes.container.restartCount": "0",
    });
  });

  it.each([
    ["1.6.20~ds1", true],
    ["1.7.24", false],
    ["", false],
  ])("says which devices containerd %s leaves out, and starts all the same: %s", async (version, expected) => {
    const options = { ...NO_DEVICE_OPTIONS, cdiDevices: ["example.com/gpu=0"] };
    const devices = { prepare: async () => ({ ok: true, options }) as const };
    const rig = createRuntimeRig({ devices, runtimeVersion: () => ({ name: "containerd", version }) });
    await rig.sync(makePod({ main: [{}] }));
    expect(rig.cri.containers()).toHaveLength(1);
    const says = rig.events().filter((event) => event.includes("IgnoredDevices"));
    expect(says).toHaveLength(expected ? 1 : 0);
  });

  it("runs on the CPUs that it was given, without a quota of their time", async () => {
    const cpus = { cpuListOf: () => "2,8", sizingOf: <Facts>(facts: Facts) => ({ ...facts, cpuCfsQuota: false }) };
    const rig = createRuntimeRig({ cpus });
    await rig.sync(makePod({ main: [{ resources: { limits: { cpu: "2" } } }] }));
    const resources = rig.cri.containers()[0]?.config.linux?.resources;
    expect(resources).toMatchObject({ cpusetCpus: "2,8", cpuQuota: 0n, cpuShares: 2048n });
  });

  it("has its memory from the NUMA nodes that it was given", async () => {
    const rig = createRuntimeRig({ memory: { nodeListOf: () => "0,2" } });
    await rig.sync(makePod());
    expect(rig.cri.containers()[0]?.config.linux?.resources?.cpusetMems).toBe("0,2");
  });

  it("does not start without the devices that it was given", async () => {
    const rig = createRuntimeRig({ devices: { prepare: async () => ({ ok: false, error: "the plugin is gone" }) } });
    const { failures } = await rig.sync(makePod());
    expect(failures.get("main")).toEqual({ reason: "CreateContainerConfigError", message: "the plugin is gone" });
  });

  it("gets the files of an image, which is pulled before it is made", async () => {
    const rig = createRuntimeRig({ registry });
    const pod = makePod({ main: [mounting({ subPath: "weights" }, "model")] });
    pod.metadata = { ...pod.metadata, annotations: { team: "ml" } };
    expect((await rig.sync(pod, { volumes: new Map([model]) })).told).toEqual([]);
    const [mount] = mountsOf(rig) ?? [];
    expect(mount).toMatchObject({ hostPath: "", readonly: true, imageSubPath: "weights" });
    expect(mount?.image).toMatchObject({ userSpecifiedImage: "model:1", annotations: { team: "ml" } });
    expect(mount?.image?.image).not.toBe("");
    const told = rig.events().map((event) => /^(\S+):.*"(model:1|busybox)"/.exec(event)?.slice(1).join(" "));
    expect(told.filter(Boolean)).toEqual(["Pulling model:1", "Pulled model:1", "Pulled busybox"]);
  });

  it.each([
    ["ErrImagePull", { ...model[1], image: "missing" }, "ErrImagePull"],
    ["ErrImageNeverPull", { ...model[1], pullPolicy: "Never" }, "ErrImageNeverPull"],
    [
      "InvalidImageName",
      { ...model[1], image: "not an image" },
      'Failed to apply default image tag "not an image": couldn\'t parse image name: invalid reference format',
    ],
  ])("waits with %s where the image of a volume cannot be had", async (reason, volume, words) => {
    const rig = createRuntimeRig({ registry });
    const pod = makePod({ main: [mounting({}, "model"), { name: "other" }] });
    const { told } = await rig.sync(pod, { volumes: new Map([["model", volume]]) });
    expect(told).toEqual([`main ${reason}`]);
    expect(rig.containers()).toEqual(["other#0 running"]);
    expect(rig.events()).toContain(`Failed: Error: ${words}`);
  });

  it.each([
    ["mounted", undefined, { requested: "1", mounted_succeed: "1", mounted_errors: "0" }],
    [
      "not mounted",
      "ImageVolumeMountFailed: no such layer",
      { requested: "1", mounted_succeed: "0", mounted_errors: "1" },
    ],
    ["not tried", "no space left on device", { requested: "1", mounted_succeed: "0", mounted_errors: "0" }],
  ])("counts images as volumes that were %s", async (_what, problem, expected) => {
    const before = ({ rpc }: { rpc: string }) => {
      if (rpc === "createContainer" && problem !== undefined) throw new CodedError("unknown", problem);
    };
    const rig = createRuntimeRig({ registry, faults: { before } });
    await rig.sync(makePod({ main: [mounting({}, "model")] }), { volumes: new Map([model]) });
    const counts = Object.entries(expected).map(([what, count]) => [`image_volume_${what}_total`, count]);
    expect(await rig.counted()).toMatchObject({
      ...Object.fromEntries(counts),
      started_pods_total: "1",
      started_pods_errors_total: "0",
      'started_containers_total{container_type="container"}': "1",
    });
  });

  it.each([
    ["1.7.27", {}, "image volumes, which need containerd 2.1 or later"],
    ["v2.1.4", { subPath: "weights" }, "sub paths of image volumes, which need containerd 2.2 or later"],
    ["v2.1.4", { subPathExpr: "$(A)" }, "sub paths of image volumes, which need containerd 2.2 or later"],
  ])("is not made by containerd %s, which would mount something else (%o)", async (version, mount, words) => {
    const rig = createRuntimeRig({ registry, runtimeVersion: () => ({ name: "containerd", version }) });
    const pod = makePod({ main: [mounting(mount, "model")] });
    const { failures } = await rig.sync(pod, { volumes: new Map([model]) });
    const message = `cannot mount volume "model" into container "main": containerd ${version} does not support ${words}`;
    expect(failures.get("main")).toEqual({ reason: "CreateContainerConfigError", message });
    expect(rig.events().filter((event) => event.startsWith("Pull"))).toEqual([]);
  });

  it.each<[string, RuntimeRigOptions, boolean | string]>([
    ["Enabled", { supportsRecursiveReadOnly: () => true }, true],
    ["IfPossible", { supportsRecursiveReadOnly: () => true }, true],
    ["IfPossible", { supportsRecursiveReadOnly: () => false }, false],
    ["IfPossible", {}, false],
    [
      "IfPossible",
      { supportsRecursiveReadOnly: (handler) => handler === "kata", runtimeHandlerOf: async () => "kata" },
      true,
    ],
    [
      "Enabled",
      { supportsRecursiveReadOnly: (handler) => handler === "", runtimeHandlerOf: async () => "kata" },
      "it is not supported by the runtime",
    ],
  ])("is read-only all the way down as the runtime handler can: %s %o %s", async (mode, options, expected) => {
    const rig = createRuntimeRig(options);
    const pod = makePod({ main: [mounting({ readOnly: true, recursiveReadOnly: mode })] });
    const { failures } = await rig.sync(pod, { volumes: new Map([data()]) });
    if (typeof expected === "boolean") {
      expect(mountsOf(rig)).toMatchObject([{ readonly: true, recursiveReadOnly: expected }]);
    } else {
      const asked = 'volume "data" requested recursive read-only mode';
      const message = `failed to resolve recursive read-only mode: ${asked}, but ${expected}`;
      expect(failures.get("main")).toEqual({ reason: "CreateContainerConfigError", message });
    }
  });
});
