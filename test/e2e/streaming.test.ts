import { readdir, readFile } from "node:fs/promises";
import { request } from "node:https";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ContainerState, ListContainersRequest } from "../../src/cri/gen/cri-v1.ts";
import type { SpdyConnection } from "../../src/spdy/spdy-connection.ts";
import { claimPort } from "../machine/claims.ts";
import { settlesOn } from "./cluster/settles.ts";
import { openChannels, openSpdy, readText } from "./node-streams.ts";
import { createNodeUnderTest, type NodeUnderTest } from "./node-under-test.ts";
import { containerOf, isRunning, shellPod } from "./pods.ts";

const HOST = "127.0.0.1";
const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const STATUS = 3;
const RESIZE = 4;
const CLOSE = 255;
const BINARY = "v4.channel.k8s.io";
const BASE64 = "v4.base64.channel.k8s.io";
const PORT_FORWARD = "portforward.k8s.io";
const WEB_PORT = 8080;
const PODS = ["web", "ends", "terminal"];
const MIB = 1024 * 1024;

/** Serves the index of a directory, and says what it is told on its standard input until it is told to end. */
const SCRIPT = [
  "mkdir -p /tmp/www; echo from the pod > /tmp/www/index.html",
  `httpd -p 127.0.0.1:${WEB_PORT} -h /tmp/www && touch /tmp/served`,
  'while read line; do echo "heard $line"; if [ "$line" = bye ]; then exit 3; fi; done',
  "sleep 100000",
].join("; ");

const UPGRADE = { headers: { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": "none" } };

/** A container that speaks of one thing at a time. */
const pod = (name: string, container: object = {}) => shellPod(name, SCRIPT, {}, { stdin: true, ...container });

/** The node agent, which is a child of this process. */
async function findAgent(): Promise<string> {
  for (const task of await readdir("/proc/self/task")) {
    for (const pid of (await readFile(`/proc/self/task/${task}/children`, "utf8")).split(" ")) {
      const title = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
      if (title.startsWith("nodelet kubelet")) return pid;
    }
  }
  throw new Error("the node agent does not run");
}

async function readResidentBytes(pid: string): Promise<number> {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) * 1024;
}

describe("the streams of the node's own API", () => {
  let node: NodeUnderTest;
  let port: number;
  const spdies: SpdyConnection[] = [];
  beforeAll(async () => {
    const open = { authentication: { anonymous: { enabled: true }, webhook: { enabled: false } } };
    const authorization = { mode: "AlwaysAllow" };
    node = await createNodeUnderTest({ configuration: { ...open, authorization, enableServer: true, address: HOST } });
    for (const name of PODS) await node.write(`${name}.json`, pod(name, { tty: name === "terminal" }));
    port = await claimPort();
    await node.start([`--port=${port}`]);
    for (const name of PODS) await node.pod(name, isRunning);
    const isServed = async () => (await ask("/run/default/web-e2e/main?cmd=ls+/tmp/served")).status;
    await settlesOn(200, isServed, 20_000);
  });
  afterEach(async () => {
    for (const spdy of spdies.splice(0)) await spdy.close();
  });
  afterAll(async () => await node?.destroy());

  const pathOf = (verb: string, name: string, query: Record<string, string | number> = {}, command: string[] = []) => {
    const text = new URLSearchParams(Object.entries(query).map(([key, value]): [string, string] => [key, `${value}`]));
    for (const word of command) text.append("command", word);
    return `/${verb}/default/${name}-e2e${verb === "portForward" ? "" : "/main"}?${text}`;
  };
  const channels = async (path: string, protocol = BINARY) => await openChannels({ host: HOST, port }, path, protocol);
  const spdy = async (path: string, protocol = BINARY) => {
    const connection = await openSpdy({ host: HOST, port }, path, protocol);
    spdies.push(connection);
    return connection;
  };
  const ask = async (path: string, { method = "POST", headers = {} } = {}) =>
    await new Promise<{ status: number; body: string }>((resolve, reject) => {
      const where = { host: HOST, port, path, method, headers, agent: false, rejectUnauthorized: false };
      const call = request(where, (response) => {
        void readText(response).then((body) => resolve({ status: response.statusCode ?? 0, body }));
      });
      call.on("error", reject);
      call.end();
    });
  const running = async () => {
    const filter = { state: { state: ContainerState.CONTAINER_RUNNING } };
    const { containers } = await node.cri.runtime.listContainers(ListContainersRequest.fromPartial({ filter }));
    return containers.map(({ id }) => id).sort();
  };

  it.each([BINARY, BASE64])("run a command by %s: its output, its errors and its exit code", async (protocol) => {
    const command = ["sh", "-c", "read line; echo out $line; echo err $1 >&2; exit 7", "sh", "a&b c"];
    const exec = await channels(pathOf("exec", "web", { input: 1, output: 1, error: 1 }, command), protocol);
    expect(exec.protocol).toBe(protocol);
    exec.send(STDIN, "typed\n");
    await exec.closed;
    expect([exec.said(STDOUT), exec.said(STDERR)]).toEqual(["out typed\n", "err a&b c\n"]);
    expect(JSON.parse(exec.said(STATUS))).toMatchObject({
      status: "Failure",
      reason: "NonZeroExitCode",
      details: { causes: [{ reason: "ExitCode", message: "7" }] },
    });
  });

  it("run a command by SPDY, whose input has an end", async () => {
    const connection = await spdy(pathOf("exec", "web", { input: 1, output: 1 }, ["wc", "-c"]));
    const status = await connection.openStream({ streamtype: "error" });
    const stdin = await connection.openStream({ streamtype: "stdin" });
    const stdout = await connection.openStream({ streamtype: "stdout" });
    stdin.end(Buffer.alloc(3 * MIB));
    expect((await readText(stdout)).trim()).toBe(String(3 * MIB));
    expect(JSON.parse(await readText(status))).toMatchObject({ status: "Success" });
  });

  it("run a command by v5.channel.k8s.io, whose input has an end", async () => {
    const path = pathOf("exec", "web", { input: 1, output: 1 }, ["sh", "-c", "wc -c; exit 7"]);
    const exec = await channels(path, "v5.channel.k8s.io");
    expect(exec.protocol).toBe("v5.channel.k8s.io");
    exec.send(STDIN, "x".repeat(MIB));
    exec.send(CLOSE, String.fromCharCode(STDIN));
    await exec.closed;
    expect(exec.said(STDOUT).trim()).toBe(String(MIB));
    expect(JSON.parse(exec.said(STATUS))).toMatchObject({
      reason: "NonZeroExitCode",
      details: { causes: [{ reason: "ExitCode", message: "7" }] },
    });
  });

  it("give a command a terminal, of the size that the client has", async () => {
    // What is typed may be there before the new size is: the command is asked until it has it.
    const script = 'tty; while read line && [ "$line" = size ]; do stty size; done';
    const query = { input: 1, output: 1, error: 1, tty: 1 };
    const exec = await channels(pathOf("exec", "web", query, ["sh", "-c", script]));
    await exec.says(STDOUT, /\/dev\/pts\/\d+\r\n/);
    exec.send(RESIZE, JSON.stringify({ Width: 99, Height: 33 }));
    const asking = setInterval(() => exec.send(STDIN, "size\n"), 100);
    await exec.says(STDOUT, /33 99\r\n/).finally(() => clearInterval(asking));
    exec.send(STDIN, "end\n");
    await exec.closed;
    expect(JSON.parse(exec.said(STATUS))).toMatchObject({ status: "Success" });
  });

  it("carry as much as is read, and hold next to nothing of what is not", async () => {
    const size = 128 * MIB;
    const agent = await findAgent();
    const before = await readResidentBytes(agent);
    const connection = await spdy(pathOf("exec", "web", { output: 1 }, ["head", "-c", String(size), "/dev/zero"]));
    const status = await connection.openStream({ streamtype: "error" });
    const stdout = await connection.openStream({ streamtype: "stdout" });
    let got = 0;
    let most = 0;
    for await (const chunk of stdout) {
      const isTime = Math.floor(got / (8 * MIB)) < Math.floor((got + chunk.length) / (8 * MIB));
      got += chunk.length;
      if (isTime) most = Math.max(most, await readResidentBytes(agent));
    }
    expect(got).toBe(size);
    expect(JSON.parse(await readText(status))).toMatchObject({ status: "Success" });
    expect(most - before).toBeLessThan(64 * MIB);
  });

  it("attach to what a container says and hears, until it ends", async () => {
    const one = await channels(pathOf("attach", "ends", { input: 1, output: 1, error: 1 }));
    const other = await spdy(pathOf("attach", "ends", { output: 1 }));
    const status = await other.openStream({ streamtype: "error" });
    const stdout = await other.openStream({ streamtype: "stdout" });
    let heard = "";
    stdout.on("data", (chunk: Buffer) => {
      heard += chunk.toString();
    });
    const all = readText(stdout);
    // The runtime does not tell when it has attached: the words are sent again until both hear them.
    const sayHello = () => {
      one.send(STDIN, "hello\n");
      return [one.said(STDOUT), heard].map((text) => text.includes("heard hello\n"));
    };
    await expect.poll(sayHello, { timeout: 20_000 }).toEqual([true, true]);
    one.send(STDIN, "bye\n");
    await one.closed;
    // Only the one that does not speak is sure to get the last words: containerd may end the other before it sends them.
    expect(await all).toMatch(/heard bye\n$/);
    expect(JSON.parse(await readText(status))).toMatchObject({ status: "Success" });
    await node.pod("ends", (pod) => containerOf(pod, "main")?.restartCount === 1 && isRunning(pod));
  });

  it("attach to a container's terminal, whatever the client thinks that there is", async () => {
    const attach = await channels(pathOf("attach", "terminal", { input: 1, output: 1 }));
    attach.send(STDIN, "hello\n");
    await attach.says(STDOUT, /heard hello\r\n/);
    attach.close();
    await attach.closed;
  });

  it("end with the process that they belong to", async () => {
    const exec = await channels(pathOf("exec", "web", { output: 1 }, ["sh", "-c", "echo $$; exec sleep 4242"]));
    await exec.says(STDOUT, /\n/);
    const killed = await ask(`/run/default/web-e2e/main?cmd=kill+-9+${exec.said(STDOUT).trim()}`);
    expect(killed).toEqual({ status: 200, body: "" });
    await exec.closed;
    expect(JSON.parse(exec.said(STATUS))).toMatchObject({ details: { causes: [{ message: "137" }] } });
  });

  it("reach a server in the pod", async () => {
    const connection = await spdy(pathOf("portForward", "web"), PORT_FORWARD);
    for (const requestid of ["1", "2"]) {
      const headers = { port: String(WEB_PORT), requestid };
      const errors = await connection.openStream({ ...headers, streamtype: "error" });
      const data = await connection.openStream({ ...headers, streamtype: "data" });
      errors.end();
      data.end("GET / HTTP/1.0\r\n\r\n");
      expect(await readText(data)).toMatch(/^HTTP\/1\.[01] 200 .*\r\n\r\nfrom the pod\n$/s);
      expect(await readText(errors)).toBe("");
    }
  });

  it("reach it by WebSocket too, by the channels of its port", async () => {
    const forward = await channels(pathOf("portForward", "web", { port: WEB_PORT }));
    await forward.says(0, /^../s);
    forward.send(0, "GET / HTTP/1.0\r\n\r\n");
    await forward.says(0, /from the pod\n$/);
    forward.close();
    await forward.closed;
  });

  it.each<[string, number, string | RegExp, Parameters<typeof ask>[1]?]>([
    ["/exec/default/web-e2e/main?output=1&command=ls", 500, "Upgrade request required\n"],
    ["/exec/default/web-e2e/main?command=ls", 400, "you must specify at least 1 of stdin, stdout, stderr"],
    ["/exec/default/nobody/main?output=1", 404, "pod does not exist"],
    ["/exec/default/web-e2e/none?output=1", 500, 'container not found ("none")'],
    ["/attach/default/web-e2e/none?output=1", 500, "container none not found in pod web-e2e_default"],
    ["/portForward/default/web-e2e/other-uid", 404, "pod not found"],
    ["/exec/default/web-e2e", 404, "404: Page Not Found"],
    ["/exec/default/web-e2e/main?output=1", 405, "405: Method Not Allowed", { method: "PUT" }],
    ["/run/default/web-e2e/main?cmd=echo+one+two", 200, "one two\n"],
    ["/run/default/web-e2e/main?cmd=ls+/none", 500, /^command 'ls \/none' exited with 1: ls: \/none: No such file/],
    ["/run/default/web-e2e/main?cmd=none", 500, /^rpc error: code = Unknown desc = failed to exec in container: /],
    ["/attach/default/terminal-e2e/main?error=1", 500, /^rpc error: code = InvalidArgument desc = /, UPGRADE],
    ["/exec/default/web-e2e/main?output=1&command=ls", 403, /no protocol|unable to upgrade|protocol/i, UPGRADE],
  ])("answer %s with %i", async (path, status, words, asked = {}) => {
    const body = typeof words === "string" ? words : expect.stringMatching(words);
    expect(await ask(path, asked)).toEqual({ status, body });
  });

  it("end in order when the agent stops, which leaves the container alone", async () => {
    const exec = await channels(pathOf("exec", "web", { output: 1 }, ["sh", "-c", "echo up; exec sleep 4343"]));
    await exec.says(STDOUT, /up/);
    const before = await running();
    expect(before).toHaveLength(PODS.length);
    expect(await node.stop()).toBe(0);
    await exec.closed;
    expect(await running()).toEqual(before);
  });
});
