import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../src/api/gen/types.ts";
import { DEMO_IMAGE } from "../../src/cluster/images/image-references.ts";
import { runCommand } from "../../src/cluster/processes/run-command.ts";
import { ContainerConfig, ImageStatusRequest, PodSandboxConfig } from "../../src/cri/gen/cri-v1.ts";
import { createNodeUnderTest, type NodeUnderTest } from "./node-under-test.ts";
import { containerOf, isRunning, shellPod } from "./pods.ts";
import { readReadySandboxes, readRunningContainers } from "./runtime-state.ts";

interface Recording {
  pod: Pod;
  sandbox: { annotations: Record<string, string> };
  containers: Array<{ config: { command: string[]; annotations: Record<string, string> } }>;
}

const RECORDING = new URL("../golden/cri/pods/minimal.json", import.meta.url);
const HASH = "io.kubernetes.container.hash";

/** What a Go kubelet asked of its runtime for a pod, as the golden files record it. */
function readRecording() {
  const recording: Recording = JSON.parse(readFileSync(RECORDING, "utf8"));
  const { pod, sandbox, containers } = recording;
  const [container] = containers;
  const [spec] = pod.spec?.containers ?? [];
  if (container === undefined || spec === undefined) throw new Error("the recording has no container");
  return { sandboxAnnotations: sandbox.annotations, config: container.config, container: spec };
}

describe("pods that another kubelet left behind", () => {
  const recording = readRecording();
  let node: NodeUnderTest;
  beforeAll(async () => {
    node = await createNodeUnderTest();
    // The image under the name that the recorded pod, and so its hash, has.
    const socket = node.containerd.endpoint.replace("unix://", "");
    const image = recording.container.image ?? "";
    await runCommand("ctr", ["--address", socket, "--namespace", "k8s.io", "images", "tag", DEMO_IMAGE, image]);
  });
  afterAll(async () => await node?.destroy());

  /** A sandbox with a running container, made past the node agent. */
  const leaveBehind = async (name: string, uid: string, options: { hash?: string; attempt?: number } = {}) => {
    const { hash = recording.config.annotations[HASH] ?? "", attempt = 0 } = options;
    const labels = {
      "io.kubernetes.pod.name": name,
      "io.kubernetes.pod.namespace": "default",
      "io.kubernetes.pod.uid": uid,
    };
    const logDirectory = join(node.directory, "pods", `default_${name}_${uid}`);
    await mkdir(join(logDirectory, "main"), { recursive: true });
    const sandboxConfig = PodSandboxConfig.fromPartial({
      metadata: { name, namespace: "default", uid, attempt: 0 },
      hostname: name,
      logDirectory,
      labels,
      annotations: { ...recording.sandboxAnnotations, "kubernetes.io/config.source": "file" },
      linux: { securityContext: { namespaceOptions: { pid: 1 } } },
    });
    const { runtime, images } = node.cri;
    const { podSandboxId } = await runtime.runPodSandbox({ config: sandboxConfig, runtimeHandler: "" });
    const { image } = await images.imageStatus(ImageStatusRequest.fromPartial({ image: { image: DEMO_IMAGE } }));
    const annotations = {
      ...recording.config.annotations,
      [HASH]: hash,
      "io.kubernetes.container.restartCount": `${attempt}`,
    };
    const config = ContainerConfig.fromPartial({
      metadata: { name: "main", attempt },
      image: { image: image?.id ?? "" },
      command: recording.config.command,
      labels: { ...labels, "io.kubernetes.container.name": "main" },
      annotations,
      logPath: `main/${attempt}.log`,
      linux: { securityContext: { namespaceOptions: { pid: 1 } } },
    });
    const { containerId } = await runtime.createContainer({ podSandboxId, config, sandboxConfig });
    await runtime.startContainer({ containerId });
    return { podSandboxId, containerId };
  };
  const manifestOf = (name: string, uid: string) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, uid },
    spec: { terminationGracePeriodSeconds: 1, containers: [recording.container] },
  });

  it("runs on with the containers whose recorded hash is that of the manifest", async () => {
    const [first, second] = ["8f2f8e04-7ab5-4ba2-b5a6-9e04d8f6a001", "8f2f8e04-7ab5-4ba2-b5a6-9e04d8f6a002"];
    await leaveBehind("same-e2e", first);
    await leaveBehind("fourth-e2e", second, { attempt: 3 });
    await node.write("same.json", manifestOf("same", first));
    await node.write("fourth.json", manifestOf("fourth", second));
    const before = await readRunningContainers(node);
    await node.start();
    const same = await node.pod("same", isRunning);
    const fourth = await node.pod("fourth", isRunning);
    expect(containerOf(same, "main")).toMatchObject({ restartCount: 0, ready: true });
    expect(containerOf(fourth, "main")).toMatchObject({ restartCount: 3, ready: true });
    expect(await readRunningContainers(node)).toEqual(before);
    expect((await node.events("same")).map(({ reason }) => reason)).not.toContain("Killing");
    await node.stop();
  });

  it("restarts a container whose definition changed meanwhile, in its sandbox, and counts that", async () => {
    const uid = "8f2f8e04-7ab5-4ba2-b5a6-9e04d8f6a003";
    const { podSandboxId, containerId } = await leaveBehind("changed-e2e", uid, { hash: "deadbeef", attempt: 2 });
    await node.write("changed.json", manifestOf("changed", uid));
    await node.start();
    const pod = await node.pod("changed", (pod) => containerOf(pod, "main")?.restartCount === 3 && isRunning(pod));
    expect(containerOf(pod, "main")?.containerID).not.toContain(containerId);
    expect(await readReadySandboxes(node, uid)).toEqual([podSandboxId]);
    const messages = (await node.events("changed")).map(({ message }) => message);
    expect(messages).toContain("Container main definition changed, will be restarted");
    await node.stop();
  });

  it("tears down what no manifest names, and leaves alone what is not Kubernetes'", async () => {
    const uid = "8f2f8e04-7ab5-4ba2-b5a6-9e04d8f6a004";
    await leaveBehind("unknown-e2e", uid);
    const config = PodSandboxConfig.fromPartial({
      metadata: { name: "foreign", namespace: "default", uid: "foreign", attempt: 0 },
      labels: { "example.com/owner": "somebody" },
    });
    const foreign = await node.cri.runtime.runPodSandbox({ config, runtimeHandler: "" });
    await node.write("good.json", shellPod("good", "sleep 100000"));
    await node.start();
    await expect.poll(async () => await readReadySandboxes(node, uid), { timeout: 15_000 }).toEqual([]);
    await node.pod("good", isRunning);
    await node.logged(/known to the runtime only/);
    expect(await readReadySandboxes(node, "foreign")).toEqual([foreign.podSandboxId]);
    await node.stop();
  });
});
