import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { KubeObject } from "../../../src/api/object.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { changed, configMap, namesOf, newNamespace, pathsIn, pod, revisionOf, secret } from "./objects.ts";

describe.each(apiServersUnderTest())("get, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let configMaps: string;

  beforeAll(async () => {
    ({ configMaps } = pathsIn(await newNamespace(server.admin)));
    await server.admin.object("POST", configMaps, configMap("there"));
  });

  it("tells that there is no such object", async () => {
    expect(await server.admin.json("GET", `${configMaps}/missing`)).toMatchObject({
      status: 404,
      body: {
        kind: "Status",
        status: "Failure",
        reason: "NotFound",
        message: 'configmaps "missing" not found',
        details: { name: "missing", kind: "configmaps" },
        code: 404,
      },
    });
  });

  it("names the group of what is not found", async () => {
    const { leases } = pathsIn("default");
    expect(await server.admin.json("GET", `${leases}/missing`)).toMatchObject({
      body: {
        message: 'leases.coordination.k8s.io "missing" not found',
        details: { name: "missing", group: "coordination.k8s.io", kind: "leases" },
      },
    });
  });

  it.each(["0", "1"])("accepts resourceVersion=%s: not older than that", async (resourceVersion) => {
    const answer = await server.admin.json("GET", `${configMaps}/there`, undefined, { query: { resourceVersion } });
    expect(answer).toMatchObject({ status: 200, body: { metadata: { name: "there" } } });
  });

  it("tells how the parts of the control plane are", async () => {
    const path = "/api/v1/componentstatuses";
    const { items } = await server.admin.list(path, {});
    expect(namesOf(items)).toEqual(expect.arrayContaining(["controller-manager", "etcd-0", "scheduler"]));
    expect(await server.admin.json("GET", `${path}/etcd-0`)).toMatchObject({
      status: 200,
      body: {
        kind: "ComponentStatus",
        metadata: { name: "etcd-0" },
        conditions: [{ type: "Healthy", status: "True" }],
      },
    });
    expect(await server.admin.json("GET", `${path}/none`)).toMatchObject({
      status: 404,
      body: { message: 'componentstatus "none" not found' },
    });
  });

  it("refuses a timeout that is none", async () => {
    const ask = async (path: string, timeout: string) =>
      await server.admin.json("GET", path, undefined, { query: { timeout } });
    const problem = 'invalid timeout specified in the request URL - time: invalid duration "soon"';
    const refused = { status: 400, body: { reason: "BadRequest", message: problem } };
    expect(await ask(`${configMaps}/there`, "soon")).toMatchObject(refused);
    expect(await ask("/version", "soon")).toMatchObject(refused);
    expect(await ask("/version", "1m30s")).toMatchObject({ status: 200 });
  });

  it("says what must not be cached, and which request this was", async () => {
    const { headers } = await server.admin.json("GET", `${configMaps}/there`);
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "cache-control": "no-cache, private",
      "audit-id": expect.stringMatching(/.+/),
    });
  });
});

describe.each(apiServersUnderTest())("list, on $name", (candidate) => {
  const server = useApiServer(candidate);
  const names = ["a", "b", "c", "d", "e"];
  let namespace: string;
  let secrets: string;

  beforeAll(async () => {
    namespace = await newNamespace(server.admin);
    ({ secrets } = pathsIn(namespace));
    for (const name of names) {
      const labels = { name, vowel: String("aeiou".includes(name)), ...(name < "c" && { early: "" }) };
      await server.admin.object("POST", secrets, secret(name, name, labels));
    }
  });

  it("has everything of a namespace in the order of names, at a revision not older than any of it", async () => {
    const { body } = await server.admin.json("GET", secrets);
    expect(body).toMatchObject({ apiVersion: "v1", kind: "SecretList" });
    const { items, resourceVersion } = await server.admin.list(secrets);
    expect(namesOf(items)).toEqual(names);
    expect(Number(resourceVersion)).toBeGreaterThanOrEqual(Math.max(...items.map(revisionOf)));
  });

  it.each(["application/json", "application/yaml"])("does not repeat the type in each item, as %s", async (accept) => {
    const { body } = await server.admin.json("GET", secrets, undefined, { headers: { accept } });
    const list: unknown = typeof body === "string" ? parse(body) : body;
    const item = {
      metadata: expect.objectContaining({ name: "a", namespace }),
      type: "Opaque",
      data: expect.anything(),
    };
    expect(list).toMatchObject({ kind: "SecretList", apiVersion: "v1", items: expect.arrayContaining([item]) });
  });

  it("has everything of all namespaces, in the order of namespaces", async () => {
    const other = await newNamespace(server.admin);
    await server.admin.object("POST", pathsIn(other).secrets, secret("other"));
    const { items } = await server.admin.list("/api/v1/secrets");
    const namespaces = items.map(({ metadata }) => metadata.namespace ?? "");
    expect(namespaces).toEqual(namespaces.toSorted());
    expect(namespaces).toEqual(expect.arrayContaining([namespace, other]));
  });

  it("is an empty list, not null, where there is nothing", async () => {
    const { body } = await server.admin.json("GET", pathsIn("nowhere").secrets);
    expect(body).toMatchObject({ kind: "SecretList", items: [] });
  });

  it.each([
    ["vowel=true", ["a", "e"]],
    ["vowel==true,name!=a", ["e"]],
    ["name in (a,c),vowel", ["a", "c"]],
    ["name notin (a,c)", ["b", "d", "e"]],
    ["early", ["a", "b"]],
    ["!early", ["c", "d", "e"]],
    ["early=", ["a", "b"]],
    ["nothing=has,this", []],
  ])("selects by labels: %s", async (labelSelector, expected) => {
    expect(namesOf((await server.admin.list(secrets, { labelSelector })).items)).toEqual(expected);
  });

  it.each([
    ["metadata.name=b", ["b"]],
    ["metadata.name!=b", ["a", "c", "d", "e"]],
    ["metadata.name=b,metadata.namespace=elsewhere", []],
    ["type=Opaque", names],
    ["type!=Opaque", []],
  ])("selects by fields: %s", async (fieldSelector, expected) => {
    expect(namesOf((await server.admin.list(secrets, { fieldSelector })).items)).toEqual(expected);
  });

  it("selects pods by node, phase and more", async () => {
    const { pods } = pathsIn(namespace);
    await server.admin.object("POST", pods, pod("bound", { spec: { nodeName: "n1" } }));
    await server.admin.object("POST", pods, pod("free", { spec: { restartPolicy: "Never" } }));
    const select = async (fieldSelector: string) => namesOf((await server.admin.list(pods, { fieldSelector })).items);
    expect(await select("spec.nodeName=n1")).toEqual(["bound"]);
    expect(await select("spec.nodeName=")).toEqual(["free"]);
    expect(await select("status.phase=Pending")).toEqual(["bound", "free"]);
    expect(await select("spec.restartPolicy=Never,status.phase!=Running")).toEqual(["free"]);
  });

  it.each([
    { labelSelector: "a in b" },
    { labelSelector: "not a label=x" },
    { labelSelector: "=x" },
    { fieldSelector: "metadata.name" },
    { fieldSelector: "data.value=x" },
    { limit: "many" },
    { continue: "nonsense" },
  ])("refuses %o", async (query) => {
    expect(await server.admin.json("GET", secrets, undefined, { query })).toMatchObject({
      status: 400,
      body: { reason: "BadRequest" },
    });
  });

  it("says which field a selector cannot have", async () => {
    const message = async (path: string, fieldSelector: string) => {
      return (await server.admin.json("GET", path, undefined, { query: { fieldSelector } })).body;
    };
    expect(await message(pathsIn(namespace).pods, "spec.image=x")).toMatchObject({
      message: "field label not supported: spec.image",
    });
    expect(await message(pathsIn(namespace).configMaps, "data.a=x")).toMatchObject({
      message: '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
    });
  });

  it.each([
    { resourceVersionMatch: "NotOlderThan" },
    { resourceVersionMatch: "Exact", resourceVersion: "0" },
    { resourceVersionMatch: "Newest", resourceVersion: "1" },
    { sendInitialEvents: true },
  ])("refuses the options %o", async (query) => {
    // An option that a server does not know is none.
    if (query.sendInitialEvents && server.minor < 27) return;
    expect(await server.admin.json("GET", secrets, undefined, { query })).toMatchObject({
      status: 422,
      body: { reason: "Invalid", details: { kind: "ListOptions" } },
    });
  });

  describe("in pages", () => {
    it("shows the state of the first page on all of them, whatever happens in between", async () => {
      const path = pathsIn(await newNamespace(server.admin)).secrets;
      for (let index = 0; index < 10; index++) await server.admin.object("POST", path, secret(`s${index}`, "old"));
      const first = await server.admin.list(path, { limit: 4 });
      expect(namesOf(first.items)).toEqual(["s0", "s1", "s2", "s3"]);
      expect(first.remainingItemCount).toBe(6);
      await server.admin.json("DELETE", `${path}/s5`);
      await server.admin.object("POST", path, secret("s55"));
      const last = await server.admin.object("GET", `${path}/s9`);
      await server.admin.object("PUT", `${path}/s9`, changed(last, { data: { value: "bmV3" } }));
      const second = await server.admin.list(path, { limit: 4, continue: first.next });
      expect(namesOf(second.items)).toEqual(["s4", "s5", "s6", "s7"]);
      expect(second.remainingItemCount).toBe(2);
      const third = await server.admin.list(path, { limit: 4, continue: second.next });
      expect(third.items).toMatchObject([
        { metadata: { name: "s8" } },
        { metadata: { name: "s9" }, data: { value: Buffer.from("old").toString("base64") } },
      ]);
      expect(third.next).toBe("");
      expect([second.resourceVersion, third.resourceVersion]).toEqual([first.resourceVersion, first.resourceVersion]);
    });

    it("has no next page where the last item is on the first", async () => {
      expect(await server.admin.list(secrets, { limit: 5 })).toMatchObject({ next: "", remainingItemCount: undefined });
      expect(await server.admin.list(secrets, { limit: 500 })).toMatchObject({ next: "" });
    });

    it("does not count what remains where a selector decides", async () => {
      const page = await server.admin.list(secrets, { limit: 1, labelSelector: "vowel=true" });
      expect(namesOf(page.items)).toEqual(["a"]);
      expect(page.remainingItemCount).toBeUndefined();
      const rest = await server.admin.list(secrets, { labelSelector: "vowel=true", continue: page.next });
      expect(namesOf(rest.items)).toEqual(["e"]);
    });

    it("refuses a resourceVersion beside continue", async () => {
      const { next } = await server.admin.list(secrets, { limit: 1 });
      const query = { limit: 1, continue: next, resourceVersion: "5" };
      expect(await server.admin.json("GET", secrets, undefined, { query })).toMatchObject({ status: 400 });
    });
  });

  describe("of a resourceVersion", () => {
    /** Before 1.32, what came from the watch cache was in no order. */
    const ordered = (items: readonly KubeObject[]) => {
      return server.minor >= 32 ? namesOf(items) : namesOf(items).toSorted();
    };

    it("shows an earlier state with Exact", async () => {
      const path = pathsIn(await newNamespace(server.admin)).secrets;
      await server.admin.object("POST", path, secret("one"));
      const { resourceVersion } = await server.admin.list(path);
      await server.admin.object("POST", path, secret("two"));
      const exact = await server.admin.list(path, { resourceVersion, resourceVersionMatch: "Exact" });
      expect(namesOf(exact.items)).toEqual(["one"]);
      expect(exact.resourceVersion).toBe(resourceVersion);
    });

    it("shows a state that is not older with NotOlderThan, and without a match", async () => {
      const { resourceVersion } = await server.admin.list(secrets);
      for (const query of [{ resourceVersion, resourceVersionMatch: "NotOlderThan" }, { resourceVersion }]) {
        const listed = await server.admin.list(secrets, query);
        expect(ordered(listed.items)).toEqual(names);
        expect(Number(listed.resourceVersion)).toBeGreaterThanOrEqual(Number(resourceVersion));
      }
    });

    it("shows any state with 0", async () => {
      expect(ordered((await server.admin.list(secrets, { resourceVersion: "0" })).items)).toEqual(names);
    });

    it("asks to try again for one of the future", async () => {
      const query = { resourceVersion: String(Number.MAX_SAFE_INTEGER), resourceVersionMatch: "NotOlderThan" };
      expect(await server.admin.json("GET", secrets, undefined, { query })).toMatchObject({
        status: 504,
        body: {
          reason: "Timeout",
          message: expect.stringMatching(/^Timeout: Too large resource version: 9007199254740991, current: \d+$/),
          details: {
            causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
            retryAfterSeconds: expect.any(Number),
          },
        },
      });
    });
  });
});
