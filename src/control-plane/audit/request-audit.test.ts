import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { encodeProtobuf } from "../../api/protobuf/encode-protobuf.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { createFakeRequest } from "../../host/fake/fake-request.ts";
import type { AnswerBody, ServedAnswer } from "../../host/http-server.ts";
import type { AccessAttributes } from "../ports/request.ts";
import { readAuditPolicy } from "./audit-policy.ts";
import { createAuditTrail } from "./request-audit.ts";

const user = { username: "jane", uid: "u1", groups: ["developers"], extra: { scopes: ["a"] } };
const asked = (fields: object = {}): AccessAttributes => ({
  ...{ user, verb: "create", group: "apps", version: "v1", resource: "deployments" },
  ...{ subresource: "", namespace: "default", name: "", ...fields },
});
const answered = (body: AnswerBody, status = 200): ServedAnswer => ({
  status,
  headers: { "content-type": "application/json" },
  body,
});

function bench(level: string, more = "") {
  const events: Array<Record<string, unknown>> = [];
  const clock = createFakeClock({ now: Date.UTC(2026, 0, 31, 10, 20, 30, 400) });
  const sink = { write: (line: string) => void events.push(JSON.parse(line)), close: async () => undefined };
  const text = `apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: ${level}${more} }]`;
  const trail = createAuditTrail({ sink, clock }, readAuditPolicy(text, "p"));
  const request = createFakeRequest("/apis/apps/v1/namespaces/default/deployments?dryRun=All", {
    headers: { "user-agent": "kubectl" },
  });
  const begin = (fields: object = {}) => trail.begin(request, { auditId: "id1", attributes: asked(fields) });
  return { events, clock, trail, begin, request };
}

const stages = (events: ReadonlyArray<Record<string, unknown>>) => events.map(({ stage }) => stage);

describe("createAuditTrail", () => {
  it("records who asked for what, and when, in upstream's form", () => {
    const { events, begin } = bench("Metadata");
    const audit = begin();
    audit?.annotate("authorization.k8s.io/decision", "allow");
    audit?.annotate("authorization.k8s.io/decision", "again");
    audit?.body({ metadata: { name: "web", uid: "u2", resourceVersion: "5" }, spec: {} });
    audit?.answer(answered('{"kind":"Deployment"}', 201));
    const common = {
      kind: "Event",
      apiVersion: "audit.k8s.io/v1",
      level: "Metadata",
      auditID: "id1",
      requestURI: "/apis/apps/v1/namespaces/default/deployments?dryRun=All",
      verb: "create",
      user: { username: "jane", uid: "u1", groups: ["developers"], extra: { scopes: ["a"] } },
      sourceIPs: ["192.0.2.1"],
      userAgent: "kubectl",
      requestReceivedTimestamp: "2026-01-31T10:20:30.400000Z",
      stageTimestamp: "2026-01-31T10:20:30.400000Z",
    };
    const objectRef = { resource: "deployments", namespace: "default", apiGroup: "apps", apiVersion: "v1" };
    expect(events).toEqual([
      { ...common, stage: "RequestReceived", objectRef },
      {
        ...common,
        stage: "ResponseComplete",
        objectRef: { ...objectRef, name: "web", uid: "u2", resourceVersion: "5" },
        responseStatus: { metadata: {}, code: 201 },
        annotations: { "authorization.k8s.io/decision": "allow" },
      },
    ]);
  });

  it.each([
    ["Metadata", undefined, undefined],
    ["Request", { a: 1 }, undefined],
    ["RequestResponse", { a: 1 }, { b: 2 }],
  ])("records objects at level %s as it says", (level, sent, given) => {
    const { events, begin } = bench(level);
    const audit = begin();
    audit?.body({ a: 1 });
    audit?.answer(answered([Buffer.from('{"b":'), Buffer.from("2}")]));
    expect(events[1]?.["requestObject"]).toEqual(sent);
    expect(events[1]?.["responseObject"]).toEqual(given);
  });

  it("reads answers in protobuf, and leaves out what it cannot read", () => {
    const { events, begin } = bench("RequestResponse");
    const pod = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { b: "c" } };
    const type = { "content-type": "application/vnd.kubernetes.protobuf" };
    begin()?.answer({ status: 200, headers: type, body: Buffer.from(encodeProtobuf(pod)) });
    begin()?.answer({ status: 200, headers: type, body: Buffer.from("nonsense") });
    begin()?.answer({ status: 200, headers: { "content-type": "text/plain" }, body: "ok" });
    expect(events[1]).toMatchObject({ responseObject: { kind: "ConfigMap", data: { b: "c" } } });
    expect(events[3]).not.toHaveProperty("responseObject");
    expect(events[5]).not.toHaveProperty("responseObject");
  });

  it("leaves managed fields out, of objects and of lists, where that is asked for", () => {
    const { events, begin } = bench("RequestResponse", ", omitManagedFields: true");
    const object = { metadata: { name: "a", managedFields: [{ manager: "m" }] } };
    const audit = begin();
    audit?.body(object);
    audit?.answer(answered(JSON.stringify({ kind: "List", items: [object] })));
    expect(events[1]).toMatchObject({
      requestObject: { metadata: { name: "a" } },
      responseObject: { items: [{ metadata: { name: "a" } }] },
    });
    expect(JSON.stringify(events)).not.toContain("managedFields");
  });

  it("tells a refusal in its own words, at any level", () => {
    const { events, begin } = bench("Metadata");
    const status = { kind: "Status", status: "Failure", message: "no", reason: "Forbidden", code: 403 };
    begin()?.answer(answered(JSON.stringify(status), 403));
    expect(events[1]?.["responseStatus"]).toEqual({
      metadata: {},
      status: "Failure",
      message: "no",
      reason: "Forbidden",
      code: 403,
    });
  });

  it("leaves out an object that is too large, and says so", () => {
    const { events, begin } = bench("Request");
    const audit = begin();
    audit?.body({ text: "x".repeat(1024 * 1024) });
    audit?.answer(answered("{}"));
    expect(events[1]).not.toHaveProperty("requestObject");
    expect(events[1]).toMatchObject({ annotations: { "audit.k8s.io/truncated": "true" } });
  });

  it("tells as whom a request is served", () => {
    const { events, begin } = bench("Metadata");
    const audit = begin();
    audit?.impersonate({ username: "joe", groups: [] });
    audit?.answer(answered("{}"));
    expect(events[1]).toMatchObject({ user: { username: "jane" }, impersonatedUser: { username: "joe" } });
  });

  it("leaves out stages, and requests that a rule lets pass", () => {
    const { events, begin } = bench("Metadata", ", omitStages: [RequestReceived], verbs: [create]");
    expect(begin({ verb: "get" })).toBeUndefined();
    begin()?.answer(answered("{}"));
    expect(stages(events)).toEqual(["ResponseComplete"]);
    expect(bench("None").begin()).toBeUndefined();
  });

  it("tells the beginning and the end of an answer that lasts", async () => {
    const { events, begin } = bench("Metadata");
    const lasting = (body: AnswerBody) => begin({ verb: "watch" })?.answer(answered(body));
    const abort = new AbortController();
    const writer = { write() {}, bufferedBytes: 0, end() {}, signal: abort.signal };
    const streamed = lasting({ stream() {} });
    const expected = ["RequestReceived", "ResponseStarted"];
    expect(stages(events)).toEqual(expected);
    if (streamed && typeof streamed.body === "object" && "stream" in streamed.body) streamed.body.stream(writer);
    expect(stages(events)).toEqual(expected);
    abort.abort();
    expect(stages(events)).toEqual([...expected, "ResponseComplete"]);
    const source = new PassThrough();
    lasting({ source });
    source.destroy();
    await new Promise((resolve) => source.once("close", resolve));
    expect(stages(events).slice(3)).toEqual([...expected, "ResponseComplete"]);
  });

  it.each<[string, "produce" | "takeOver"]>([
    ["paced", "produce"],
    ["taken over", "takeOver"],
  ])("tells the end of an answer that is %s, also when it breaks", async (_, form) => {
    const { events, begin } = bench("Metadata");
    const broken = async () => await Promise.reject(new Error("broken"));
    const body = form === "produce" ? { produce: broken } : { takeOver: broken };
    const answer = begin({ subresource: "exec" })?.answer(answered(body));
    expect(stages(events)).toEqual(["RequestReceived", "ResponseStarted"]);
    const run: unknown = answer && Reflect.get(Object(answer.body), form);
    await expect(typeof run === "function" ? run({}) : undefined).rejects.toThrow("broken");
    expect(stages(events).at(-1)).toBe("ResponseComplete");
  });

  it("tells a failure by a bug", () => {
    const { events, begin } = bench("Metadata");
    begin()?.fail(new Error("boom"));
    expect(events[1]).toMatchObject({ stage: "Panic", responseStatus: { code: 500, reason: "InternalError" } });
  });

  it("records who could not prove who they are, without what they showed", () => {
    const { events, trail } = bench("Metadata");
    const nobody = asked({ user: { username: "", groups: [] } });
    const request = createFakeRequest("/api", { headers: { authorization: "Bearer secret-token" } });
    const status = { status: "Failure", message: "Unauthorized", reason: "Unauthorized", code: 401 };
    const answer = answered(JSON.stringify({ kind: "Status", ...status }), 401);
    trail.refuse(request, { auditId: "id2", attributes: nobody }, answer);
    expect(events).toMatchObject([{ stage: "ResponseStarted", user: {}, responseStatus: status }]);
    expect(JSON.stringify(events)).not.toContain("secret-token");
  });
});
