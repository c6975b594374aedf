import { readdir } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claimPort } from "../machine/claims.ts";
import { createNodeUnderTest, type NodeUnderTest } from "./node-under-test.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "./pods.ts";

const HOST = "127.0.0.1";
/** Where the scripts leave word for each other. */
const DATA = { volumes: [{ name: "data", emptyDir: {} }] };
const MOUNT = { volumeMounts: [{ name: "data", mountPath: "/data" }] };

/** Both streams, and a last line that does not end. */
const SPEAK = "echo one; sleep 0.1; echo two >&2; sleep 0.1; printf three";
/** Fails in its first life. */
const RESTART = `if [ -e /data/lived ]; then echo second life; ${RUN_FOR_EVER}; else touch /data/lived; echo first life; exit 1; fi`;
/** Numbers lines until it is told to stop, and then says how far it came. */
const COUNT = [
  "i=0; filler=$(printf '%080d' 0)",
  "while [ ! -e /data/start ]; do sleep 0.05; done",
  "while [ ! -e /data/stop ]; do n=0; while [ $n -lt 100 ]; do i=$((i+1)); n=$((n+1)); echo $i $filler; done; sleep 0.05; done",
  "echo last $i",
].join("; ");

interface Answer {
  status: number;
  body: string;
  contentType: string | undefined;
}

describe("logs by the node's own API", () => {
  let node: NodeUnderTest;
  let port: number;
  beforeAll(async () => {
    node = await createNodeUnderTest({
      configuration: {
        authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
        authorization: { mode: "AlwaysAllow" },
        enableServer: true,
        address: HOST,
        featureGates: { PodLogsQuerySplitStreams: true, NodeLogQuery: true },
        enableSystemLogQuery: true,
        containerLogMaxSize: "64Ki",
        containerLogMaxFiles: 3,
        containerLogMonitorInterval: "3s",
      },
    });
    await node.write("speaks.json", shellPod("speaks", SPEAK, { restartPolicy: "Never" }));
    await node.write("restarts.json", shellPod("restarts", RESTART, DATA, MOUNT));
    await node.write("counts.json", shellPod("counts", COUNT, { ...DATA, restartPolicy: "Never" }, MOUNT));
    port = await claimPort();
    await node.start([`--port=${port}`]);
  });
  afterAll(async () => await node?.destroy());

  const open = async (path: string): Promise<IncomingMessage> =>
    await new Promise((resolve, reject) => {
      const call = request({ host: HOST, port, path, agent: false, rejectUnauthorized: false }, resolve);
      call.on("error", reject);
      call.end();
    });
  const ask = async (path: string): Promise<Answer> => {
    const response = await open(path);
    let body = "";
    for await (const chunk of response.setEncoding("utf8")) body += chunk;
    return { status: response.statusCode ?? 0, body, contentType: response.headers["content-type"] };
  };
  const logs = async (pod: string, query = "") => await ask(`/containerLogs/default/${pod}-e2e/main?${query}`);
  const endedOf = async (name: string) =>
    await node.pod(name, (pod) => containerOf(pod, "main")?.state?.terminated !== undefined);

  it("gives what a container wrote, as it was asked for", async () => {
    await endedOf("speaks");
    expect(await logs("speaks")).toEqual({ status: 200, body: "one\ntwo\nthree", contentType: "text/plain" });
    expect((await logs("speaks", "tailLines=2")).body).toBe("two\nthree");
    expect((await logs("speaks", "limitBytes=5")).body).toBe("one\nt");
    expect((await logs("speaks", "stream=Stderr")).body).toBe("two\n");
    expect((await logs("speaks", "sinceSeconds=100000")).body).toBe("one\ntwo\nthree");
    expect((await logs("speaks", "follow=true")).body).toBe("one\ntwo\nthree");
    const [first = "", second = ""] = (await logs("speaks", "timestamps=true")).body.split("\n");
    expect(first).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}(Z|[+-]\d\d:\d\d) one$/);
    const since = encodeURIComponent(second.split(" ")[0] ?? "");
    expect((await logs("speaks", `sinceTime=${since}`)).body).toBe("two\nthree");
  });

  it("says in upstream's words why there is none", async () => {
    expect(await logs("nobody")).toMatchObject({ status: 404, body: 'pod "nobody-e2e" does not exist' });
    expect(await ask("/containerLogs/default/speaks-e2e/side")).toMatchObject({
      status: 404,
      body: 'container "side" not found in pod "speaks-e2e"',
    });
    expect(await logs("speaks", "previous=true")).toMatchObject({
      status: 400,
      body: 'previous terminated container "main" in pod "speaks-e2e" not found',
    });
    expect(await logs("speaks", "tailLines=-1")).toMatchObject({
      status: 422,
      body: '{"message": "Invalid request."}',
    });
  });

  it("gives the log of the life before this one", async () => {
    await node.pod("restarts", (pod) => {
      const status = containerOf(pod, "main");
      return status?.state?.running !== undefined && status.restartCount === 1;
    });
    expect((await logs("restarts", "previous=true")).body).toBe("first life\n");
    const response = await open("/containerLogs/default/restarts-e2e/main?follow=true");
    for await (const chunk of response.setEncoding("utf8")) {
      expect(chunk).toBe("second life\n");
      break;
    }
  });

  it("rotates a log, and who follows it meanwhile gets each line once, to the end of the container", async () => {
    const pod = await node.pod("counts", isRunning);
    const following = logs("counts", "follow=true&limitBytes=1000000000");
    const directory = join(node.directory, "pods", `default_counts-e2e_${pod.metadata?.uid}`, "main");
    const isRotatedTwice = async () => (await readdir(directory)).filter((name) => name.endsWith(".gz")).length > 0;
    const containerId = containerOf(pod, "main")?.containerID?.split("://")[1] ?? "";
    const touch = async (file: string) =>
      await node.cri.runtime.execSync({ containerId, cmd: ["touch", file], timeout: 10n });
    // Only then: on a busy machine rotation may have removed the first lines before anyone follows.
    await touch("/data/start");
    while (!(await isRotatedTwice())) await new Promise((resolve) => setTimeout(resolve, 50));
    await touch("/data/stop");
    const { body } = await following;
    const lines = body.trimEnd().split("\n");
    const count = Number(/^last (\d+)$/.exec(lines.pop() ?? "")?.[1]);
    expect(lines).toHaveLength(count);
    expect(lines.findIndex((line, index) => !line.startsWith(`${index + 1} `))).toBe(-1);
    const names = await readdir(directory);
    expect(names.filter((name) => !/^0\.log(\.\d{8}-\d{6}(\.gz)?)?$/.test(name))).toEqual([]);
    expect(names.length).toBeLessThanOrEqual(3);
  });

  it("gives the node's own logs by file, and none of its other files", async () => {
    const listing = await ask("/logs/");
    expect(listing).toMatchObject({ status: 200, contentType: "text/html; charset=utf-8" });
    const speaks = /speaks-e2e_default_main-[0-9a-f]{64}\.log/.exec((await ask("/logs/containers/")).body)?.[0];
    // The pods' logs of this test are not beneath the node's logs.
    expect(await ask(`/logs/containers/${speaks}`)).toMatchObject({ status: 403 });
    expect(await ask("/logs/../../etc/passwd")).toMatchObject({ status: 404 });
    expect(await ask("/logs/?query=no-such-service")).toMatchObject({
      status: 200,
      contentType: "text/plain;charset=UTF-8",
      body: expect.stringContaining("\nlog not found for no-such-service\n"),
    });
    expect((await ask("/logs/?query=a%24b")).status).toBe(406);
  });
});
