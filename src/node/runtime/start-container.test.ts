import { describe, expect, it } from "vitest";
import { createRuntimeRig, makePod } from "./__fixtures__/runtime-rig.ts";

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
