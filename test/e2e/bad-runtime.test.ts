import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { claimPort } from "../machine/claims.ts";
import { type RunningProgram, startProgram } from "./program.ts";

describe("a node agent without a runtime", () => {
  let directory: string;
  let agent: RunningProgram | undefined;
  let server: Server | undefined;
  const sockets = new Set<Socket>();
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "nodelet-e2e-"));
  });
  afterEach(async () => {
    agent?.child.kill("SIGKILL");
    await agent?.result;
    for (const socket of sockets) socket.destroy();
    server?.close();
    agent = undefined;
    server = undefined;
    await rm(directory, { recursive: true, force: true });
  });

  const start = async (endpoint: string) => {
    await mkdir(join(directory, "manifests"));
    agent = startProgram(
      "kubelet",
      `--pod-manifest-path=${join(directory, "manifests")}`,
      `--container-runtime-endpoint=${endpoint}`,
      `--root-dir=${join(directory, "kubelet")}`,
      `--cert-dir=${join(directory, "pki")}`,
      `--nodelet-socket=${join(directory, "node.sock")}`,
      "--healthz-port=0",
      `--port=${await claimPort()}`,
      "--fail-swap-on=false",
      "--make-iptables-util-chains=false",
    );
    return agent;
  };
  const listen = async (path: string, answer: (socket: Socket) => void) => {
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined);
      answer(socket);
    });
    await new Promise<void>((resolve) => server?.listen(path, resolve));
  };
  /** It says so, goes on, and ends in order when it is asked to. */
  const expectToSay = async ({ child, output, result }: RunningProgram, words: RegExp) => {
    // A call that nothing answers has 10 s, and the agent starts beside others.
    await expect.poll(output, { timeout: 40_000 }).toMatch(words);
    expect(child.exitCode).toBeNull();
    child.kill("SIGTERM");
    expect((await result).code).toBe(0);
    expect(output()).not.toMatch(/Crash/);
  };

  it("says that there is no socket, and waits for one", async () => {
    const path = join(directory, "nothing.sock");
    await expectToSay(
      await start(`unix://${path}`),
      new RegExp(`not ready.*${path}.*no such socket: is the runtime running`),
    );
  });

  it("says that the path is no socket", async () => {
    const path = join(directory, "file.sock");
    await writeFile(path, "");
    await expectToSay(await start(`unix://${path}`), new RegExp(`not ready.*${path}.*the path is not a socket`));
  });

  it("says that what listens there is no runtime", async () => {
    const path = join(directory, "web.sock");
    await listen(path, (socket) => socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")));
    await expectToSay(await start(`unix://${path}`), new RegExp(`not ready.*${path}.*does not speak gRPC`));
  });

  it("says that what listens there does not answer", async () => {
    const path = join(directory, "silent.sock");
    await listen(path, () => undefined);
    await expectToSay(await start(`unix://${path}`), new RegExp(`not ready.*${path}.*nothing answers`));
  });
});
