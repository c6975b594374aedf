import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeRuntime } from "../../../src/cluster/containerd/remove-runtime.ts";
import { claimNetwork, claimPort } from "../../machine/claims.ts";
import type { StatusReport } from "../node-under-test.ts";
import { shellPod } from "../pods.ts";
import { runProgram } from "../program.ts";

const LIMIT_MS = 90_000;

describe("the names of a cluster of nodelet up", () => {
  let directory: string;
  let state: string;
  beforeAll(async () => {
    const { bridge, podCidr, serviceCidr } = await claimNetwork();
    const dns = serviceCidr.replace(/\.0\/24$/, ".10");
    directory = await mkdtemp(join(tmpdir(), "nodelet-e2e-"));
    state = join(directory, "state");
    const manifests = join(directory, "manifests");
    await mkdir(manifests);
    // The resolver of wget follows the search path; nslookup asks for exactly this name.
    const script = [
      `grep "^nameserver ${dns}$" /etc/resolv.conf`,
      "until nslookup kubernetes.default.svc.cluster.local; do sleep 1; done",
      "until wget -q -O /dev/null http://kube-dns.kube-system:9153/metrics; do sleep 1; done",
    ].join(" && ");
    await writeFile(
      join(manifests, "names.json"),
      JSON.stringify(shellPod("names", script, { restartPolicy: "Never" })),
    );
    const { code, stderr } = await runProgram(
      ...["up", "--detach", "--state-dir", state, "--manifests", manifests, "--healthz-port", "0"],
      ...["--bridge", bridge, "--pod-cidr", podCidr, "--service-cidr", serviceCidr],
      ...["--api-port", String(await claimPort()), "--kubelet-arg=--fail-swap-on=false"],
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  }, LIMIT_MS);
  afterAll(async () => {
    await runProgram("down", "--pods", "--state-dir", state);
    await removeRuntime(join(state, "containerd"));
    await rm(directory, { recursive: true, force: true });
  }, LIMIT_MS);

  it(
    "are resolved by its pods, by their search path too",
    async () => {
      const readPhase = async () => {
        const { stdout } = await runProgram("status", "-o", "json", "--state-dir", state);
        const { pods }: StatusReport = JSON.parse(stdout);
        return pods[0]?.status?.phase;
      };
      await expect.poll(readPhase, { timeout: LIMIT_MS, interval: 500 }).toBe("Succeeded");
    },
    LIMIT_MS + 30_000,
  );
});
