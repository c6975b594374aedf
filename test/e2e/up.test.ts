import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { typed } from "../../src/api/object.ts";
import { removeRuntime } from "../../src/cluster/containerd/remove-runtime.ts";
import { findProcesses, readProcessIdentity } from "../../src/cluster/processes/process-identity.ts";
import { runCommand } from "../../src/cluster/processes/run-command.ts";
import { createApiClient } from "../contract/api/client.ts";
import { credentialsOf } from "../contract/api/credentials-of.ts";
import { createAnotherMachine } from "../machine/another-machine.ts";
import { claimNetwork, claimPort } from "../machine/claims.ts";
import type { StatusReport } from "./node-under-test.ts";
import { RUN_FOR_EVER, shellPod } from "./pods.ts";
import { runProgram, startProgram } from "./program.ts";

/** Prints the status of the answer, or the code of the failure. The certificate is the node's own. */
const ASK_STATUS = `require("node:https").get(process.argv[1], { rejectUnauthorized: false, timeout: 5000 },
  (answer) => { process.stdout.write(String(answer.statusCode)); process.exit(); },
).on("timeout", function () { this.destroy(Object.assign(new Error(), { code: "no answer" })); })
 .on("error", ({ code }) => process.stdout.write(code))`;

const { bridge: BRIDGE, podCidr: POD_CIDR, serviceCidr: SERVICE_CIDR } = await claimNetwork();

describe("nodelet up, status and down, as a user runs them", () => {
  let directory: string;
  let state: string;
  let manifests: string;
  let apiPort: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "nodelet-e2e-"));
    state = join(directory, "state");
    manifests = join(directory, "manifests");
    apiPort = String(await claimPort());
    await mkdir(manifests);
    // As a user who sees what is for all to see only.
    const script = `ls / > /dev/null || exit 1; echo web says hello; ${RUN_FOR_EVER}`;
    const pod = shellPod("web", script, {}, { securityContext: { runAsUser: 65_534 } });
    await writeFile(join(manifests, "web.json"), JSON.stringify(pod));
    const done = shellPod("done", "exit 0", { restartPolicy: "Never" });
    await writeFile(join(manifests, "done.json"), JSON.stringify(done));
  });
  afterAll(async () => {
    await runProgram("down", "--pods", "--state-dir", state);
    await removeRuntime(join(state, "containerd"));
    await rm(directory, { recursive: true, force: true });
  });

  const upWords = (...more: string[]) => [
    ...["up", "--state-dir", state, "--manifests", manifests, "--healthz-port", "0", "--bridge", BRIDGE],
    ...["--pod-cidr", POD_CIDR, "--service-cidr", SERVICE_CIDR, "--kubelet-arg=--fail-swap-on=false"],
    ...["--api-port", apiPort, ...more],
  ];
  const up = async (...more: string[]) => await runProgram(...upWords("--detach", ...more));
  const run = async (...args: string[]) => await runProgram(...args, "--state-dir", state);
  const readReport = async (): Promise<StatusReport> => JSON.parse((await run("status", "-o", "json")).stdout);
  const readApi = async () => createApiClient(credentialsOf(await readFile(join(state, "kubeconfig"), "utf8")));
  /** What tells a container from one that took its place. */
  const readWeb = async () => {
    const { pods } = await readReport();
    const web = pods.find(({ metadata }) => metadata?.name?.startsWith("web-"));
    const [main] = web?.status?.containerStatuses ?? [];
    return {
      phase: web?.status?.phase,
      id: main?.containerID,
      restarts: main?.restartCount,
      since: main?.state?.running,
    };
  };
  const readPid = async (file: string) => Number((await readFile(join(state, file), "utf8")).split(/\s/)[0]);
  const processes = async () => await findProcesses((args) => args.some((argument) => argument.includes(directory)));
  let web: Awaited<ReturnType<typeof readWeb>>;

  it("returns when the pods of the manifests are there", async () => {
    const { code, stdout, stderr } = await up();
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout).toMatch(/web-\S+ .*Running/);
    // It ends at once, but may be seen before it has.
    expect(stdout).toMatch(/done-\S+ .*(Running|Completed)/);
    const readDone = async () => (await readReport()).pods.find(({ metadata }) => metadata?.name?.startsWith("done-"));
    await expect.poll(async () => (await readDone())?.status?.phase, { timeout: 20_000 }).toBe("Succeeded");
    web = await readWeb();
    expect(web).toMatchObject({ phase: "Running", restarts: 0 });
  });

  it("shows the node and its pods", async () => {
    const { code, stdout } = await run("status");
    expect(code).toBe(0);
    expect(stdout).toMatch(/Node .*containerd/);
    expect(stdout).toMatch(/Ready +True/);
    expect(stdout).toMatch(/web-\S+ +1\/1 +Running/);
    const { node, pods } = await readReport();
    expect(node.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
    expect(pods).toHaveLength(2);
  });

  it("is quick and changes nothing when it runs already", async () => {
    const { code, stdout } = await up();
    expect(code).toBe(0);
    expect(stdout).toMatch(/runs already/);
    expect(await readWeb()).toEqual(web);
  });

  it.each([
    ["node agent", "agent.pid"],
    ["containerd", "containerd/containerd.pid"],
    ["control plane", "control-plane.pid"],
  ])("starts its %s again when that is killed; pods run on", async (_what, file) => {
    const pid = await readPid(file);
    process.kill(pid, "SIGKILL");
    const isAnew = async () => (await readPid(file).catch(() => pid)) !== pid;
    await expect.poll(isAnew, { timeout: 20_000 }).toBe(true);
    await expect.poll(async () => await readWeb().catch(() => undefined), { timeout: 20_000 }).toEqual(web);
    await writeFile(join(manifests, "late.json"), JSON.stringify(shellPod("late", RUN_FOR_EVER)));
    expect((await up()).code).toBe(0);
    await rm(join(manifests, "late.json"));
    await expect.poll(async () => (await readReport()).pods.length, { timeout: 20_000 }).toBe(2);
  });

  it("serves a Kubernetes API beside the node, which forgets nothing when it is killed", async () => {
    const api = await readApi();
    const made = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "kept" }, data: { a: "1" } };
    await api.object("POST", "/api/v1/namespaces/default/configmaps", made);
    const pid = await readPid("control-plane.pid");
    process.kill(pid, "SIGKILL");
    const readKept = async () =>
      await api.object("GET", "/api/v1/namespaces/default/configmaps/kept").catch(() => null);
    await expect.poll(async () => (await readPid("control-plane.pid").catch(() => pid)) !== pid).toBe(true);
    await expect.poll(readKept, { timeout: 20_000 }).toMatchObject(made);
    expect((await run("status")).stdout).toContain(`export KUBECONFIG=${join(state, "kubeconfig")}`);
    expect((await stat(join(state, "kubeconfig"))).mode & 0o777).toBe(0o600);
    api.close();
  });

  it("gives the node the addresses that its pods come from", async () => {
    const api = await readApi();
    const { items } = await api.list("/api/v1/nodes");
    expect(items.map(({ spec }) => spec)).toMatchObject([{ podCIDR: POD_CIDR, podCIDRs: [POD_CIDR] }]);
    api.close();
  });

  it("lets its API reach the node", async () => {
    const api = await readApi();
    const { items } = await api.list("/api/v1/namespaces/default/pods");
    const web = items.find(({ metadata }) => metadata.name?.startsWith("web-"))?.metadata.name ?? "";
    const log = async () => await api.json("GET", `/api/v1/namespaces/default/pods/${web}/log`);
    await expect.poll(log, { timeout: 20_000 }).toMatchObject({ status: 200, body: "web says hello\n" });
    const [node] = (await api.list("/api/v1/nodes")).items;
    const health = await api.json("GET", `/api/v1/nodes/${node?.metadata.name}/proxy/healthz`);
    expect(health).toMatchObject({ status: 200, body: "ok" });
    api.close();
  });

  it("serves the node's API to this machine and its pods, and to no other machine", async () => {
    const api = await readApi();
    const [found] = (await api.list("/api/v1/nodes")).items;
    const node = found && typed("Node", found);
    api.close();
    const address = node?.status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? "";
    const port = node?.status?.daemonEndpoints?.kubeletEndpoint?.Port;
    const ask = ["-e", ASK_STATUS, `https://${address}:${port}/metrics`];
    const [pod] = await findProcesses((args) => args.some((argument) => argument.includes("echo web says hello")));
    expect(await runCommand("nsenter", ["--target", `${pod?.pid}`, "--net", process.execPath, ...ask])).toBe("401");
    expect(await runCommand(process.execPath, ask)).toBe("401");
    const stranger = await createAnotherMachine();
    try {
      expect(await stranger.run(process.execPath, ...ask)).toBe("ECONNRESET");
    } finally {
      await stranger.remove();
    }
  });

  it("stops and leaves the pods running, and takes them up again", async () => {
    const { code, stdout } = await run("down");
    expect(code).toBe(0);
    expect(stdout).toMatch(/pods? runs? on/);
    const status = await run("status");
    expect(status).toMatchObject({ code: 1, stderr: expect.stringMatching(/does not run.*runs? on/s) });
    expect((await up()).code).toBe(0);
    expect(await readWeb()).toEqual(web);
  });

  it("ends at a second signal with all that it started, also what hangs; the pods run on", async () => {
    const others = ["control-plane.pid", "containerd/containerd.pid", "proxy.pid", "dns.pid"];
    const pids = await Promise.all(["supervisor.lock", ...others].map(readPid));
    const [supervisor = 0, controlPlane = 0] = pids;
    process.kill(controlPlane, "SIGSTOP");
    process.kill(supervisor, "SIGTERM");
    await expect.poll(() => existsSync(join(state, "agent.pid"))).toBe(false);
    process.kill(supervisor, "SIGTERM");
    const alive = async () => (await Promise.all(pids.map(readProcessIdentity))).filter((one) => one !== undefined);
    await expect.poll(alive, { timeout: 8_000 }).toEqual([]);
  });

  it("goes on when nobody reads it any more, and stops all that it started, as after `up | tee` and Ctrl-C", async () => {
    const { child, result, output } = startProgram(...upWords());
    await expect.poll(output).toMatch(/default\/web-.* Running/);
    for (const stream of [child.stdout, child.stderr]) stream?.destroy();
    child.kill("SIGINT");
    expect((await result).code).toBe(0);
    expect((await readdir(state)).filter((name) => name.endsWith(".pid"))).toEqual([]);
    expect((await up()).code).toBe(0);
    expect(await readWeb()).toEqual(web);
  });

  it("says why it cannot bring a pod up, with exit code 1, and runs on", async () => {
    const bad = shellPod("bad", "x", {}, { image: "localhost/none:1", imagePullPolicy: "Never" });
    await writeFile(join(manifests, "bad.json"), JSON.stringify(bad));
    const { code, stderr } = await up();
    expect(code).toBe(1);
    expect(stderr).toMatch(/bad-\S+ is ErrImageNeverPull: .*localhost\/none:1/);
    await rm(join(manifests, "bad.json"));
    expect(await readWeb()).toEqual(web);
  });

  it("removes everything with the pods: processes, mounts, network", async () => {
    const { code, stdout, stderr } = await run("down", "--pods");
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout).toMatch(/No pod runs any more/);
    expect((await processes()).map(({ pid }) => pid)).toEqual([]);
    expect(await readFile("/proc/self/mountinfo", "utf8")).not.toContain(directory);
    expect(await runCommand("ip", ["-o", "link"])).not.toContain(BRIDGE);
    expect(await runCommand("iptables", ["-w", "-t", "nat", "-S"])).not.toContain(POD_CIDR);
    for (const table of ["raw", "filter"])
      expect(await runCommand("iptables", ["-w", "-t", table, "-S"])).not.toContain(BRIDGE);
    const links = existsSync("/var/log/containers") ? await readdir("/var/log/containers") : [];
    // The directory is every kubelet's: only our container counts.
    const id = web.id?.replace(/^.*:\/\//, "") ?? "none";
    expect(links.filter((name) => name.includes(id))).toEqual([]);
    expect(await run("status")).toMatchObject({ code: 1 });
    expect(await run("down")).toMatchObject({ code: 0 });
  });

  it("judges the machine", async () => {
    const words = await run("doctor");
    expect(words.stdout).toMatch(/This machine (can|cannot) run pods/);
    expect(words.stdout).toMatch(/inotify +\d+ of root's \d+ instances in use/);
    const json = await run("doctor", "-o", "json");
    expect(json.code).toBe(words.code);
    const verdict: { ok: boolean; findings: Array<{ check: string; level: string }> } = JSON.parse(json.stdout);
    expect(verdict.ok).toBe(json.code === 0);
    expect(verdict.findings.length).toBeGreaterThan(5);
  });

  it("refuses flags that are none, with a hint", async () => {
    expect(await run("up", "--no-such-flag")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("--no-such-flag"),
    });
  });
});
