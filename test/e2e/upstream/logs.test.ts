import { request } from "node:https";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claimPort } from "../../machine/claims.ts";
import { containerOf, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { createUpstreamNode, type UpstreamNode } from "./go-kubelet.ts";
import { startUpstreamCluster } from "./upstream-cluster.ts";
import { readUpstreamProgram, titleOf } from "./upstream-program.ts";

const program = await readUpstreamProgram("KUBELET_BIN");
const HAS_QUERIES = (program?.minor ?? 0) >= 27;
const HOST = "127.0.0.1";
/** Both streams, a line that is longer than runtimes write at once, and a last one that does not end. */
const SPEAK =
  "echo one; sleep 0.1; echo two >&2; sleep 0.1; printf '%020000d\\n' 7; printf '  four\\r\\n\\n'; printf five";
const RESTART = `if [ -e /data/x ]; then echo again; ${RUN_FOR_EVER}; else touch /data/x; echo first; exit 1; fi`;
const DATA = { volumes: [{ name: "data", emptyDir: {} }] };
const MOUNT = { volumeMounts: [{ name: "data", mountPath: "/data" }] };

const OF_SPEAKER = [
  "",
  "pretty=true",
  "timestamps=true",
  "tailLines=0",
  "tailLines=1",
  "tailLines=3",
  "tail=2",
  "tail=all&tailLines=1",
  "limitBytes=1",
  "limitBytes=6&timestamps=1",
  "limitBytes=19000",
  "follow=true",
  "follow=true&tailLines=2&timestamps=true",
  "sinceSeconds=100000",
  "sinceTime=2100-01-01T00:00:00Z",
  "sinceTime=2001-01-01T00:00:00.5%2B02:00",
  "previous=true",
  "tailLines=-1",
  "tailLines=x",
  "tailLines=",
  "limitBytes=0",
  "sinceSeconds=0",
  "sinceSeconds=1&sinceTime=2001-01-01T00:00:00Z",
  "sinceTime=yesterday",
];

const PATHS = [
  ...OF_SPEAKER.map((query) => `/containerLogs/default/speaks/main?${query}`),
  "/containerLogs/default/restarts/main?previous=true",
  "/containerLogs/default/restarts/main",
  "/containerLogs/default/waits/main",
  "/containerLogs/default/speaks/side",
  "/containerLogs/default/nobody/main",
  "/containerLogs/other/speaks/main",
  "/logs/pods/",
  "/logs/pods",
  "/logs/nothing",
];

const QUERIES = [
  "/logs/?query=a%24b",
  "/logs/?query=a&query=/b",
  "/logs/?query=a&boot=1&tailLines=100001",
  "/logs/?query=no-such-service&tailLines=1",
];

/** The same pods' logs, asked of one node agent and then of the other. */
describe.skipIf(program === undefined)(titleOf("logs as kubelet gives them,", "KUBELET_BIN", program), () => {
  let world: UpstreamNode;
  let port: number;
  let theirs: readonly string[];
  const read = async (path: string) =>
    await new Promise<string>((resolve, reject) => {
      const call = request({ host: HOST, port, path, agent: false, rejectUnauthorized: false }, (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (text: string) => {
          body += text;
        });
        response.on("end", () => resolve(`${path} ${response.statusCode} ${JSON.stringify(body)}`));
      });
      call.on("error", reject);
      call.end();
    });
  const readAll = async () => {
    const answers: string[] = [];
    for (const path of [...PATHS, ...(HAS_QUERIES ? QUERIES : [])]) answers.push(await read(path));
    return answers;
  };

  beforeAll(async () => {
    if (program === undefined) return;
    port = await claimPort();
    world = await createUpstreamNode(await startUpstreamCluster(), {
      authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
      authorization: { mode: "AlwaysAllow" },
      enableServer: true,
      ...(HAS_QUERIES && { enableSystemLogQuery: true, featureGates: { NodeLogQuery: true } }),
      address: HOST,
      port,
    });
    const kubelet = await world.startKubelet(program);
    await world.create(shellPod("speaks", SPEAK, { restartPolicy: "Never" }));
    await world.create(shellPod("restarts", RESTART, DATA, MOUNT));
    const absent = { volumes: [{ name: "data", configMap: { name: "absent" } }] };
    await world.create(shellPod("waits", SPEAK, absent, MOUNT));
    await world.pod("speaks", (pod) => pod.status?.phase === "Succeeded");
    await world.pod("restarts", (pod) => {
      const status = containerOf(pod, "main");
      return status?.restartCount === 1 && status.state?.running !== undefined;
    });
    await world.pod("waits", (pod) => containerOf(pod, "main")?.state?.waiting !== undefined);
    theirs = await readAll();
    await kubelet.stop();
    await world.node.start([...world.flags, `--port=${port}`]);
  });
  afterAll(async () => {
    for (const name of ["speaks", "restarts", "waits"]) await world?.remove(name, 0).catch(() => undefined);
    await world?.destroy();
  });

  it("gives the same answers to the same questions", async () => {
    await expect.poll(readAll, { timeout: 20_000 }).toEqual(theirs);
  });
});
