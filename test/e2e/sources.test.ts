import { readFileSync } from "node:fs";
import { appendFile, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createNodeUnderTest, type NodeUnderTest } from "./node-under-test.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "./pods.ts";
import { readRunningContainers } from "./runtime-state.ts";

/** A server whose answer the test sets, and what it was asked. */
interface ManifestServer {
  url: string;
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  requests: IncomingMessage[];
  close(): Promise<void>;
}

async function startManifestServer(): Promise<ManifestServer> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    served.answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const close = async () => await new Promise<void>((resolve) => server.close(() => resolve()));
  const served: ManifestServer = {
    url: `http://127.0.0.1:${port}/pods`,
    requests,
    close,
    answer: (_request, response) => response.end(),
  };
  return served;
}

describe("where pods come from", () => {
  let node: NodeUnderTest;
  let server: ManifestServer;
  beforeAll(async () => {
    server = await startManifestServer();
    node = await createNodeUnderTest({ configuration: { httpCheckFrequency: "200ms", fileCheckFrequency: "1s" } });
    server.answer = (_request, response) => response.end(JSON.stringify(list("first")));
    await node.start([`--manifest-url=${server.url}`, "--manifest-url-header=X-Key:value of it"]);
    await node.write("stays.json", shellPod("stays", RUN_FOR_EVER));
    await node.pod("stays", isRunning);
  });
  afterAll(async () => {
    await node?.destroy();
    await server?.close();
  });

  const list = (...names: string[]) => {
    const items = names.map((name) => shellPod(name, RUN_FOR_EVER));
    return { apiVersion: "v1", kind: "PodList", items };
  };
  const yamlPod = (name: string) =>
    `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec:\n  terminationGracePeriodSeconds: 1\n  containers:\n  - name: main\n    image: localhost/nodelet/demo:1\n    command: [sh, -c, "${RUN_FOR_EVER}"]\n`;
  const idsOf = async (...names: string[]) => {
    const running = await readRunningContainers(node);
    return running.filter(({ pod }) => names.includes(pod.replace(/-e2e$/, ""))).map(({ id }) => id);
  };

  it("takes every pod of a URL's list, asks with its headers and its last ETag", async () => {
    const pod = await node.pod("first", isRunning);
    expect(pod.metadata?.annotations?.["kubernetes.io/config.source"]).toBe("http");
    expect(server.requests.at(-1)?.headers["x-key"]).toBe("value of it");
    const body = JSON.stringify(list("first", "second"));
    server.answer = (request, response) => {
      response.setHeader("ETag", '"two"');
      response.statusCode = request.headers["if-none-match"] === '"two"' ? 304 : 200;
      response.end(response.statusCode === 200 ? body : undefined);
    };
    await node.pod("second", isRunning);
    await expect.poll(() => server.requests.at(-1)?.headers["if-none-match"]).toBe('"two"');
  });

  it("keeps the pods of a URL that fails, talks nonsense or is empty; an empty list takes them away", async () => {
    const before = await idsOf("first", "second");
    const answers: Array<[RegExp, (response: ServerResponse) => void]> = [
      [/status 500/, (response) => response.writeHead(500).end("no")],
      [/Refused pods from URL/, (response) => response.end("{ not: [a manifest")],
      [/the answer is empty/, (response) => response.end("")],
      [/Failed to read pods from URL/, (response) => response.destroy()],
    ];
    for (const [words, answer] of answers) {
      const from = node.log().length;
      server.answer = (_request, response) => answer(response);
      await node.logged(words, { from });
    }
    expect(await idsOf("first", "second")).toEqual(before);
    server.answer = (_request, response) => response.end(JSON.stringify(list("second")));
    await node.gone("first");
    expect(await idsOf("second")).toEqual(before.slice(1));
    server.answer = (_request, response) => response.end(JSON.stringify(list()));
    await node.gone("second");
    expect(node.log()).not.toContain("value of it");
  });

  it("reads several documents of one file, and keeps the good ones beside a broken one", async () => {
    await node.write("many.yaml", [yamlPod("one"), yamlPod("two"), ""].join("---\n"));
    await node.pod("one", isRunning);
    await node.pod("two", isRunning);
    const before = await idsOf("one", "two");
    const from = node.log().length;
    const broken = yamlPod("two").replace("kind: Pod", "kind: Pod\nspec: 7").replace("containers:", "containers: 5 #");
    await node.write("many.yaml", [yamlPod("one"), broken, yamlPod("three")].join("---\n"));
    await node.pod("three", isRunning);
    await node.logged(/many\.yaml.*document 2/, { from });
    expect(await idsOf("one", "two")).toEqual(before);
    await node.write("many.yaml", yamlPod("one"));
    await node.gone("two");
    await node.gone("three");
    expect(await idsOf("one")).toEqual(before.slice(0, 1));
    await node.remove("many.yaml");
    await node.gone("one");
  });

  it("takes a manifest that is written in pieces, and one that is renamed in, for what it is in the end", async () => {
    const text = yamlPod("pieces");
    const path = join(node.manifests, "pieces.yaml");
    for (let at = 0; at < text.length; at += 40) {
      await appendFile(path, text.slice(at, at + 40));
      await delay(7);
    }
    await node.pod("pieces", isRunning);
    await writeFile(join(node.manifests, ".renamed.tmp"), yamlPod("renamed"));
    await delay(100);
    expect((await node.report()).pods.map(({ metadata }) => metadata?.name)).not.toContain("renamed-e2e");
    await rename(join(node.manifests, ".renamed.tmp"), join(node.manifests, "renamed.yaml"));
    await node.pod("renamed", isRunning);
    for (const name of ["pieces", "renamed"]) await node.remove(`${name}.yaml`);
    for (const name of ["pieces", "renamed"]) await node.gone(name);
  });

  it("refuses the second pod of a name, naming both files, and runs it once the first is gone", async () => {
    const from = node.log().length;
    await node.write("a-twin.json", shellPod("twin", RUN_FOR_EVER));
    const first = await node.pod("twin", isRunning);
    await node.write("b-twin.json", shellPod("twin", `: ; ${RUN_FOR_EVER}`));
    await node.logged(/Refused pod.*twin-e2e_default.*b-twin\.json.*a-twin\.json/, { from });
    expect((await node.pod("twin", isRunning)).metadata?.uid).toBe(first.metadata?.uid);
    await node.remove("a-twin.json");
    await node.pod("twin", (pod) => isRunning(pod) && pod.metadata?.uid !== first.metadata?.uid);
    await node.remove("b-twin.json");
    await node.gone("twin");
  });

  it("shows config maps and secrets beside pods, changes them in place, and makes a pod anew that asks for it", async () => {
    const colours = (colour: string) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "colours" },
      data: { colour },
    });
    const volumes = [
      { name: "colours", configMap: { name: "colours" } },
      { name: "absent", secret: { secretName: "absent", optional: true } },
    ];
    const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
    await node.write("reads.json", shellPod("reads", RUN_FOR_EVER, { volumes }, { volumeMounts }));
    const lacks = async () => (await node.events("reads")).map(({ message }) => message).join("\n");
    await expect.poll(lacks).toContain('configmap "colours" not found: put a ConfigMap of namespace "default" beside');

    await node.write("colours.json", colours("blue"));
    const reads = await node.pod("reads", isRunning);
    const shown = join(node.directory, "kubelet/pods", reads.metadata?.uid ?? "", "volumes/kubernetes.io~configmap");
    expect(readFileSync(join(shown, "colours/colour"), "utf8")).toBe("blue");
    const envFrom = [{ configMapRef: { name: "colours" } }];
    const asks = shellPod("asks", `echo it is $colour; ${RUN_FOR_EVER}`, {}, { envFrom });
    const metadata = { name: "asks", annotations: { "nodelet/restart-on-change": "true" } };
    await node.write("asks.json", { ...asks, metadata });
    const first = await node.pod("asks", isRunning);
    const before = await idsOf("reads");

    await node.write("colours.json", colours("green"));
    await expect.poll(() => readFileSync(join(shown, "colours/colour"), "utf8")).toBe("green");
    const second = await node.pod("asks", (pod) => isRunning(pod) && pod.metadata?.uid !== first.metadata?.uid);
    const log = join(node.directory, "pods", `default_asks-e2e_${second.metadata?.uid}`, "main/0.log");
    await expect.poll(() => readFileSync(log, "utf8")).toMatch(/stdout F it is green/);
    expect(await idsOf("reads")).toEqual(before);

    const from = node.log().length;
    await node.write("colours.json", { ...colours("red"), binaryData: { colour: "" } });
    await node.logged(/colours\.json.*document 1: data\[colour\]: Invalid value/, { from });
    expect((await node.pod("asks", isRunning)).metadata?.uid).toBe(second.metadata?.uid);
    for (const name of ["asks", "reads", "colours"]) await node.remove(`${name}.json`);
    for (const name of ["asks", "reads"]) await node.gone(name);
  });

  it("ends the pods of a directory that vanishes, says so, and runs them again when it is back", async () => {
    const from = node.log().length;
    await rm(node.manifests, { recursive: true });
    await node.gone("stays");
    await node.logged(/Pod manifest path does not exist/, { from });
    await mkdir(node.manifests);
    await node.write("stays.json", shellPod("stays", RUN_FOR_EVER));
    await node.pod("stays", isRunning);
    await node.remove("stays.json");
    await node.gone("stays");
  });
});
