import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isRecord } from "../../../src/api/object.ts";
import { OUR_SERVER } from "../../clusters/cluster-servers.ts";
import type { ServedCluster } from "../../clusters/node-cluster.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { readRunningContainers } from "../runtime-state.ts";
import { type ClusterNode, createNodeOf, NODE_NAME } from "./cluster-node.ts";
import { createLyingProxy, type Lie, type LyingProxy } from "./lying-proxy.ts";

const LIE_MS = 1_000;
/** Until the first lists come after watches that ended at once. */
const LONG_LIE_MS = 4_000;
/** A node that is well asks ten times a second while it finds its place. */
const MAX_REQUESTS = 100;

const status = (code: number, reason: string) => JSON.stringify({ kind: "Status", status: "Failure", code, reason });
const say = (code: number, text: string | Buffer, headers: Record<string, string> = {}): Lie => ({
  answer: (_request, response) => {
    response.writeHead(code, { "content-type": "application/json", ...headers });
    response.end(text);
    return true;
  },
});
/** Watches end at once, as too old, so that all is listed anew. */
const expire = (request: IncomingMessage, response: ServerResponse) => {
  if (request.url?.includes("watch=true") !== true) return false;
  response.end(`${JSON.stringify({ type: "ERROR", object: JSON.parse(status(410, "Expired")) })}\n`);
  return true;
};
const listAnew = (body: NonNullable<Lie["body"]>): Lie => ({ answer: expire, body });
const ofKind = (kind: RegExp, change: (object: Record<string, unknown>) => unknown) =>
  listAnew((_request, object) =>
    isRecord(object) && kind.test(String(object["kind"])) ? change({ ...object }) : object,
  );
/** Every item's field, or the object's. */
const withField = (field: string, value: unknown) =>
  ofKind(/./, (object) => {
    const { items } = object;
    const change = (one: unknown) => (isRecord(one) ? { ...one, [field]: value } : one);
    return Array.isArray(items) ? { ...object, items: items.map(change) } : change(object);
  });
const DENSE = Buffer.concat([
  Buffer.from('{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":['),
  Buffer.alloc(99_999_999, "{},"),
  Buffer.from("{}]}"),
]);

const LISTS = Buffer.concat([Buffer.from(',"x":['), Buffer.alloc(12_000_000, "[],"), Buffer.from("[]]}")]);
/** An object in JSON but for its last brace. */
const open = (object: object) => Buffer.from(JSON.stringify(object).slice(0, -1));

const LIES: ReadonlyArray<readonly [what: string, lie: Lie]> = [
  // These come first: after others, the node waits longer before it lists.
  ["lists thirty million pods", ofKind(/^PodList$/, () => DENSE)],
  ["has nodes of four million lists", ofKind(/^Node$/, (node) => Buffer.concat([open(node), LISTS]))],
  ["answers with a page", say(200, "<html>hello</html>", { "content-type": "text/html" })],
  ["has forgotten all revisions", say(410, status(410, "Expired"))],
  ["asks to come back in a year", say(429, status(429, "TooManyRequests"), { "retry-after": "31536000" })],
  ["ends each answer before its end", say(200, '{"kind":"Pod', { "content-length": "99" })],
  ["sends everybody elsewhere", say(307, "", { location: "/elsewhere" })],
  ["has metadata that are none", withField("metadata", 5)],
  ["has specs that are none", withField("spec", ["x"])],
  ["has statuses that are none", withField("status", "well")],
  ["lists for ever", ofKind(/List$/, (list) => ({ ...list, metadata: { resourceVersion: "1", continue: "again" } }))],
];

let cluster: ServedCluster;
let proxy: LyingProxy;
let world: ClusterNode;
beforeAll(async () => {
  cluster = await OUR_SERVER.start();
  const { kubeconfig } = await cluster.addUser(`system:node:${NODE_NAME}`, ["system:nodes"]);
  proxy = await createLyingProxy(kubeconfig);
  world = await createNodeOf(cluster, { serverUrl: proxy.url, configuration: { nodeStatusUpdateFrequency: "1s" } });
  await world.node.start(world.flags);
});
afterAll(async () => {
  await world?.destroy();
  await proxy?.close();
});

it("an API server that lies hurts no pod, is not asked all the time, and is believed when it is honest", async () => {
  await world.create(shellPod("stays", RUN_FOR_EVER));
  await world.pod("stays", isRunning);
  const running = async () => (await readRunningContainers(world.node)).map(({ id }) => id);
  const before = await running();
  expect(before).toHaveLength(1);
  for (const [index, [what, lie]] of LIES.entries()) {
    const asked = proxy.requests;
    proxy.lie(lie);
    await delay(index < 2 ? LONG_LIE_MS : LIE_MS);
    expect(proxy.requests - asked, what).toBeLessThan(MAX_REQUESTS);
    // It answers within five seconds, and is the one that was started: nobody starts it again.
    expect((await world.node.report()).pods, what).toHaveLength(1);
    expect(await running(), what).toEqual(before);
  }
  proxy.lie(undefined);
  await world.create(shellPod("new", RUN_FOR_EVER));
  await world.pod("new", isRunning, 120_000);
  expect(await running()).toContain(before[0]);
  expect(world.node.log()).not.toMatch(/TypeError|Cannot read properties|is not a function|is not iterable/);
});
