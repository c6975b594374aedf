import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../../src/cluster/processes/run-command.ts";
import { createNodeUnderTest, type NodeUnderTest } from "./node-under-test.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "./pods.ts";
import { readRunningContainers } from "./runtime-state.ts";

describe("pods that cannot run", () => {
  let node: NodeUnderTest;
  let good: unknown;
  beforeAll(async () => {
    node = await createNodeUnderTest();
    await node.start();
    await node.write("good.json", shellPod("good", RUN_FOR_EVER));
    await node.pod("good", isRunning);
    good = await readRunningContainers(node);
  });
  afterEach(async () => {
    await node.remove("bad.json");
    await node.gone("bad");
    expect(await readRunningContainers(node)).toEqual(good);
  });
  afterAll(async () => await node?.destroy());

  const waitingFor = async (reason: string | RegExp) => {
    const matches = (found = "") => (typeof reason === "string" ? found === reason : reason.test(found));
    const pod = await node.pod("bad", (pod) => matches(containerOf(pod, "main")?.state?.waiting?.reason));
    return containerOf(pod, "main")?.state?.waiting?.message ?? "";
  };
  const warningOf = async (reason: string) => {
    const find = async () => (await node.events("bad")).find((event) => event.reason === reason)?.message;
    await expect.poll(find, { timeout: 10_000 }).toBeDefined();
    return await find();
  };

  it("names an image that is not there and may not be pulled", async () => {
    const container = { image: "localhost/nodelet/none:1", imagePullPolicy: "Never" };
    await node.write("bad.json", shellPod("bad", "x", {}, container));
    expect(await waitingFor("ErrImageNeverPull")).toBe(
      'Container image "localhost/nodelet/none:1" is not present with pull policy of Never',
    );
  });

  it("names an image that cannot be pulled, and backs off", async () => {
    // Nothing listens there.
    const container = { image: "127.0.0.1:1/nodelet/none:1", imagePullPolicy: "IfNotPresent" };
    await node.write("bad.json", shellPod("bad", "x", {}, container));
    expect(await waitingFor(/^(ErrImagePull|ImagePullBackOff)$/)).toMatch(/127\.0\.0\.1:1\/nodelet\/none:1/);
    expect(await waitingFor("ImagePullBackOff")).toMatch(
      /^Back-off pulling image "127\.0\.0\.1:1\/nodelet\/none:1": ErrImagePull: .*refused/,
    );
    expect(await warningOf("Failed")).toMatch(/Failed to pull image "127\.0\.0\.1:1\/nodelet\/none:1".*refused/);
  });

  it("names a command that does not exist, and shows it as kubelet does", async () => {
    await node.write("bad.json", shellPod("bad", "x", {}, { command: ["/no/such/program"] }));
    expect(await waitingFor("RunContainerError")).toMatch(/\/no\/such\/program.*no such file or directory/);
    const pod = await node.pod("bad", (pod) => containerOf(pod, "main")?.lastState?.terminated !== undefined);
    expect(containerOf(pod, "main")?.lastState?.terminated).toMatchObject({ exitCode: 128, reason: "StartError" });
    expect(await warningOf("Failed")).toMatch(/\/no\/such\/program/);
  });

  it("names a host path that is not there", async () => {
    const volumes = [{ name: "data", hostPath: { path: "/no/such/directory", type: "Directory" } }];
    const volumeMounts = [{ name: "data", mountPath: "/data" }];
    await node.write("bad.json", shellPod("bad", "x", { volumes }, { volumeMounts }));
    expect(await warningOf("FailedMount")).toBe(
      'MountVolume.SetUp failed for volume "data" : hostPath /no/such/directory doesn\'t exist',
    );
  });

  it("refuses what this version does not do, by the field's name", async () => {
    const cephfs = { monitors: ["127.0.0.1"] };
    await node.write("bad.json", shellPod("bad", "x", { volumes: [{ name: "disk", cephfs }] }));
    const pod = await node.pod("bad", ({ status }) => status?.phase === "Failed");
    expect(pod.status?.reason).toBe("UnsupportedFeature");
    expect(pod.status?.message).toMatch(/volume "disk": the volume kind cephfs was removed from Kubernetes/);
  });

  it("refuses to run a root image as non-root", async () => {
    const container = { securityContext: { runAsNonRoot: true } };
    await node.write("bad.json", shellPod("bad", "x", {}, container));
    expect(await waitingFor("CreateContainerConfigError")).toMatch(
      /container has runAsNonRoot and image will run as root/,
    );
  });

  it("names a sysctl that is not allowed", async () => {
    const securityContext = { sysctls: [{ name: "kernel.msgmax", value: "1" }] };
    await node.write("bad.json", shellPod("bad", "x", { securityContext }));
    const pod = await node.pod("bad", ({ status }) => status?.phase === "Failed");
    expect(pod.status).toMatchObject({ reason: "SysctlForbidden", message: expect.stringContaining("kernel.msgmax") });
  });

  it("says on the pod that the disk is full, and runs it once there is room", async () => {
    // Where the agent and containerd see it: they may have a mount namespace of their own.
    const inNamespace = async (...command: string[]) => {
      const [program = "", ...args] = [...node.containerd.enterMountNamespace, ...command];
      await runCommand(program, args);
    };
    const podsDirectory = join(node.directory, "kubelet/pods");
    await inNamespace("mount", "-t", "tmpfs", "-o", "size=64k,nr_inodes=3", "tmpfs", podsDirectory);
    try {
      await node.write("bad.json", shellPod("bad", RUN_FOR_EVER));
      expect(await warningOf("FailedMount")).toMatch(/ENOSPC|no space left/);
      await inNamespace("mount", "-o", "remount,size=1m,nr_inodes=100", podsDirectory);
      await node.pod("bad", isRunning, 40_000);
    } finally {
      await node.write("bad.json", "{}").catch(() => undefined);
      await node.remove("bad.json");
      await node.gone("bad");
      await inNamespace("umount", "--lazy", podsDirectory);
      await node.write("bad.json", "{}");
    }
  });

  it("says on the pod that its log directory cannot be made", async () => {
    const logs = join(node.directory, "pods");
    const uid = "8f2f8e04-7ab5-4ba2-b5a6-9e04d8f6b001";
    await writeFile(join(logs, `default_bad-e2e_${uid}`), "in the way");
    await chmod(logs, 0o500);
    await node.write("bad.json", { ...shellPod("bad", "x"), metadata: { name: "bad", uid } });
    expect(await warningOf("FailedCreatePodSandBox")).toMatch(new RegExp(`default_bad-e2e_${uid}`));
  });
});
