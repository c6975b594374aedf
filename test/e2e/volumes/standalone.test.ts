import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEMO_IMAGE } from "../../../src/cluster/images/image-references.ts";
import { createNodeUnderTest, type NodeUnderTest } from "../node-under-test.ts";
import { isRunning } from "../pods.ts";
import { readRunningContainers } from "../runtime-state.ts";
import { createVolumeHost, mountingPod, type VolumeHost } from "./volume-node.ts";

/** As people write it: modes in octal, which YAML 1.2 would read as decimal. */
const OCTAL = `
apiVersion: v1
kind: Pod
metadata:
  name: octal
  labels: { tier: front }
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - name: main
      image: ${DEMO_IMAGE}
      command: [sh, -c, "trap 'exit 0' TERM; sleep 100000 & wait"]
      volumeMounts: [{ name: v, mountPath: /v }]
  volumes:
    - name: v
      downwardAPI:
        defaultMode: 0640
        items:
          - { path: name, fieldRef: { fieldPath: metadata.name } }
          - { path: deep/tier, fieldRef: { fieldPath: "metadata.labels['tier']" }, mode: 0400 }
`;

describe("volumes of a node without a cluster", () => {
  let node: NodeUnderTest;
  let host: VolumeHost;
  beforeAll(async () => {
    node = await createNodeUnderTest();
    host = await createVolumeHost(node);
    await node.start();
  });
  afterAll(async () => await node?.destroy());

  const shell = async (pod: string, script: string): Promise<string> => {
    const found = (await readRunningContainers(node)).find((container) => container.pod === `${pod}-e2e`);
    const containerId = found?.id ?? "";
    const request = { containerId, cmd: ["sh", "-c", script], timeout: 10n };
    const { stdout, stderr, exitCode } = await node.cri.runtime.execSync(request);
    if (exitCode !== 0) throw new Error(Buffer.from(stderr).toString("utf8"));
    return Buffer.from(stdout).toString("utf8");
  };
  const end = async (name: string): Promise<string[]> => {
    const { metadata } = await node.pod(name, () => true);
    await node.remove(`${name}.yaml`);
    await node.gone(name);
    return await host.leftovers(metadata?.uid ?? "");
  };

  it("show the pod's own fields with the modes that its YAML has", async () => {
    await node.write("octal.yaml", OCTAL);
    await node.pod("octal", isRunning);
    const script = "cd /v; stat -L -c '%a' name deep/tier; cat name; echo; cat deep/tier";
    expect(await shell("octal", script)).toBe("640\n400\noctal-e2e\nfront");
    expect(await end("octal")).toEqual([]);
  });

  it("are disk, memory and the host's, whole and in part", async () => {
    const shared = join(host.scratch, "shared");
    await mkdir(join(shared, "a"), { recursive: true });
    await writeFile(join(shared, "a/file"), "of the host\n");
    const pod = mountingPod("kinds", {
      volumes: {
        disk: { emptyDir: {} },
        memory: { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } },
        host: { hostPath: { path: shared, type: "Directory" } },
      },
      mounts: [
        { name: "disk", subPath: "new/deep" },
        { name: "memory" },
        { name: "host", subPath: "a/file", mountPath: "/file" },
        { name: "host", subPathExpr: "$(DIR)", mountPath: "/expr" },
      ],
      container: { env: [{ name: "DIR", value: "a" }] },
    });
    await node.write("kinds.yaml", pod);
    const { metadata } = await node.pod("kinds", isRunning);
    const script =
      "echo x > /disk/x; df -k /memory | awk 'NR == 2 { print $2 }'; cat /file; echo 2 >> /expr/file; cat /file";
    expect(await shell("kinds", script)).toBe("1024\nof the host\nof the host\n2\n");
    const disk = join(host.podDirectory(metadata?.uid ?? ""), "volumes/kubernetes.io~empty-dir/disk");
    expect(await readFile(join(disk, "new/deep/x"), "utf8")).toBe("x\n");
    expect(await end("kinds")).toEqual([]);
    expect(await readFile(join(shared, "a/file"), "utf8")).toBe("of the host\n2\n");
  });
});
