import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claimPort } from "../machine/claims.ts";
import { occupyPort, runProgram, startProgram } from "./program.ts";

describe("nodelet kubelet on the command line", () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "nodelet-e2e-"));
  });
  afterAll(async () => await rm(directory, { recursive: true, force: true }));

  const writeConfig = async (content: string | object) => {
    const path = join(directory, "kubelet.yaml");
    await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  };
  /** Not those of the machine's own kubelet. */
  const places = () => [`--root-dir=${directory}`, `--cert-dir=${directory}/pki`];
  const kind = { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" };

  it("shows its flags, as kubelet's help does, and its version", async () => {
    const help = await runProgram("kubelet", "--help");
    expect(help.code).toBe(0);
    for (const flag of ["--config", "--pod-manifest-path", "--container-runtime-endpoint", "--root-dir", "--v"]) {
      expect(help.stdout).toContain(flag);
    }
    const version = await runProgram("kubelet", "--version");
    expect(version).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Kubernetes v1\.\d+\.\d+/), stderr: "" });
  });

  it.each<[what: string, args: string[], words: RegExp]>([
    ["an unknown flag", ["--no-such-flag=1"], /unknown flag: --no-such-flag/],
    ["a flag's bad value", ["--sync-frequency=soon"], /sync-frequency.*soon/],
    ["a stray word", ["run"], /unknown command run/],
    ["a configuration that is not there", ["--config=/no/such/file"], /\/no\/such\/file/],
    [
      "an endpoint that is none",
      ["--container-runtime-endpoint=ftp://x"],
      /container-?runtime-?endpoint.*ftp:\/\/x|ftp/i,
    ],
    ["a port beyond ports", ["--healthz-port=70000"], /healthz-?port.*70000|healthzPort/i],
  ])("refuses %s: exit code 1 and the reason", async (_what, args, words) => {
    const { code, stderr } = await runProgram("kubelet", ...args);
    expect(code).toBe(1);
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it.each<[what: string, content: string | object, words: RegExp]>([
    ["is no YAML", "a: [1", /kubelet\.yaml/],
    ["is of another kind", { apiVersion: "v1", kind: "Pod" }, /kubelet\.yaml.*kind|KubeletConfiguration/i],
    ["has a wrong type", { ...kind, maxPods: "many" }, /maxPods/],
    ["has a bad duration", { ...kind, syncFrequency: "soon" }, /syncFrequency/],
  ])("refuses a configuration file that %s, naming file or field", async (_what, content, words) => {
    const { code, stderr } = await runProgram("kubelet", `--config=${await writeConfig(content)}`);
    expect(code).toBe(1);
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it("warns of a configuration's unknown field and goes on, as kubelet does", async () => {
    const config = await writeConfig({ ...kind, noSuchField: 1, healthzPort: 0, failSwapOn: false });
    const endpoint = `unix://${directory}/none.sock`;
    const agent = startProgram(
      "kubelet",
      `--config=${config}`,
      `--port=${await claimPort()}`,
      ...places(),
      "--make-iptables-util-chains=false",
      `--container-runtime-endpoint=${endpoint}`,
    );
    await expect.poll(agent.output, { timeout: 30_000 }).toMatch(/is not ready/);
    expect(agent.output()).toMatch(/W.*noSuchField/);
    agent.child.kill("SIGTERM");
    expect((await agent.result).code).toBe(0);
  });

  it("says which server cannot listen, and which flag moves it", async () => {
    const { server, port } = await occupyPort();
    try {
      const { code, stderr } = await runProgram(
        "kubelet",
        `--healthz-port=${port}`,
        `--port=${await claimPort()}`,
        ...places(),
        "--fail-swap-on=false",
        "--make-iptables-util-chains=false",
        `--container-runtime-endpoint=unix://${directory}/none.sock`,
      );
      expect(code).toBe(1);
      expect(stderr).toMatch(new RegExp(`healthz server: .*${port}.*--healthz-port`));
    } finally {
      server.close();
    }
  });

  it("logs JSON, one record a line, and more of them with --v", async () => {
    const readRecords = async (verbosity: number) => {
      const agent = startProgram(
        "kubelet",
        ...places(),
        `--pod-manifest-path=${directory}`,
        `--container-runtime-endpoint=unix://${directory}/none.sock`,
        "--healthz-port=0",
        `--port=${await claimPort()}`,
        "--fail-swap-on=false",
        "--make-iptables-util-chains=false",
        "--logging-format=json",
        `--v=${verbosity}`,
        `--nodelet-socket=${directory}/node.sock`,
      );
      await expect.poll(agent.output, { timeout: 30_000 }).toMatch(/is not ready/);
      agent.child.kill("SIGTERM");
      const { stderr } = await agent.result;
      const lines = stderr.trim().split("\n");
      return lines.map((line): { ts?: number; msg?: string; v?: number } => JSON.parse(line));
    };
    const few = await readRecords(0);
    const more = await readRecords(4);
    expect(few.every(({ ts, msg }) => typeof ts === "number" && typeof msg === "string")).toBe(true);
    expect(few.some(({ msg }) => msg === "Listening")).toBe(false);
    expect(more.some(({ msg }) => msg === "Listening")).toBe(true);
  });

  it("waits for the lock of another process, and ends when somebody wants its own", async () => {
    const path = join(directory, "kubelet.lock");
    const holder = spawn("flock", [path, "cat"], { stdio: ["pipe", "pipe", "inherit"] });
    // What `cat` repeats shows that the lock is held.
    const echo = once(holder.stdout, "data");
    holder.stdin.write("locked");
    await echo;
    const agent = startProgram(
      "kubelet",
      `--lock-file=${path}`,
      "--exit-on-lock-contention",
      ...places(),
      `--port=${await claimPort()}`,
      "--healthz-port=0",
      "--fail-swap-on=false",
      "--cgroups-per-qos=false",
      "--enforce-node-allocatable=",
      "--make-iptables-util-chains=false",
      "--nodelet-keep-kernel-tunables",
      `--container-runtime-endpoint=unix://${directory}/none.sock`,
    );
    await expect.poll(agent.output).toContain("Another process has the file lock");
    expect(agent.output()).not.toContain("Starting kubelet");
    holder.stdin.end();
    await expect.poll(agent.output).toContain("Watching for inotify events");
    await (await open(path, "r")).close();
    const { code, stderr } = await agent.result;
    expect(stderr).toContain("Another process wants the file lock");
    expect(code).toBe(0);
  });

  it("refuses a lock file that cannot be one", async () => {
    const { code, stderr } = await runProgram("kubelet", `--lock-file=${directory}`);
    expect(stderr).toMatch(/unable to acquire file lock on .*--lock-file.*EISDIR/);
    expect(code).toBe(1);
  });
});
