import { describe, expect, it } from "vitest";
import { notFoundError } from "../../api/api-error.ts";
import type { Secret } from "../../api/gen/types.ts";
import { createRuntimeRig, makePod } from "./__fixtures__/runtime-rig.ts";
import type { EnvironmentRefs } from "./config/environment-refs.ts";

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
    rig.host.files.intercept(({ operation }) => {
      if (operation === "touch") throw new Error("no space left on device");
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

  it("runs as the image's user at its first start and after each end", async () => {
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
