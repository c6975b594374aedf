import { beforeAll, describe, expect, it } from "vitest";
import { type AuditEvent, auditedServers } from "./audited-servers.ts";
import { useApiServer } from "./harness.ts";
import { changed, configMap, newNamespace, pathsIn, secret } from "./objects.ts";
import { createPolicies } from "./policies.ts";

/** Nothing is recorded but what the cases do: in namespaces of theirs, or by names that only they use. */
const POLICY = `
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: None
  users: ["system:apiserver"]
- level: Metadata
  verbs: [create]
  resources: [{ group: "", resources: [secrets] }]
  omitStages: [RequestReceived]
- level: RequestResponse
  verbs: [create, update, patch, delete]
  resources: [{ group: "", resources: [configmaps] }]
  omitManagedFields: true
  omitStages: [RequestReceived]
- level: Metadata
  verbs: [watch]
  resources: [{ group: "", resources: [configmaps] }]
  omitStages: [RequestReceived]
- level: Metadata
  nonResourceURLs: ["/version*"]
`;

describe.each(auditedServers(POLICY))("the audit log, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let namespace = "";
  let paths: ReturnType<typeof pathsIn>;

  beforeAll(async () => {
    namespace = await newNamespace(server.admin);
    paths = pathsIn(namespace);
  });

  const eventsOf = async (fits: (event: AuditEvent) => boolean) => (await candidate.readEvents()).filter(fits);
  /** What was recorded of requests whose URI contains the text, once there is as much as expected. */
  const recorded = async (text: string, expected: readonly object[]) => {
    const find = () => eventsOf(({ requestURI }) => String(requestURI).includes(text));
    await expect.poll(async () => (await find()).length, { timeout: 10_000 }).toBe(expected.length);
    expect(await find()).toMatchObject(expected);
  };

  it("tells who did what to which object, and how it ended", async () => {
    await server.admin.object("POST", paths.secrets, secret("plain", "hidden"), { query: { fieldManager: "one" } });
    const objectRef = { resource: "secrets", namespace, name: "plain", apiVersion: "v1" };
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    await recorded(`${paths.secrets}?fieldManager=one`, [
      {
        kind: "Event",
        apiVersion: "audit.k8s.io/v1",
        level: "Metadata",
        auditID: expect.stringMatching(/^[0-9a-f-]{36}$/),
        stage: "ResponseComplete",
        verb: "create",
        user: { username: expect.any(String), groups: expect.arrayContaining(["system:masters"]) },
        sourceIPs: ["127.0.0.1"],
        objectRef,
        responseStatus: { metadata: {}, code: 201 },
        requestReceivedTimestamp: time,
        stageTimestamp: time,
        annotations: { "authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": "" },
      },
    ]);
    expect(JSON.stringify(await candidate.readEvents())).not.toContain(Buffer.from("hidden").toString("base64"));
  });

  it("holds what was sent and what was answered, without managed fields", async () => {
    const created = await server.admin.object("POST", paths.configMaps, configMap("whole", { a: "1" }));
    await server.admin.object("PUT", `${paths.configMaps}/whole`, changed(created, { data: { a: "2" } }));
    await server.admin.patch("merge", `${paths.configMaps}/whole`, { data: { a: "3" } });
    const objectRef = { resource: "configmaps", namespace, name: "whole" };
    await recorded(`${paths.configMaps}/whole`, [
      {
        level: "RequestResponse",
        verb: "update",
        objectRef: { ...objectRef, uid: created.metadata.uid, resourceVersion: created.metadata.resourceVersion },
        requestObject: { data: { a: "2" } },
        responseObject: { kind: "ConfigMap", data: { a: "2" } },
      },
      { verb: "patch", objectRef, requestObject: { data: { a: "3" } }, responseObject: { data: { a: "3" } } },
    ]);
    expect(JSON.stringify(await candidate.readEvents())).not.toContain("managedFields");
  });

  it("tells a refusal in the words of the answer", async () => {
    expect(await server.admin.json("DELETE", `${paths.configMaps}/absent`)).toMatchObject({ status: 404 });
    const message = 'configmaps "absent" not found';
    await recorded(`${paths.configMaps}/absent`, [
      { verb: "delete", responseStatus: { status: "Failure", reason: "NotFound", message, code: 404 } },
    ]);
  });

  it("tells the beginning and the end of a watch", async () => {
    const watch = await server.admin.watch(paths.configMaps, { labelSelector: "watched=yes" });
    const started = { stage: "ResponseStarted", verb: "watch", responseStatus: { code: 200 } };
    await recorded("labelSelector=watched", [started]);
    watch.close();
    await recorded("labelSelector=watched", [started, { stage: "ResponseComplete" }]);
  });

  it("tells of paths, and of those who cannot prove who they are", async () => {
    await server.admin.json("GET", "/version", undefined, { query: { who: "admin" } });
    await recorded("/version?who=admin", [{ stage: "RequestReceived", verb: "get" }, { stage: "ResponseComplete" }]);
    await server.connect({ token: "nonsense" }).json("GET", "/version", undefined, { query: { who: "stranger" } });
    await recorded("/version?who=stranger", [
      { stage: "ResponseStarted", responseStatus: { code: 401, message: "Unauthorized" } },
    ]);
    expect(JSON.stringify(await candidate.readEvents())).not.toContain("nonsense");
  });

  it("tells of impersonation", async () => {
    const headers = { "impersonate-user": "joe" };
    const answer = await server.admin.json("GET", "/version", undefined, { headers, query: { who: "joe" } });
    expect(answer.status).toBe(200);
    const impersonatedUser = { username: "joe", groups: ["system:authenticated"] };
    await recorded("/version?who=joe", [{ stage: "RequestReceived" }, { stage: "ResponseComplete", impersonatedUser }]);
  });

  it("has the annotations of admission policies, and what they only audit", async () => {
    const policies = createPolicies(server.admin, { kind: "Validating", namespace });
    const { policy, binding } = await policies.register({
      validations: [{ expression: "false", message: "never" }],
      auditAnnotations: [
        { key: "name", valueExpression: "'it is ' + object.metadata.name" },
        { key: "nothing", valueExpression: "null" },
      ],
      binding: { validationActions: ["Audit"] },
    });
    await server.admin.object("POST", paths.configMaps, configMap("judged"), { query: { fieldManager: "judged" } });
    await policies.remove();
    const failure = { message: "never", policy, binding, expressionIndex: 0, validationActions: ["Audit"] };
    const find = () => eventsOf(({ requestURI }) => String(requestURI).includes("fieldManager=judged"));
    await expect.poll(async () => (await find()).length, { timeout: 10_000 }).toBe(1);
    const [event] = await find();
    const annotations = Object(event?.["annotations"]);
    expect(annotations).toMatchObject({ [`${policy}/name`]: "it is judged" });
    expect(annotations).not.toHaveProperty(`${policy}/nothing`);
    expect(JSON.parse(annotations["validation.policy.admission.k8s.io/validation_failure"])).toEqual([failure]);
  });
});
