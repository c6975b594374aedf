import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { DEMO_IMAGE } from "../../../src/cluster/images/image-references.ts";
import { clusterServersUnderTest } from "../../clusters/cluster-servers.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { type ClusterNode, createClusterNode } from "./cluster-node.ts";

const SERVERS = await clusterServersUnderTest();

const waitsWith = (reason: string) => (pod: Pod) => containerOf(pod, "main")?.state?.waiting?.reason === reason;
/** The capabilities that containers have by default. */
const USUAL_CAPABILITIES = "00000000a80425fb";
/** What a privileged container gets is what its runtime has, and that was started from here. */
const OWN_CAPABILITIES = /^CapEff:\t(\w+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "unknown";

describe.each(SERVERS)("how pods are confined, on $name", (server) => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode({ server, configuration: { allowedUnsafeSysctls: ["kernel.msg*"] } });
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  const run = async (name: string, container: object, spec: object = {}): Promise<void> => {
    await world.create(shellPod(name, RUN_FOR_EVER, spec, container));
    await world.pod(name, isRunning);
  };
  /** Fields of the container's first process, as the kernel has them. */
  const processOf = async (name: string): Promise<Record<string, string>> => {
    const text = await world.exec(name, ["cat", "/proc/1/status"]);
    const lines = text.split("\n").map((line) => line.split(":\t"));
    return Object.fromEntries(lines.map(([field = "", value = ""]) => [field, value.trim().replaceAll(/\s+/g, " ")]));
  };

  it.concurrent.each([
    ["plain", {}, {}, { Uid: "0 0 0 0", Gid: "0 0 0 0", CapEff: USUAL_CAPABILITIES, NoNewPrivs: "0" }],
    [
      "user",
      { securityContext: { runAsUser: 1234, runAsGroup: 2345 } },
      { securityContext: { runAsUser: 1, supplementalGroups: [77], fsGroup: 88 } },
      { Uid: "1234 1234 1234 1234", Gid: "2345 2345 2345 2345", Groups: expect.stringMatching(/\b77 88\b/) },
    ],
    ["pod-user", {}, { securityContext: { runAsUser: 4321, runAsNonRoot: true } }, { Uid: "4321 4321 4321 4321" }],
    ["dropped", { securityContext: { capabilities: { drop: ["ALL"] } } }, {}, { CapEff: "0000000000000000" }],
    [
      "added",
      { securityContext: { capabilities: { drop: ["ALL"], add: ["NET_ADMIN"] } } },
      {},
      { CapEff: "0000000000001000" },
    ],
    ["no-gain", { securityContext: { allowPrivilegeEscalation: false } }, {}, { NoNewPrivs: "1" }],
    ["unconfined", { securityContext: { seccompProfile: { type: "Unconfined" } } }, {}, { Seccomp: "0" }],
    ["default", { securityContext: { seccompProfile: { type: "RuntimeDefault" } } }, {}, { Seccomp: "2" }],
    ["pod-default", {}, { securityContext: { seccompProfile: { type: "RuntimeDefault" } } }, { Seccomp: "2" }],
    ["privileged", { securityContext: { privileged: true } }, {}, { Seccomp: "0", CapEff: OWN_CAPABILITIES }],
  ])("runs with the privileges asked for: %s", async (name, container, spec, fields) => {
    await run(name, container, spec);
    expect(await processOf(name)).toMatchObject(fields);
  });

  it.concurrent("runs on a root file system that cannot be written, where that is asked for", async () => {
    await run("read-only", { securityContext: { readOnlyRootFilesystem: true } });
    await expect(world.shell("read-only", "echo x > /x")).rejects.toThrow("Read-only file system");
    await run("writable", {});
    expect(await world.shell("writable", "echo x > /x; cat /x")).toBe("x\n");
  });

  it.concurrent.each([
    ["image-root", {}, "container has runAsNonRoot and image will run as root"],
    ["asked-root", { runAsUser: 0 }, "container's runAsUser breaks non-root policy"],
  ])("does not run as root where that must not be: %s", async (name, context, why) => {
    const securityContext = { runAsNonRoot: true, ...context };
    await world.create(shellPod(name, RUN_FOR_EVER, {}, { securityContext }));
    const pod = await world.pod(name, waitsWith("CreateContainerConfigError"));
    const message = `${why} (pod: "${name}_default(${pod.metadata?.uid})", container: main)`;
    expect(containerOf(pod, "main")?.state?.waiting?.message).toBe(message);
    await world.event(name, { type: "Warning", reason: "Failed", message: `Error: ${message}` });
  });

  it.concurrent("does not run with a profile that is not there", async () => {
    const seccompProfile = { type: "Localhost", localhostProfile: "absent.json" };
    await world.create(shellPod("no-profile", RUN_FOR_EVER, {}, { securityContext: { seccompProfile } }));
    const pod = await world.pod("no-profile", waitsWith("CreateContainerError"));
    expect(containerOf(pod, "main")?.state?.waiting?.message).toMatch(/seccomp\/absent\.json/);
  });

  it.concurrent("sets sysctls that are safe or allowed, and refuses the others for good", async () => {
    const sysctls = [
      { name: "net.ipv4.ip_unprivileged_port_start", value: "80" },
      { name: "kernel.msgmax", value: "65000" },
    ];
    await run("sysctls", {}, { securityContext: { sysctls } });
    const files = ["/proc/sys/net/ipv4/ip_unprivileged_port_start", "/proc/sys/kernel/msgmax"];
    expect(await world.exec("sysctls", ["cat", ...files])).toBe("80\n65000\n");
    const unsafe = { securityContext: { sysctls: [{ name: "kernel.shm_next_id", value: "1" }] } };
    await world.create(shellPod("unsafe", RUN_FOR_EVER, unsafe));
    const { status } = await world.pod("unsafe", ({ status }) => status?.phase === "Failed");
    expect(status).toMatchObject({
      reason: "SysctlForbidden",
      message: expect.stringContaining('forbidden sysctl: "kernel.shm_next_id" not allowlisted'),
    });
    await world.event("unsafe", { type: "Warning", reason: "SysctlForbidden" });
    await world.remove("unsafe");
    await world.gone("unsafe");
  });

  it.concurrent("runs pods by the handler of their class, and not at all without it", async () => {
    const runtimeClass = (name: string, handler: string) => ({
      apiVersion: "node.k8s.io/v1",
      kind: "RuntimeClass",
      metadata: { name },
      handler,
      ...(name === "runc" && { overhead: { podFixed: { cpu: "10m", memory: "16Mi" } } }),
    });
    await world.cluster.apply(runtimeClass("runc", "runc"), runtimeClass("absent", "no-such-handler"));
    await run("with-class", {}, { runtimeClassName: "runc" });
    expect((await world.read("with-class"))?.spec?.overhead).toEqual({ cpu: "10m", memory: "16Mi" });
    await world.create(shellPod("no-handler", RUN_FOR_EVER, { runtimeClassName: "absent" }));
    const event = await world.event("no-handler", { type: "Warning", reason: "FailedCreatePodSandBox" });
    expect(event.message).toMatch(/^Failed to create pod sandbox: .*no-such-handler/);
    await world.api.object("DELETE", "/apis/node.k8s.io/v1/runtimeclasses/runc");
    expect((await world.read("with-class"))?.status?.phase).toBe("Running");
    for (const name of ["no-handler", "with-class"]) await world.remove(name);
    for (const name of ["no-handler", "with-class"]) await world.gone(name);
  });

  it.concurrent("adds an ephemeral container to a running pod, beside a process that it may look at", async () => {
    await run("debugged", {}, { shareProcessNamespace: false });
    const before = containerOf(await world.pod("debugged", isRunning), "main");
    const ephemeral = (name: string, script: string, more: object = {}) => {
      const ephemeralContainers = [{ name, image: DEMO_IMAGE, command: ["sh", "-c", script], ...more }];
      return { spec: { ephemeralContainers } };
    };
    const path = "/api/v1/namespaces/default/pods/debugged/ephemeralcontainers";
    const target = { targetContainerName: "main" };
    await world.api.patch("strategic", path, ephemeral("debug", RUN_FOR_EVER, target));
    const stateOf = ({ status }: Pod, name: string) =>
      status?.ephemeralContainerStatuses?.find((container) => container.name === name)?.state;
    await world.pod("debugged", (pod) => stateOf(pod, "debug")?.running !== undefined);
    expect(await world.exec("debugged", ["cat", "/proc/1/cmdline"], "debug")).toContain("sleep 100000");
    await world.api.patch("strategic", path, ephemeral("short", "exit 4"));
    const ended = await world.pod("debugged", (pod) => stateOf(pod, "short")?.terminated !== undefined);
    expect(stateOf(ended, "short")?.terminated).toMatchObject({ exitCode: 4, reason: "Error" });
    expect(containerOf(ended, "main")).toEqual(before);
    expect(ended.status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True");
    expect(ended.status?.ephemeralContainerStatuses?.map(({ restartCount }) => restartCount)).toEqual([0, 0]);
  });
});

describe.each(SERVERS)("seccompDefault, on $name", (server) => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode({ server, configuration: { seccompDefault: true } });
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  it("confines what asks for nothing", async () => {
    await world.create(shellPod("plain", RUN_FOR_EVER));
    await world.pod("plain", isRunning);
    expect(await world.shell("plain", "grep Seccomp: /proc/1/status")).toMatch(/\t2\n/);
  });
});
