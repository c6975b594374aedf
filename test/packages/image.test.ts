import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { removeRuntime } from "../../src/cluster/containerd/remove-runtime.ts";
import type { StatusReport } from "../e2e/node-under-test.ts";
import { claimNetwork, claimPort } from "../machine/claims.ts";
import { OUTPUT } from "./build-packages.ts";

const LIMIT_MS = 600_000;

let directory: string;
let state: string;
let program: string;
let image: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "nodelet-image-"));
  state = join(directory, "state");
  const find = async (form: RegExp) => join(OUTPUT, (await readdir(OUTPUT)).find((name) => form.test(name)) ?? "");
  program = await find(/^nodelet-[^-]+-linux-[a-z0-9]+$/);
  image = await find(/^nodelet-image-.*\.tar$/);
  await mkdir(join(directory, "manifests"));
  const { bridge, podCidr, serviceCidr } = await claimNetwork();
  run(
    ...["up", "--detach", "--manifests", join(directory, "manifests"), "--healthz-port", "0", "--bridge", bridge],
    ...["--pod-cidr", podCidr, "--service-cidr", serviceCidr, "--api-port", `${await claimPort()}`],
    "--kubelet-arg=--fail-swap-on=false",
  );
});
afterAll(async () => {
  run("down", "--pods", "--now");
  await removeRuntime(join(state, "containerd"));
  await rm(directory, { recursive: true, force: true });
});

it("is loaded by the executable's own node, and is the API server of a pod there", async () => {
  const { version }: { version: string } = JSON.parse(await readFile("package.json", "utf8"));
  expect(run("images", "load", image)).toContain(`loaded localhost/nodelet/nodelet:${version}`);
  const main = {
    name: "main",
    image: `localhost/nodelet/nodelet:${version}`,
    args: ["control-plane", "--state-dir", "/var/lib/nodelet", "--api-address", "0.0.0.0"],
    readinessProbe: { httpGet: { path: "/readyz", port: 6443, scheme: "HTTPS" }, periodSeconds: 1 },
    securityContext: { runAsUser: 65_534, runAsNonRoot: true, allowPrivilegeEscalation: false },
    volumeMounts: [{ name: "state", mountPath: "/var/lib/nodelet" }],
  };
  const spec = {
    securityContext: { fsGroup: 65_534 },
    containers: [main],
    volumes: [{ name: "state", emptyDir: {} }],
  };
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "api" }, spec };
  await writeFile(join(directory, "manifests/api.json"), JSON.stringify(pod));
  const readReady = () => {
    const { pods }: StatusReport = JSON.parse(run("status", "-o", "json"));
    return pods[0]?.status?.conditions?.find(({ type }) => type === "Ready")?.status;
  };
  await expect.poll(readReady, { timeout: LIMIT_MS }).toBe("True");
});

function run(...words: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, [...words, "--state-dir", state], {
    encoding: "utf8",
    timeout: LIMIT_MS,
  });
  if (status !== 0) throw new Error(`${words[0]} ended with ${status}: ${stdout}${stderr}`);
  return stdout;
}
