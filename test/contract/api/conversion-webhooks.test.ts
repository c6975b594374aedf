import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/object.ts";
import type { ApiClient } from "./client.ts";
import { CRON_TAB_VERSION, cronTabDefinition, DEFINITIONS, defineCronTabs, untilAnswered } from "./cron-tabs.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import type { WatchEvent } from "./watch-stream.ts";
import { type HookAnswer, startWebhookServer, type WebhookServer } from "./webhook-server.ts";

/** A question to the webhook. */
interface Asked {
  readonly uid: string;
  readonly desiredAPIVersion: string;
  readonly objects: readonly KubeObject[];
}

type Answer = (asked: Asked) => HookAnswer | Promise<HookAnswer>;

const SPEC_OF_1 = { type: "object", properties: { hostPort: { type: "string" }, plain: { type: "string" } } };
const SPEC_OF_2 = {
  type: "object",
  required: ["host"],
  properties: {
    host: { type: "string", minLength: 1 },
    port: { type: "string" },
    scheme: { type: "string", default: "https" },
    plain: { type: "string" },
  },
};

const version = (name: string, spec: object, storage: boolean) => ({
  ...CRON_TAB_VERSION,
  additionalPrinterColumns: [{ name: "Port", type: "string", jsonPath: ".spec.port" }],
  name,
  storage,
  schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
  subresources: {},
});

/** v1 has host and port in one text, v2 has a field for each. */
const converted = ({ desiredAPIVersion, objects }: Asked): KubeObject[] =>
  objects.map((object) => {
    const { hostPort, host, port, ...rest } = Object(object["spec"]);
    const isSecond = desiredAPIVersion.endsWith("/v2");
    const [first = "", second] = String(hostPort).split(":");
    const spec = isSecond
      ? { ...rest, host: first, ...(second !== undefined && { port: second }) }
      : { ...rest, hostPort: port === undefined ? host : `${host}:${port}` };
    return { ...object, apiVersion: desiredAPIVersion, spec };
  });

const success = (convertedObjects: readonly unknown[], more: object = {}): HookAnswer => ({
  response: { result: { status: "Success" }, convertedObjects, ...more },
});

const honest: Answer = (asked) => success(converted(asked));

describe.each(apiServersUnderTest())("conversion webhooks, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let hooks: WebhookServer;
  let count = 0;
  let group = "";
  let asked: Asked[] = [];
  let answer: Answer = honest;

  beforeAll(async () => {
    hooks = await startWebhookServer(REVIEW);
  });
  afterAll(() => hooks.close());
  beforeEach(() => {
    group = `convert-${String(++count)}.example.com`;
    asked = [];
    answer = honest;
  });

  const definition = (storage: "v1" | "v2" = "v1", webhook: object = {}) => {
    const plain = cronTabDefinition(group);
    const clientConfig = hooks.at(`/${group}`, (request) => {
      const question: Asked = Object(request);
      asked.push(question);
      return answer(question);
    });
    return {
      ...plain,
      spec: {
        ...plain.spec,
        versions: [version("v1", SPEC_OF_1, storage === "v1"), version("v2", SPEC_OF_2, storage === "v2")],
        conversion: { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: ["v1"], ...webhook } },
      },
    };
  };
  /** The paths of the objects in each version. */
  const define = async (storage: "v1" | "v2" = "v1"): Promise<{ v1: string; v2: string }> => {
    const v1 = await defineCronTabs(server.admin, group, definition(storage));
    const v2 = v1.replace("/v1/", "/v2/");
    await untilAnswered(server.admin, v2, 200);
    return { v1, v2 };
  };
  const storeIn = async (storage: "v1" | "v2", client: ApiClient = server.admin) => {
    const path = `${DEFINITIONS}/crontabs.${group}`;
    const { metadata } = await client.object("GET", path);
    const next = definition(storage);
    return await client.object("PUT", path, { ...next, metadata: { ...metadata } });
  };
  const first = (name: string, spec: object = { hostPort: "localhost:7070" }) => ({
    ...{ apiVersion: `${group}/v1`, kind: "CronTab", metadata: { name }, spec },
  });
  const second = (name: string, spec: object = { host: "localhost", port: "7070" }) => ({
    ...{ apiVersion: `${group}/v2`, kind: "CronTab", metadata: { name }, spec },
  });
  const specAt = async (path: string) => (await server.admin.object("GET", path))["spec"];
  const specsAt = async (path: string) => (await server.admin.list(path)).items.map(({ spec }) => spec);
  const AS_SECOND = { host: "localhost", port: "7070" };

  it("show an object in each version, without the defaults of that version", async () => {
    const { v1, v2 } = await define();
    await server.admin.object("POST", v1, first("a"));
    expect(await specAt(`${v1}/a`)).toEqual({ hostPort: "localhost:7070" });
    asked = [];
    expect(await specAt(`${v2}/a`)).toEqual(AS_SECOND);
    expect(await specsAt(v2)).toEqual([AS_SECOND]);
    expect(asked[0]).toMatchObject({ desiredAPIVersion: `${group}/v2`, objects: [first("a")] });
  });

  it("take creations, updates, patches and deletions in a version that is not stored", async () => {
    const { v1, v2 } = await define();
    const created = await server.admin.object("POST", v2, second("a"));
    expect(created).toMatchObject(second("a"));
    expect(await specAt(`${v1}/a`)).toMatchObject({ hostPort: "localhost:7070" });
    const { metadata } = created;
    const updated = await server.admin.object("PUT", `${v2}/a`, { ...second("a", { host: "x", port: "1" }), metadata });
    expect(updated).toMatchObject(second("a", { host: "x", port: "1" }));
    expect(updated.metadata.generation).toBe(2);
    const patched = await server.admin.patch("merge", `${v2}/a`, { spec: { port: "2" } });
    expect(patched).toMatchObject({ status: 200, body: { spec: { host: "x", port: "2" } } });
    expect(await specAt(`${v1}/a`)).toMatchObject({ hostPort: "x:2" });
    const invalid = await server.admin.patch("merge", `${v2}/a`, { spec: { host: "" } });
    expect(invalid).toMatchObject({ status: 422 });
    expect(await server.admin.json("DELETE", `${v2}/a`)).toMatchObject({ status: 200 });
    expect(await server.admin.json("GET", `${v1}/a`)).toMatchObject({ status: 404 });
  });

  // The caches of kube-apiserver ask for every version.
  it.runIf(candidate.isOurs)("are not asked where no version has to change", async () => {
    const { v1 } = await define();
    await server.admin.object("POST", v1, first("a"));
    await server.admin.patch("merge", `${v1}/a`, { spec: { plain: "x" } });
    await server.admin.object("GET", `${v1}/a`);
    await server.admin.object("GET", v1);
    expect(asked).toEqual([]);
  });

  it("leave old objects in their version when another one is stored, until they are written", async () => {
    const { v1, v2 } = await define("v1");
    await server.admin.object("POST", v1, first("old"));
    const changed = await storeIn("v2");
    expect(changed["status"]).toMatchObject({ storedVersions: ["v1", "v2"] });
    // The change of the definition is known a moment later.
    await untilStoredIn(v2, "v2");
    await server.admin.object("POST", v1, first("new", { hostPort: "example.com:1" }));
    expect(await specsAt(v1)).toMatchObject([{ hostPort: "example.com:1" }, { hostPort: "localhost:7070" }, {}]);
    expect(await specsAt(v2)).toMatchObject([{ host: "example.com" }, AS_SECOND, {}]);
    const { metadata, ...rest } = await server.admin.object("GET", `${v2}/old`);
    const same = await server.admin.object("PUT", `${v2}/old`, { ...rest, metadata });
    expect(same.metadata.resourceVersion).not.toBe(metadata.resourceVersion);
    asked = [];
    await server.admin.object("GET", `${v2}/old`);
    expect(askedFor("v2")).toEqual([]);
  });
  /** The questions of who reads or writes in that version; the caches of kube-apiserver ask for the other one. */
  const askedFor = (name: string) => asked.filter(({ desiredAPIVersion }) => desiredAPIVersion.endsWith(`/${name}`));
  /** Waits until an object that is written is stored in that version: reading it there asks nobody. */
  const untilStoredIn = async (path: string, name: string) => {
    for (let attempt = 0; ; attempt++) {
      const probe = { ...second(`z-${attempt}`), apiVersion: `${group}/${name}` };
      asked = [];
      await server.admin.object("POST", path, probe);
      if (askedFor(name).length === 0) return;
      await server.admin.json("DELETE", `${path}/z-${attempt}`);
    }
  };

  it("convert what watches tell, in its order, and select by the converted labels", async () => {
    answer = (question) => success(converted(question).map((object) => labelled(object, question)));
    const { v1, v2 } = await define();
    await server.admin.object("POST", v1, first("a"));
    const { resourceVersion } = await server.admin.list(v2);
    const watch = await server.admin.watch(v2, { resourceVersion });
    const selecting = await server.admin.watch(v2, { labelSelector: "as=v2" });
    await server.admin.object("POST", v1, first("b"));
    await server.admin.patch("merge", `${v1}/b`, { spec: { hostPort: "x:1" } });
    await server.admin.json("DELETE", `${v1}/b`);
    const told: unknown[] = [];
    await watch.until(({ type, object }) => {
      if (type !== "BOOKMARK") told.push([type, Object(object).metadata.name, Object(object).spec.host]);
      return type === "DELETED";
    });
    expect(told).toEqual([
      ["ADDED", "b", "localhost"],
      ["MODIFIED", "b", "x"],
      ["DELETED", "b", "x"],
    ]);
    const selected: unknown[] = [];
    await selecting.until(({ type, object }) => {
      selected.push([type, Object(object).metadata.name]);
      return type === "DELETED";
    });
    expect(selected).toEqual([
      ["ADDED", "a"],
      ["ADDED", "b"],
      ["MODIFIED", "b"],
      ["DELETED", "b"],
    ]);
    watch.close();
    selecting.close();
  });
  const labelled = (object: KubeObject, { desiredAPIVersion }: Asked) => {
    const as = desiredAPIVersion.split("/")[1] ?? "";
    return {
      ...object,
      metadata: { ...object.metadata, generation: 77, labels: { as }, finalizers: ["a.example.com/x"] },
    };
  };

  it("change nothing of the metadata but labels and annotations", async () => {
    answer = (question) => success(converted(question).map((object) => labelled(object, question)));
    const { v1, v2 } = await define();
    await server.admin.object("POST", v1, first("a"));
    const { metadata } = await server.admin.object("GET", `${v2}/a`);
    expect(metadata).toMatchObject({ generation: 1, labels: { as: "v2" } });
    expect(metadata.finalizers).toBeUndefined();
  });

  it.each<[string, Answer, string]>([
    ["tells a failure", () => ({ response: { result: { status: "Failed", message: "no way" } } }), "failed: no way"],
    ["tells no result", () => ({ response: {} }), "failed: response.result.status was '', not 'Success'"],
    ["returns too few objects", () => success([]), "returned 0 objects, expected 1"],
    [
      "answers another question",
      (question) => success(converted(question), { uid: "other" }),
      `failed: expected response.uid="UID", got "other"`,
    ],
    [
      "converts to another version",
      ({ objects }) => success(objects),
      "returned invalid object at index 0: invalid groupVersion (expected GROUP/v2, received GROUP/v1)",
    ],
    [
      "converts to another kind",
      (question) => success(converted(question).map((object) => ({ ...object, kind: "Tab" }))),
      "returned invalid object at index 0: invalid kind (expected CronTab, received Tab)",
    ],
    [
      "renames the object",
      (question) => success(converted(question).map((object) => withMetadata(object, { name: "b" }))),
      "returned invalid object: must have the same name: a != b",
    ],
    [
      "changes the uid",
      (question) => success(converted(question).map((object) => withMetadata(object, { uid: "b" }))),
      "returned invalid object: must have the same UID: OWN != b",
    ],
    [
      "sets labels that are no texts",
      (question) => success(converted(question).map((object) => withMetadata(object, { labels: { a: 1 } }))),
      "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object",
    ],
    [
      "sets a label that no label can be",
      (question) => success(converted(question).map((object) => withMetadata(object, { labels: { a: "-" } }))),
      'returned invalid metadata: metadata.labels: Invalid value: "-": ',
    ],
    ["is broken", () => ({ status: 500, body: "broken" }), "failed: an error on the server ("],
    ["is no webhook", () => ({ body: "hello" }), "failed: "],
  ])("that %s is refused in these words", async (_what, given, words) => {
    const { v1, v2 } = await define();
    const { metadata } = await server.admin.object("POST", v1, first("a"));
    answer = given;
    const { status, body } = await server.admin.json("GET", `${v2}/a`);
    const message = String(Object(body).message)
      .replaceAll(group, "GROUP")
      .replaceAll(metadata.uid ?? "", "OWN")
      .replace(/uid="[^"]+"/, 'uid="UID"');
    expect(status).toBe(500);
    expect(message.slice(0, 1_000)).toContain(`conversion webhook for GROUP/v1, Kind=CronTab ${words}`);
    expect(Object(body).reason).toBeUndefined();
    // Other versions, and writes in the version that is stored, need no answer.
    expect(await server.admin.json("GET", `${v1}/a`)).toMatchObject({ status: 200 });
  });
  const withMetadata = (object: KubeObject, changes: object) => ({
    ...object,
    metadata: { ...object.metadata, ...changes },
  });

  it("fail lists, writes and deletions in other versions, and end watches, while they are out of order", async () => {
    const { v1, v2 } = await define();
    const { metadata } = await server.admin.object("POST", v1, first("a"));
    answer = () => ({ response: { result: { status: "Failed", message: "no way" } } });
    // kube-apiserver answers lists from its cache, once that has the objects in this version.
    if (candidate.isOurs) expect(await server.admin.json("GET", v2)).toMatchObject({ status: 500 });
    for (const call of [
      server.admin.json("POST", v2, second("b")),
      server.admin.json("PUT", `${v2}/a`, { ...second("a"), metadata }),
      server.admin.patch("merge", `${v2}/a`, { spec: { port: "1" } }),
      server.admin.json("DELETE", `${v2}/a`),
    ]) {
      expect(await call).toMatchObject({ status: 500, body: { message: expect.stringContaining("no way") } });
    }
    expect(await specAt(`${v1}/a`)).toEqual({ hostPort: "localhost:7070" });
    answer = honest;
    expect(await specAt(`${v2}/a`)).toEqual(AS_SECOND);
  });

  it("keep the fields of managers who apply in different versions apart", async () => {
    const { v1, v2 } = await define();
    const apply = async (path: string, object: object, fieldManager: string, query: Record<string, string> = {}) =>
      await server.admin.patch("apply", path, object, { query: { fieldManager, ...query } });
    expect(await apply(`${v1}/a`, first("a"), "one")).toMatchObject({ status: 201 });
    const refused = await apply(`${v2}/a`, second("a", { host: "other", port: "7070" }), "two");
    expect(refused).toMatchObject({ status: 409, body: { reason: "Conflict" } });
    expect(Object(refused.body).message).toContain('conflict with "one": .spec.hostPort');
    const shared = await apply(`${v2}/a`, second("a", { host: "localhost", port: "7070", plain: "x" }), "two");
    expect(shared).toMatchObject({ status: 200 });
    const taken = await apply(`${v2}/a`, second("a", { host: "other", port: "7070" }), "two", { force: "true" });
    expect(taken).toMatchObject({ status: 200 });
    const { managedFields = [] } = (await server.admin.object("GET", `${v1}/a`)).metadata;
    const owners = managedFields.map(({ manager, apiVersion, fieldsV1 }) => [manager, apiVersion, fieldsV1]);
    const { spec } = { spec: { "f:host": {}, "f:port": {} } };
    expect(owners).toEqual([["two", `${group}/v2`, { "f:spec": spec }]]);
    expect(await specAt(`${v1}/a`)).toMatchObject({ hostPort: "other:7070" });
  });

  it("lose what their manager applied in one version and not in the other", async () => {
    const { v1, v2 } = await define();
    const query = { fieldManager: "one" };
    const spec = { host: "localhost", port: "7070", plain: "x" };
    expect(await server.admin.patch("apply", `${v2}/a`, second("a", spec), { query })).toMatchObject({ status: 201 });
    expect(await specAt(`${v2}/a`)).toEqual(spec);
    expect(await server.admin.patch("apply", `${v1}/a`, first("a"), { query })).toMatchObject({ status: 200 });
    expect(await specAt(`${v2}/a`)).toEqual(AS_SECOND);
  });

  it.each<[string, object, string[]]>([
    ["without a place", { clientConfig: undefined }, ["spec.conversion.webhookClientConfig: Required value"]],
    [
      "with two places",
      { clientConfig: { url: "https://a", service: { namespace: "a", name: "b" } } },
      ["exactly one of url or service"],
    ],
    ["over plain HTTP", { clientConfig: { url: "http://a" } }, ["'https' is the only allowed URL scheme"]],
    [
      "without a version of reviews",
      { conversionReviewVersions: [] },
      ["spec.conversion.conversionReviewVersions: Required value"],
    ],
    [
      "with an unknown version of reviews",
      { conversionReviewVersions: ["v9"] },
      ["must include at least one of v1, v1beta1"],
    ],
    ["with a version twice", { conversionReviewVersions: ["v1", "v1"] }, ["duplicate version"]],
  ])("%s are refused", async (_what, webhook, words) => {
    const { status, body } = await server.admin.json("POST", DEFINITIONS, definition("v1", webhook));
    expect(status).toBe(422);
    for (const word of words) expect(Object(body).message).toContain(word);
  });

  it("may speak the older version of reviews", async () => {
    const v1 = await defineCronTabs(
      server.admin,
      group,
      definition("v1", { conversionReviewVersions: ["v9", "v1beta1", "v1"] }),
    );
    answer = (question) => ({
      body: JSON.stringify({
        ...OLD_REVIEW,
        response: { result: { status: "Success" }, convertedObjects: converted(question) },
      }),
    });
    await server.admin.object("POST", v1, first("a"));
    expect(await specAt(`${v1.replace("/v1/", "/v2/")}/a`)).toEqual(AS_SECOND);
  });

  it("that cannot be believed for their certificates keep a definition from being served", async () => {
    const { url } = hooks.at("/x", () => "silence");
    const clientConfig = { url, caBundle: Buffer.from("no certificate").toString("base64") };
    const created = await server.admin.object("POST", DEFINITIONS, definition("v1", { clientConfig }));
    const { resourceVersion = "", name = "" } = created.metadata;
    const watch = await server.admin.watch(DEFINITIONS, { resourceVersion, fieldSelector: `metadata.name=${name}` });
    const isTold = ({ object }: WatchEvent) => JSON.stringify(object["status"]).includes('"InvalidCABundle"');
    const events = await watch.until(isTold);
    watch.close();
    expect(JSON.stringify(events.at(-1))).toContain("The conversion webhook CABundle is invalid");
  });
});

const REVIEW = { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview" };
const OLD_REVIEW = { apiVersion: "apiextensions.k8s.io/v1beta1", kind: "ConversionReview" };
