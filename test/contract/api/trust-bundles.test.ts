import { beforeAll, describe, expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/object.ts";
import { createCertificateAuthority } from "../../../src/pki/issue-certificate.ts";
import type { CallOptions } from "./client.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { changed, namesOf } from "./objects.ts";

const GROUP = "/apis/certificates.k8s.io/v1beta1";
const BUNDLES = `${GROUP}/clustertrustbundles`;
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
/** A beta that kube-apiserver serves only when it is told to. */
const SERVING = apiServersUnderTest().filter(({ isOurs }) => isOurs);

interface BundleParts {
  readonly signerName?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

const as = (user: string, ...groups: string[]): CallOptions => ({
  headers: { "impersonate-user": user, "impersonate-group": ["system:authenticated", ...groups] },
});

describe.each(SERVING)("cluster trust bundles, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let root: string;
  let other: string;
  beforeAll(async () => {
    const create = async (commonName: string) => {
      return (await createCertificateAuthority({ commonName, days: 1, now: Date.now() })).certificatePem;
    };
    [root, other] = [await create("root"), await create("other")];
  });

  const bundle = (name: string, trustBundle: string, { labels, ...spec }: BundleParts = {}) => ({
    apiVersion: "certificates.k8s.io/v1beta1",
    kind: "ClusterTrustBundle",
    metadata: { name, ...(labels && { labels }) },
    spec: { ...spec, trustBundle },
  });
  const create = async (body: object, options?: CallOptions) => {
    return await server.admin.object("POST", BUNDLES, body, options);
  };
  /** The status and the fields that were wrong, or the message where none was. */
  const refused = async (body: object, options?: CallOptions) => {
    const { status, body: answer } = await server.admin.json("POST", BUNDLES, body, options);
    const { details, message } = Object(answer);
    return [status, details?.causes?.map(({ field }: { field: string }) => field) ?? message];
  };

  it("are found by clients", async () => {
    const get = async (path: string) => (await server.admin.json("GET", path)).body;
    expect(await get("/apis/certificates.k8s.io")).toMatchObject({
      versions: [{ version: "v1" }, { version: "v1beta1" }],
      preferredVersion: { version: "v1" },
    });
    expect(await get(GROUP)).toMatchObject({
      resources: expect.arrayContaining([
        expect.objectContaining({
          name: "clustertrustbundles",
          singularName: "clustertrustbundle",
          kind: "ClusterTrustBundle",
          namespaced: false,
          verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        }),
      ]),
    });
    expect(await get(`/openapi/v3${GROUP}`)).toMatchObject({
      components: {
        schemas: {
          "io.k8s.api.certificates.v1beta1.ClusterTrustBundle": {
            required: ["spec"],
            "x-kubernetes-group-version-kind": expect.arrayContaining([
              { group: "certificates.k8s.io", version: "v1beta1", kind: "ClusterTrustBundle" },
            ]),
          },
          "io.k8s.api.certificates.v1beta1.ClusterTrustBundleSpec": {
            required: ["trustBundle"],
            properties: { signerName: { type: "string" }, trustBundle: { type: "string" } },
          },
        },
      },
    });
  });

  it("are kept as they were sent", async () => {
    const sent = bundle("plain", `# The root of it all\n${root}`);
    const made = await create(sent);
    expect(made).toMatchObject(sent);
    expect(made.metadata.namespace).toBeUndefined();
    expect(await server.admin.object("GET", `${BUNDLES}/plain`)).toEqual(made);
  });

  it("are printed with their signers", async () => {
    await create(bundle("example.com:printed:a", root, { signerName: "example.com/printed" }));
    const { body } = await server.admin.json("GET", BUNDLES, undefined, {
      headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" },
      query: { fieldSelector: "spec.signerName=example.com/printed" },
    });
    expect(body).toMatchObject({
      kind: "Table",
      columnDefinitions: [{ name: "Name", format: "name" }, { name: "SignerName" }],
      rows: [{ cells: ["example.com:printed:a", "example.com/printed"] }],
    });
  });

  it("are listed and watched by signer and by labels", async () => {
    const signerName = "example.com/selected";
    await create(bundle("unsigned", root));
    await create(bundle("example.com:selected:live", root, { signerName, labels: { canary: "live" } }));
    await create(bundle("example.com:selected:next", other, { signerName, labels: { canary: "next" } }));
    const fieldSelector = `spec.signerName=${signerName}`;
    const list = async (query: object) => namesOf((await server.admin.list(BUNDLES, { ...query })).items);
    expect(await list({ fieldSelector })).toEqual(["example.com:selected:live", "example.com:selected:next"]);
    expect(await list({ fieldSelector, labelSelector: "canary=next" })).toEqual(["example.com:selected:next"]);
    expect(await list({ fieldSelector: "spec.signerName=" })).toContain("unsigned");
    const { body } = await server.admin.json("GET", BUNDLES, undefined, { query: { fieldSelector: "spec.other=x" } });
    expect(body).toMatchObject({ code: 400 });

    const watch = await server.admin.watch(BUNDLES, { fieldSelector });
    try {
      expect(await watch.take(2)).toMatchObject([{ type: "ADDED" }, { type: "ADDED" }]);
      await create(bundle("unseen", root));
      await server.admin.object("DELETE", `${BUNDLES}/example.com:selected:live`);
      expect(await watch.next()).toMatchObject({
        type: "DELETED",
        object: { metadata: { name: "example.com:selected:live" } },
      });
    } finally {
      watch.close();
    }
  });

  it.each<[string, (pem: string) => object, string[]]>([
    ["without certificates", () => bundle("bad", "none"), ["spec.trustBundle"]],
    ["without a spec", () => ({ ...bundle("bad", ""), spec: undefined }), ["spec.trustBundle"]],
    ["with a certificate twice", (pem) => bundle("bad", pem + pem), ["spec.trustBundle"]],
    ["with headers", (pem) => bundle("bad", pem.replace("-----\n", "-----\nA: b\n\n")), ["spec.trustBundle"]],
    ["with a key", (pem) => bundle("bad", pem.replaceAll("CERTIFICATE", "PRIVATE KEY")), ["spec.trustBundle"]],
    ["that are too long", (pem) => bundle("bad", pem + "x".repeat(1024 * 1024)), ["spec.trustBundle"]],
    ["with a signer's name and no signer", (pem) => bundle("example.com:s:a", pem), ["metadata.name"]],
    ["with a signer and not its name", (pem) => bundle("a", pem, { signerName: "example.com/s" }), ["metadata.name"]],
    ["of no real signer", (pem) => bundle("s:a", pem, { signerName: "s" }), ["spec.signerName"]],
  ])("cannot be made %s", async (_what, make, fields) => {
    expect(await refused(make(root))).toEqual([422, fields]);
  });

  it("stay their signer's, and can be changed otherwise", async () => {
    const path = `${BUNDLES}/example.com:kept:a`;
    const made = await create(bundle("example.com:kept:a", root, { signerName: "example.com/kept" }));
    const spec = { signerName: "example.com/kept", trustBundle: root + other };
    const put = async (object: object) => await server.admin.json("PUT", path, object);
    expect(await put(changed(made, { spec }))).toMatchObject({ status: 200, body: { spec } });
    expect(await put(changed(made, { spec }))).toMatchObject({ status: 409 });
    expect(await put(bundle("example.com:kept:a", root, { signerName: "example.com/kept" }))).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: "metadata.resourceVersion" }] } },
    });
    const patch = async (fields: object) => await server.admin.patch("merge", path, { spec: fields });
    expect(await patch({ signerName: "example.com/other" })).toMatchObject({
      status: 422,
      body: { details: { causes: expect.arrayContaining([expect.objectContaining({ field: "spec.signerName" })]) } },
    });
    expect(await patch({ trustBundle: other })).toMatchObject({ status: 200, body: { spec: { trustBundle: other } } });
    expect(await patch({ trustBundle: "none" })).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: "spec.trustBundle" }] } },
    });
  });

  it("can be applied, each field its manager's", async () => {
    const path = `${BUNDLES}/applied`;
    const apply = async (body: object, fieldManager: string) => {
      return await server.admin.patch("apply", path, body, { query: { fieldManager } });
    };
    expect(await apply(bundle("applied", root), "one")).toMatchObject({ status: 201 });
    expect(await apply(bundle("applied", root), "one")).toMatchObject({ status: 200 });
    expect(await apply(bundle("applied", other), "two")).toMatchObject({
      status: 409,
      body: { details: { causes: [{ reason: "FieldManagerConflict", field: ".spec.trustBundle" }] } },
    });
  });

  describe("of a signer", () => {
    const writer = as("writer");
    const attester = as("attester");
    beforeAll(async () => {
      const group = { apiGroups: ["certificates.k8s.io"] };
      const write = { ...group, resources: ["clustertrustbundles"], verbs: ["create", "delete", "patch", "update"] };
      const attest = { ...group, resources: ["signers"], resourceNames: ["example.com/*"], verbs: ["attest"] };
      const grant = async (name: string, rules: object[]): Promise<KubeObject> => {
        await server.admin.object("POST", `${RBAC}/clusterroles`, { metadata: { name }, rules });
        return await server.admin.object("POST", `${RBAC}/clusterrolebindings`, {
          metadata: { name },
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
          subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name }],
        });
      };
      await grant("writer", [write]);
      await grant("attester", [write, attest]);
    });

    it("are made by who may attest for it", async () => {
      const ours = bundle("example.com:attested:a", root, { signerName: "example.com/attested" });
      const theirs = bundle("example.org:attested:a", root, { signerName: "example.org/attested" });
      expect(await refused(ours, writer)).toEqual([
        403,
        'clustertrustbundles.certificates.k8s.io "example.com:attested:a" is forbidden: user not permitted to attest for signerName "example.com/attested"',
      ]);
      expect(await refused(theirs, attester)).toEqual([403, expect.stringContaining('"example.org/attested"')]);
      expect(await create(ours, attester)).toMatchObject({ spec: ours.spec });
      expect(await create(bundle("free", root), writer)).toMatchObject({ metadata: { name: "free" } });
    });

    it("are changed by who may attest for it; only its owners and finalizers go without", async () => {
      const path = `${BUNDLES}/example.com:changed:a`;
      const made = bundle("example.com:changed:a", root, { signerName: "example.com/changed" });
      await create({ ...made, metadata: { ...made.metadata, finalizers: ["example.com/kept"] } });
      const patch = async (body: object) => (await server.admin.patch("merge", path, body, writer)).status;
      expect(await patch({ spec: { trustBundle: other } })).toBe(403);
      expect(await patch({ metadata: { labels: { canary: "live" } } })).toBe(403);
      expect(await patch({ metadata: { finalizers: null } })).toBe(200);
      expect((await server.admin.json("DELETE", path, undefined, writer)).status).toBe(200);
    });
  });

  it.each([
    ["a service account", as("system:serviceaccount:default:default", "system:serviceaccounts")],
    ["a node", as("system:node:n", "system:nodes")],
  ])("are read, and not written, by %s", async (_who, options) => {
    expect((await server.admin.json("GET", BUNDLES, undefined, options)).status).toBe(200);
    const { body } = await server.admin.json("POST", BUNDLES, bundle("foreign", root), options);
    expect(body).toMatchObject({ code: 403 });
  });

  it("are not read by a user whom nobody allowed to", async () => {
    expect((await server.admin.json("GET", BUNDLES, undefined, as("jane"))).status).toBe(403);
  });
});
