import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../../src/cluster/processes/run-command.ts";
import { createNodeUnderTest, type NodeUnderTest } from "./node-under-test.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "./pods.ts";
import { readRunningContainers } from "./runtime-state.ts";

const MANY = 1_000;

describe("manifests that are no good", () => {
  let node: NodeUnderTest;
  let good: unknown;
  beforeAll(async () => {
    node = await createNodeUnderTest();
    await node.start();
    await node.write("good.json", shellPod("good", RUN_FOR_EVER));
    await node.pod("good", isRunning);
    good = await readRunningContainers(node);
  });
  afterEach(async () => {
    expect((await node.report()).pods.map(({ metadata }) => metadata?.name)).toEqual(["good-e2e"]);
    expect(await readRunningContainers(node)).toEqual(good);
  });
  afterAll(async () => await node?.destroy());

  const podWith = (change: object) => ({ apiVersion: "v1", kind: "Pod", metadata: { name: "bad" }, ...change });
  const container = { name: "main", image: "localhost/nodelet/demo:1" };
  const refused: Array<[what: string, content: string | object, words: RegExp]> = [
    ["is no YAML", "a: [1, 2", /document 1: .*line \d/],
    ["is empty", "", /it holds no pod/],
    ["is of another kind", { apiVersion: "v1", kind: "Service", metadata: { name: "x" } }, /document 1: .*Service/],
    ["is of an unknown version", { ...podWith({}), apiVersion: "v2" }, /document 1: .*v2/],
    ["has no containers", podWith({ spec: { containers: [] } }), /document 1: spec\.containers: Required value/],
    [
      "has a field of the wrong type",
      podWith({ spec: { containers: [{ ...container, command: "sh" }] } }),
      /document 1: spec\.containers\[0\]\.command/,
    ],
    ["has a name with a slash", { ...shellPod("a", "x"), metadata: { name: "a/b" } }, /document 1: metadata\.name: /],
    [
      "has a name that climbs",
      { ...shellPod("a", "x"), metadata: { name: "../../b" } },
      /document 1: metadata\.name: /,
    ],
    ["has no name", { ...shellPod("a", "x"), metadata: {} }, /document 1: metadata\.name: Required value/],
    [
      "has a namespace that climbs",
      { ...shellPod("a", "x"), metadata: { name: "a", namespace: "../b" } },
      /document 1: metadata\.namespace: /,
    ],
    [
      "has a UID that climbs",
      { ...shellPod("a", "x"), metadata: { name: "a", uid: "../b" } },
      /document 1: metadata\.uid: Invalid value/,
    ],
    [
      "has a container name that climbs",
      podWith({ spec: { containers: [{ ...container, name: "../x" }] } }),
      /document 1: spec\.containers\[0\]\.name: /,
    ],
    [
      "refers to a service account",
      podWith({ spec: { containers: [container], serviceAccountName: "robot" } }),
      /document 1: spec\.serviceAccountName: static pods may not reference serviceaccounts/,
    ],
    [
      "mounts a claim",
      podWith({
        spec: { containers: [container], volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] },
      }),
      /document 1: spec\.volumes\[0\].*: static pods may not reference persistentvolumeclaims/,
    ],
    [
      "is a config map with a key that climbs",
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { "../k": "" } },
      /document 1: data\[\.\.\/k\]: Invalid value/,
    ],
    [
      "has a bad quantity",
      podWith({ spec: { containers: [{ ...container, resources: { limits: { memory: "lots" } } }] } }),
      /document 1: spec\.containers\[0\]\.resources\.limits/,
    ],
  ];

  it.each(refused)("refuses one that %s, naming file, document and field", async (_what, content, words) => {
    const from = node.log().length;
    await node.write("bad.yaml", content);
    await node.logged(/Refused pod manifest.*bad\.yaml/, { from });
    await node.logged(words, { from });
    await node.remove("bad.yaml");
  });

  it("warns of a field that nobody knows, and runs the pod", async () => {
    const from = node.log().length;
    await node.write("odd.json", { ...shellPod("odd", RUN_FOR_EVER, { containerz: 1 }), colour: "red" });
    await node.pod("odd", isRunning);
    await node.logged(/W.*odd\.json.*document 1: .*unknown field.*/, { from });
    expect(node.log().slice(from)).toMatch(/spec\.containerz/);
    await node.remove("odd.json");
    await node.gone("odd");
  });

  it("refuses what is too long, is no file, or leads nowhere", async () => {
    const path = (name: string) => join(node.manifests, name);
    const from = node.log().length;
    await writeFile(path("long.yaml"), Buffer.alloc(10 * 1024 * 1024 + 1, "#"));
    await runCommand("mkfifo", [path("fifo.yaml")]);
    await symlink(path("nothing"), path("dangling.yaml"));
    await mkdir(path("directory.yaml"));
    await node.logged(/long\.yaml.*longer than 10 MiB/, { from });
    await node.logged(/fifo\.yaml.*it is a pipe/, { from });
    await node.logged(/dangling\.yaml.*a link that leads to nothing/, { from });
    await node.logged(/directory\.yaml.*it is a directory/, { from });
    await runCommand("rm", ["-r", ...["long.yaml", "fifo.yaml", "dangling.yaml", "directory.yaml"].map(path)]);
  });

  it("says of each of a thousand bad manifests what is wrong, once, and still starts a good one at once", async () => {
    const from = node.log().length;
    const names = Array.from({ length: MANY }, (_, number) => `bad${number}.json`);
    const bad = podWith({ spec: { containers: [{ ...container, image: "" }] } });
    await Promise.all(names.map(async (name) => await node.write(name, bad)));
    await node.write("zz.json", shellPod("zz", RUN_FOR_EVER));
    await node.pod("zz", isRunning);
    await node.logged(/bad999\.json/, { from });
    const said =
      node
        .log()
        .slice(from)
        .match(/bad\d+\.json" err="document 1: spec\.containers\[0\]\.image: Required value/g) ?? [];
    expect(said).toHaveLength(MANY);
    await node.remove("zz.json");
    await node.gone("zz");
    await Promise.all(names.map(async (name) => await node.remove(name)));
  });
});
