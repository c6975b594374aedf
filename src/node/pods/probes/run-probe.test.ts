import { describe, expect, it } from "vitest";
import type { Probe } from "../../../api/gen/types.ts";
import { aborted } from "../../../base/abort.ts";
import { CriError } from "../../../cri/port.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createFakeProbes } from "../../../host/fake/fake-probes.ts";
import { type ProbeRunnerDeps, runProbe } from "./run-probe.ts";

const NEVER = new AbortController().signal;
type ExecSync = ProbeRunnerDeps["runtime"]["execSync"];

function createRig({ execSync, podIp = "10.0.0.7" }: { execSync?: ExecSync; podIp?: string | undefined } = {}) {
  const clock = createFakeClock();
  const client = createFakeProbes(clock);
  const refuse: ExecSync = () => Promise.reject(new Error("no command was to be run"));
  const deps: ProbeRunnerDeps = {
    client,
    userAgent: "kube-probe/1.36",
    runtime: { execSync: execSync ?? refuse },
    expand: (words, lookup) =>
      words.map((word) => word.replace(/\$\((\w+)\)/g, (whole, name: string) => lookup(name) ?? whole)),
  };
  const container = { name: "main", env: [{ name: "PATH_TO", value: "/ready" }, { name: "SECRET" }] };
  const pod = { metadata: { uid: "uid-1", name: "web", namespace: "default" }, spec: { containers: [container] } };
  const run = async (probe: Probe, signal = NEVER) =>
    await runProbe(deps, { pod, container, kind: "readiness", probe, containerId: "c1", podIp }, signal);
  return { clock, client, run };
}

function answering(exitCode: number, stdout: string, stderr = ""): { calls: unknown[]; execSync: ExecSync } {
  const calls: unknown[] = [];
  return {
    calls,
    async execSync(request, options) {
      calls.push({ ...request, timeoutMs: options?.timeoutMs });
      return { exitCode, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) };
    },
  };
}

describe("a command", () => {
  it("is run with its variables, and has its own time and a little of the runtime's", async () => {
    const { calls, execSync } = answering(0, "out", "err");
    const probe = { exec: { command: ["test", "-e", "$(PATH_TO)/$(SECRET)/$(OTHER)"] }, timeoutSeconds: 3 };
    expect(await createRig({ execSync }).run(probe)).toEqual({ result: "success", output: "outerr" });
    expect(calls).toEqual([
      { containerId: "c1", cmd: ["test", "-e", "/ready//$(OTHER)"], timeout: 3n, timeoutMs: 5_000 },
    ]);
  });

  it("that exits with anything but 0 has failed, with what it said", async () => {
    const { execSync } = answering(7, "x".repeat(20_000));
    const attempt = await createRig({ execSync }).run({ exec: { command: ["false"] } });
    expect(attempt).toEqual({ result: "failure", output: "x".repeat(10_240) });
  });

  it("that does not end has failed, once", async () => {
    let calls = 0;
    const execSync: ExecSync = async () => {
      calls++;
      throw new CriError("deadline-exceeded", { rpc: "ExecSync", endpoint: "x", detail: "timeout 1s exceeded" });
    };
    expect(await createRig({ execSync }).run({ exec: { command: ["sleep", "9"] }, timeoutSeconds: 1 })).toEqual({
      result: "failure",
      output: 'command timed out: "sleep 9" timed out after 1s',
    });
    expect(calls).toBe(1);
  });

  it("that the runtime cannot run says nothing of the container, and is tried three times", async () => {
    let calls = 0;
    const execSync: ExecSync = async () => {
      calls++;
      throw new CriError("not-found", { rpc: "ExecSync", endpoint: "x", detail: "no such container" });
    };
    expect(await createRig({ execSync }).run({ exec: { command: ["true"] } })).toEqual({
      result: "error",
      state: "unknown",
      message: "rpc error: code = NotFound desc = no such container",
    });
    expect(calls).toBe(3);
  });

  it("is given up with its signal", async () => {
    const gone = new AbortController();
    const execSync: ExecSync = async (_request, options) => {
      await aborted(options?.signal ?? NEVER);
      throw new CriError("cancelled", { rpc: "ExecSync", endpoint: "x", detail: "" });
    };
    const attempt = createRig({ execSync }).run({ exec: { command: ["true"] } }, gone.signal);
    gone.abort();
    await expect(attempt).rejects.toThrow();
  });
});

describe("over the network", () => {
  it("the pod's own address is asked", async () => {
    const { client, run } = createRig();
    client.listen("10.0.0.7:80", {
      http: ({ path }) => ({ status: path === "/ok" ? 200 : 500, body: "fine" }),
      grpc: ({ service }) => ({ kind: "status", status: service === "ready" ? 1 : 2 }),
    });
    expect(await run({ httpGet: { path: "/ok", port: 80 } })).toEqual({ result: "success", output: "fine" });
    expect(await run({ httpGet: { path: "/", port: 80 } })).toMatchObject({ result: "failure" });
    expect(await run({ tcpSocket: { port: 80 } })).toEqual({ result: "success", output: "" });
    expect(await run({ grpc: { port: 80, service: "ready" } })).toEqual({
      result: "success",
      output: "service healthy",
    });
    expect(await run({ grpc: { port: 80 } })).toMatchObject({ result: "failure" });
  });

  it("or the one that is named", async () => {
    const { client, run } = createRig();
    client.listen("127.0.0.1:80", {});
    expect(await run({ tcpSocket: { port: 80, host: "127.0.0.1" } })).toMatchObject({ result: "success" });
    expect(await run({ tcpSocket: { port: 80 } })).toEqual({
      result: "failure",
      output: "dial tcp 10.0.0.7:80: connect: connection refused",
    });
  });

  it("nobody who is silent holds it up for longer than its time", async () => {
    const { clock, client, run } = createRig();
    client.listen("10.0.0.7:80", { isDeaf: true });
    const attempt = run({ tcpSocket: { port: 80 }, timeoutSeconds: 2 });
    await clock.advance(2_000);
    expect(await attempt).toEqual({ result: "failure", output: "dial tcp 10.0.0.7:80: i/o timeout" });
  });

  it.each<[Probe, string]>([
    [{ tcpSocket: { port: "web" } }, 'strconv.Atoi: parsing "web": invalid syntax'],
    [{ httpGet: { port: 0 } }, "invalid port number: 0"],
    [{}, "missing probe handler for web_default(uid-1):main"],
  ])("%j says nothing of the container", async (probe, message) => {
    expect(await createRig().run(probe)).toEqual({ result: "error", state: "unknown", message });
  });
});
