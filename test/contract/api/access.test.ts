import { beforeAll, describe, expect, it, vi } from "vitest";
import { isRecord } from "../../../src/api/object.ts";
import type { ApiClient } from "./client.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { configMap, newNamespace, pathsIn } from "./objects.ts";

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

const AUTHORIZATION = "/apis/authorization.k8s.io/v1";

/** The first minor version in which everybody may ask who they are. */
const SELF_SUBJECT_REVIEW = 28;

describe.each(apiServersUnderTest())("access, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let namespace: string;
  let paths: ReturnType<typeof pathsIn>;

  beforeAll(async () => {
    namespace = await newNamespace(server.admin);
    paths = pathsIn(namespace);
  });

  /** A service account of the namespace with a role of these rules, and a client with its token. */
  async function account(name: string, rules: readonly Rule[]): Promise<ApiClient> {
    await server.admin.object("POST", paths.serviceAccounts, { metadata: { name } });
    await server.admin.object("POST", paths.roles, { metadata: { name }, rules });
    await server.admin.object("POST", paths.roleBindings, {
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    });
    await untilAllowed(userOf(name), rules);
    const request = { spec: { expirationSeconds: 3600 } };
    const { status } = await server.admin.object("POST", `${paths.serviceAccounts}/${name}/token`, request);
    return server.connect({ token: String(isRecord(status) ? status["token"] : "") });
  }

  /** A real server hears of roles and bindings a moment later. */
  async function untilAllowed(user: string, [rule]: readonly Rule[]): Promise<void> {
    if (rule === undefined) return;
    const [resource, subresource] = (rule.resources[0] ?? "").split("/");
    const attributes = { namespace, group: rule.apiGroups[0], resource, subresource, verb: rule.verbs[0] };
    const resourceAttributes = { ...attributes, name: rule.resourceNames?.[0] };
    const ask = () =>
      server.admin.object("POST", `${AUTHORIZATION}/subjectaccessreviews`, { spec: { user, resourceAttributes } });
    await vi.waitFor(async () => expect(await ask()).toMatchObject({ status: { allowed: true } }), { timeout: 10_000 });
  }

  const READ: Rule[] = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch"] }];
  const userOf = (name: string) => `system:serviceaccount:${namespace}:${name}`;

  describe("of nobody", () => {
    it.each(["/healthz", "/livez", "/readyz", "/version"])("is given to %s", async (path) => {
      expect(await server.connect({}).json("GET", path)).toMatchObject({ status: 200 });
    });

    it.each(["/api", "/apis", "/openapi/v2", "/metrics", "/nosuchpath"])("is refused to %s", async (path) => {
      expect(await server.connect({}).json("GET", path)).toMatchObject({
        status: 403,
        body: { reason: "Forbidden", message: `forbidden: User "system:anonymous" cannot get path "${path}"` },
      });
    });

    it("stays refused on connections that resume an earlier one", async () => {
      const client = server.connect({});
      await client.json("GET", "/version");
      const answers = await Promise.all(Array.from({ length: 5 }, () => client.json("GET", "/api")));
      for (const answer of answers) {
        expect(answer).toMatchObject({ status: 403, body: { message: expect.stringContaining('"system:anonymous"') } });
      }
    });

    it("is refused to objects", async () => {
      expect(await server.connect({}).json("GET", paths.configMaps)).toMatchObject({
        status: 403,
        body: {
          reason: "Forbidden",
          message: `configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" in the namespace "${namespace}"`,
          details: { kind: "configmaps" },
        },
      });
    });
  });

  it.each(["nonsense", "a.b.c", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0."])(
    "is for nobody with the token %s",
    async (token) => {
      expect(await server.connect({ token }).json("GET", "/version")).toMatchObject({
        status: 401,
        body: { kind: "Status", reason: "Unauthorized", message: "Unauthorized", code: 401 },
      });
    },
  );

  it("is for a service account what its role says, in its namespace", async () => {
    const client = await account("reader", READ);
    await server.admin.object("POST", paths.configMaps, configMap("readable", { a: "1" }));
    expect(await client.object("GET", `${paths.configMaps}/readable`)).toMatchObject({ data: { a: "1" } });
    expect(await client.json("GET", paths.configMaps)).toMatchObject({ status: 200 });
    const watch = await client.watch(paths.configMaps, { fieldSelector: "metadata.name=readable" });
    expect(await watch.next()).toMatchObject({ type: "ADDED" });
    watch.close();
    expect(await client.json("DELETE", `${paths.configMaps}/readable`)).toMatchObject({
      status: 403,
      body: {
        message: `configmaps "readable" is forbidden: User "${userOf("reader")}" cannot delete resource "configmaps" in API group "" in the namespace "${namespace}"`,
        details: { name: "readable", kind: "configmaps" },
      },
    });
    for (const path of [paths.secrets, pathsIn("default").configMaps, "/api/v1/configmaps"]) {
      expect(await client.json("GET", path)).toMatchObject({ status: 403 });
    }
  });

  it("is for everybody who is somebody to discovery", async () => {
    const client = await account("discoverer", []);
    for (const path of ["/api", "/apis", "/api/v1", "/openapi/v3", "/version"]) {
      expect(await client.json("GET", path)).toMatchObject({ status: 200 });
    }
  });

  it("is told apart by subresource, name and verb", async () => {
    const client = await account("narrow", [
      { apiGroups: [""], resources: ["configmaps"], resourceNames: ["mine"], verbs: ["get", "update"] },
      { apiGroups: [""], resources: ["pods/status"], verbs: ["get"] },
    ]);
    await server.admin.object("POST", paths.configMaps, configMap("mine"));
    expect(await client.json("GET", `${paths.configMaps}/mine`)).toMatchObject({ status: 200 });
    expect(await client.json("GET", `${paths.configMaps}/other`)).toMatchObject({ status: 403 });
    expect(await client.json("GET", paths.configMaps)).toMatchObject({ status: 403 });
    expect(await client.json("GET", `${paths.pods}/x/status`)).toMatchObject({ status: 404 });
    expect(await client.json("GET", `${paths.pods}/x`)).toMatchObject({ status: 403 });
  });

  it("ends with the binding", async () => {
    const client = await account("former", READ);
    expect(await client.json("GET", paths.configMaps)).toMatchObject({ status: 200 });
    await server.admin.json("DELETE", `${paths.roleBindings}/former`);
    await expect.poll(async () => (await client.json("GET", paths.configMaps)).status, { timeout: 10_000 }).toBe(403);
  });

  it("cannot be given away by who does not have it", async () => {
    const rbac = { apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"], verbs: ["create"] };
    const client = await account("giver", [...READ, rbac]);
    const give = (name: string, rules: readonly object[]) =>
      client.json("POST", paths.roles, { metadata: { name }, rules });
    expect(await give("same", READ)).toMatchObject({ status: 201 });
    expect(await give("more", [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }])).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining("attempting to grant RBAC permissions not currently held") },
    });
  });

  describe("when somebody asks about it", () => {
    const review = (client: ApiClient, kind: string, spec: object) =>
      client.object("POST", `${AUTHORIZATION}/${kind}`, { spec });

    it("is told to the asker", async () => {
      const client = await account("asker", READ);
      const ask = (attributes: object) =>
        review(client, "selfsubjectaccessreviews", { resourceAttributes: attributes });
      expect(await ask({ namespace, verb: "list", resource: "configmaps" })).toMatchObject({
        status: { allowed: true },
      });
      expect(await ask({ namespace, verb: "create", resource: "configmaps" })).toMatchObject({
        status: { allowed: false },
      });
      expect(await ask({ verb: "list", resource: "configmaps" })).toMatchObject({ status: { allowed: false } });
      const path = { nonResourceAttributes: { verb: "get", path: "/healthz" } };
      expect(await review(client, "selfsubjectaccessreviews", path)).toMatchObject({ status: { allowed: true } });
    });

    it("is told of others to who may ask", async () => {
      const client = await account("asked-about", READ);
      const spec = {
        user: userOf("asked-about"),
        resourceAttributes: { namespace, verb: "get", resource: "configmaps" },
      };
      expect(await review(server.admin, "subjectaccessreviews", spec)).toMatchObject({ status: { allowed: true } });
      const nobody = { ...spec, user: "nobody" };
      expect(await review(server.admin, "subjectaccessreviews", nobody)).toMatchObject({ status: { allowed: false } });
      expect(await client.json("POST", `${AUTHORIZATION}/subjectaccessreviews`, { spec })).toMatchObject({
        status: 403,
      });
    });

    it("is listed as rules", async () => {
      const client = await account("lister", READ);
      expect(await review(client, "selfsubjectrulesreviews", { namespace })).toMatchObject({
        status: {
          incomplete: expect.any(Boolean),
          resourceRules: expect.arrayContaining([
            expect.objectContaining({ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch"] }),
          ]),
          nonResourceRules: expect.arrayContaining([expect.objectContaining({ verbs: ["get"] })]),
        },
      });
    });

    it("needs a question", async () => {
      expect(await server.admin.json("POST", `${AUTHORIZATION}/selfsubjectaccessreviews`, { spec: {} })).toMatchObject({
        status: 422,
        body: { reason: "Invalid" },
      });
    });

    it("says by which certificate, too", async ({ skip }) => {
      skip(server.minor < 33, "it is told since 1.33");
      expect(await server.admin.object("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {})).toMatchObject({
        status: {
          userInfo: {
            extra: {
              "authentication.kubernetes.io/credential-id": [expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/)],
            },
          },
        },
      });
    });

    it("says who asks", async ({ skip }) => {
      skip(server.minor < SELF_SUBJECT_REVIEW, "it is asked for since 1.28");
      const client = await account("named", []);
      const self = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
      expect(await client.object("POST", self, {})).toMatchObject({
        status: { userInfo: { username: userOf("named"), groups: expect.arrayContaining(["system:serviceaccounts"]) } },
      });
      expect(await server.admin.object("POST", self, {})).toMatchObject({
        status: { userInfo: { groups: expect.arrayContaining(["system:masters", "system:authenticated"]) } },
      });
    });
  });

  describe("as somebody else", () => {
    const whoAmI = async (client: ApiClient, headers: Readonly<Record<string, string | readonly string[]>>) => {
      return client.json("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, { headers });
    };

    it("is for who may impersonate", async ({ skip }) => {
      skip(server.minor < SELF_SUBJECT_REVIEW, "it is asked for since 1.28");
      const headers = {
        "impersonate-user": "jane",
        "impersonate-group": ["dev", "ops"],
        "impersonate-extra-scope": "view",
      };
      expect(await whoAmI(server.admin, headers)).toMatchObject({
        status: 201,
        body: {
          status: {
            userInfo: { username: "jane", groups: ["dev", "ops", "system:authenticated"], extra: { scope: ["view"] } },
          },
        },
      });
    });

    it("is what the other may", async () => {
      const headers = { "impersonate-user": "jane" };
      expect(await server.admin.json("GET", paths.configMaps, undefined, { headers })).toMatchObject({
        status: 403,
        body: { message: expect.stringContaining('User "jane" cannot list resource "configmaps"') },
      });
    });

    it("is refused to all others", async () => {
      const client = await account("pretender", READ);
      // Since 1.36 the right to impersonate may be bound to what is done then, and a refusal speaks of that.
      const isConstrained = !candidate.isOurs && server.minor >= 36;
      const verb = isConstrained ? "impersonate-on:user-info:create" : "impersonate";
      const resource = isConstrained
        ? 'resource "selfsubjectreviews" in API group "authentication.k8s.io"'
        : 'resource "users" in API group ""';
      expect(await whoAmI(client, { "impersonate-user": "kubernetes-admin" })).toMatchObject({
        status: 403,
        body: { message: expect.stringContaining(`cannot ${verb} ${resource}`) },
      });
    });

    it("needs a user before a group", async () => {
      const { status } = await whoAmI(server.admin, { "impersonate-group": "dev" });
      expect(status).toBeGreaterThanOrEqual(400);
    });
  });
});
