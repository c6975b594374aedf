import { beforeAll, describe, expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/object.ts";
import { formatTime } from "../../../src/base/clock.ts";
import { createCertificateAuthority, signCertificateRequest } from "../../../src/pki/issue-certificate.ts";
import { type KeyedCertificate, readCertificate } from "../../../src/pki/read-certificate.ts";
import { createStubRequest } from "../../../src/pki/stub-request.ts";
import type { CallOptions } from "./client.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { namesOf } from "./objects.ts";

const GROUP = "/apis/certificates.k8s.io/v1beta1";
const REQUESTS = `${GROUP}/namespaces/default/podcertificaterequests`;
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const HOUR_MS = 3_600_000;
/** A beta that kube-apiserver serves only when it is told to. */
const SERVING = apiServersUnderTest().filter(({ isOurs }) => isOurs);

const as = (user: string, ...groups: string[]): CallOptions => ({
  headers: { "impersonate-user": user, "impersonate-group": ["system:authenticated", ...groups] },
});

describe.each(SERVING)("requests for the certificates of pods, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let stub: Buffer;
  let authority: KeyedCertificate;
  beforeAll(async () => {
    stub = (await createStubRequest("ECDSAP256")).request;
    authority = await createCertificateAuthority({ commonName: "signer", days: 1, now: Date.now() - 60_000 });
  });

  const request = (name: string, spec: object = {}) => ({
    apiVersion: "certificates.k8s.io/v1beta1",
    kind: "PodCertificateRequest",
    metadata: { name, namespace: "default" },
    spec: {
      signerName: "example.com/signer",
      podName: "p",
      podUID: "pod-uid",
      serviceAccountName: "default",
      serviceAccountUID: "account-uid",
      nodeName: "n",
      nodeUID: "node-uid",
      stubPKCS10Request: stub.toString("base64"),
      ...spec,
    },
  });
  const create = async (body: object, options?: CallOptions) => {
    return await server.admin.object("POST", REQUESTS, body, options);
  };
  /** The status and the fields that were wrong, or the message where none was. */
  const outcome = async (method: string, path: string, body: object, options?: CallOptions) => {
    const { status, body: answer } = await server.admin.json(method, path, body, options);
    const { details, message } = Object(answer);
    return [status, details?.causes?.map(({ field }: { field: string }) => field) ?? message];
  };
  const condition = (type: string) => ({ type, status: "True", reason: "Because", message: "" });
  const issued = async () => {
    const requestPem = `-----BEGIN CERTIFICATE REQUEST-----\n${stub.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
    const terms = { authority, notBefore: Date.now(), notAfter: Date.now() + 2 * HOUR_MS };
    const leaf = await signCertificateRequest({ ...terms, requestPem, usages: ["client auth"] });
    const { notBefore, notAfter } = readCertificate(leaf);
    return {
      conditions: [condition("Issued")],
      certificateChain: leaf,
      notBefore: formatTime(notBefore),
      notAfter: formatTime(notAfter),
      beginRefreshAt: formatTime(notBefore + HOUR_MS),
    };
  };

  it("are found by clients", async () => {
    const { body } = await server.admin.json("GET", GROUP);
    expect(Object(body).resources).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          name: "podcertificaterequests",
          singularName: "podcertificaterequest",
          kind: "PodCertificateRequest",
          namespaced: true,
        }),
        expect.objectContaining({ name: "podcertificaterequests/status", verbs: ["get", "patch", "update"] }),
      ]),
    );
    const document = await server.admin.json("GET", `/openapi/v3${GROUP}`);
    expect(document.body).toMatchObject({
      components: {
        schemas: {
          "io.k8s.api.certificates.v1beta1.PodCertificateRequestSpec": {
            properties: { stubPKCS10Request: { type: "string", format: "byte" } },
          },
        },
      },
    });
  });

  it("are for a day, and without an outcome, where nobody says otherwise", async () => {
    const made = await create({ ...request("plain"), status: { conditions: [condition("Issued")] } });
    expect(made).toMatchObject({ spec: { maxExpirationSeconds: 86_400 } });
    expect(made["status"] ?? {}).toEqual({});
    expect(await server.admin.object("GET", `${REQUESTS}/plain`)).toEqual(made);
  });

  it("travel as protobuf", async () => {
    await create(request("binary"));
    const accept = { headers: { accept: "application/vnd.kubernetes.protobuf" } };
    const answer = await server.admin.open("GET", `${REQUESTS}/binary`, undefined, accept);
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(Buffer.from(chunk));
    const bytes = Buffer.concat(chunks);
    expect(bytes.subarray(0, 4).toString("latin1")).toBe("k8s\u0000");
    expect(bytes.includes(stub)).toBe(true);
  });

  it("are printed, and found by signer, pod and node", async () => {
    await create(request("printed", { signerName: "example.com/printed", podName: "q", nodeName: "m" }));
    const headers = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
    for (const fieldSelector of ["spec.signerName=example.com/printed", "spec.podName=q", "spec.nodeName=m"]) {
      const { items } = await server.admin.list(`${GROUP}/podcertificaterequests`, { fieldSelector });
      expect(namesOf(items)).toEqual(["printed"]);
    }
    const query = { fieldSelector: "spec.podName=q" };
    const { body } = await server.admin.json("GET", REQUESTS, undefined, { headers, query });
    expect(body).toMatchObject({
      rows: [{ cells: ["printed", "q", "default", "m", "example.com/printed", "Pending", "<none>"] }],
    });
  });

  it.each<[string, object, string[]]>([
    ["for nobody", { podUID: "" }, ["spec.podUID"]],
    ["for too long", { maxExpirationSeconds: 7_862_401 }, ["spec.maxExpirationSeconds"]],
    ["without a key", { stubPKCS10Request: "" }, ["spec"]],
    ["with a key that is none", { stubPKCS10Request: "AAAA" }, ["spec.stubPKCS10Request"]],
  ])("cannot be made %s", async (_what, spec, fields) => {
    expect(await outcome("POST", REQUESTS, request("bad", spec))).toEqual([422, fields]);
  });

  it("cannot be made without a spec", async () => {
    const { status } = await server.admin.json("POST", REQUESTS, { ...request("bad"), spec: undefined });
    expect(status).toBe(422);
  });

  it("stay the same request", async () => {
    const made = await create(request("kept"));
    const next = { ...made, spec: { ...Object(made["spec"]), podName: "other" } };
    expect(await outcome("PUT", `${REQUESTS}/kept`, next)).toEqual([422, ["spec"]]);
    const labelled = { ...made, metadata: { ...made.metadata, labels: { a: "b" } } };
    expect((await server.admin.json("PUT", `${REQUESTS}/kept`, labelled)).status).toBe(200);
  });

  describe("are answered", () => {
    const writer = as("pod-writer");
    const signer = as("pod-signer");
    beforeAll(async () => {
      const group = { apiGroups: ["certificates.k8s.io"] };
      const write = { ...group, resources: ["podcertificaterequests/status"], verbs: ["patch", "update"] };
      const sign = { ...group, resources: ["signers"], resourceNames: ["example.com/*"], verbs: ["sign"] };
      const grant = async (name: string, rules: object[]): Promise<KubeObject> => {
        await server.admin.object("POST", `${RBAC}/clusterroles`, { metadata: { name }, rules });
        return await server.admin.object("POST", `${RBAC}/clusterrolebindings`, {
          metadata: { name },
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
          subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name }],
        });
      };
      await grant("pod-writer", [write]);
      await grant("pod-signer", [write, sign]);
    });

    it("by who may sign for the signer, once", async () => {
      const path = `${REQUESTS}/signed/status`;
      const made = await create(request("signed"));
      const status = await issued();
      expect(await outcome("PUT", path, { ...made, status }, writer)).toEqual([422, ["spec.signerName"]]);
      const { status: code, body } = await server.admin.json("PUT", path, { ...made, status }, signer);
      expect([code, body]).toMatchObject([200, { status: { ...status, conditions: [condition("Issued")] } }]);
      expect(Object(body).status.conditions[0].lastTransitionTime).toMatch(/Z$/);
      const again = { ...Object(body), status: { conditions: [condition("Denied")] } };
      expect(await outcome("PUT", path, again, signer)).toEqual([422, ["status"]]);
    });

    it("with what is true", async () => {
      const path = `${REQUESTS}/false/status`;
      const made = await create(request("false"));
      const status = await issued();
      const wrong = async (change: object) =>
        await outcome("PUT", path, { ...made, status: { ...status, ...change } }, signer);
      expect(await wrong({ certificateChain: authority.certificatePem })).toEqual([422, ["status.certificateChain"]]);
      expect(await wrong({ beginRefreshAt: status.notAfter })).toEqual([422, ["status.beginRefreshAt"]]);
      expect(await wrong({ conditions: [condition("Denied")] })).toEqual([422, ["status"]]);
      const patch = { metadata: { labels: { a: "b" } }, status: { conditions: [condition("Denied")] } };
      const answer = await server.admin.patch("merge", path, patch, signer);
      expect(answer).toMatchObject({ status: 200, body: { status: { conditions: [condition("Denied")] } } });
      expect(Object(answer.body).metadata.labels).toBeUndefined();
    });
  });

  it("of a node are for its own pods, and it sees its own", async () => {
    const node = as("system:node:pcr", "system:nodes");
    const made = async (path: string, body: object) => await server.admin.object("POST", path, body);
    const { metadata: ofNode } = await made("/api/v1/nodes", { metadata: { name: "pcr" } });
    const { metadata: ofAccount } = await made("/api/v1/namespaces/default/serviceaccounts", {
      metadata: { name: "pcr" },
    });
    const containers = [{ name: "c", image: "i" }];
    const { metadata: ofPod } = await made("/api/v1/namespaces/default/pods", {
      metadata: { name: "pcr" },
      spec: { nodeName: "pcr", serviceAccountName: "pcr", containers },
    });
    const uids = { podUID: ofPod.uid, serviceAccountUID: ofAccount.uid, nodeUID: ofNode.uid };
    const names = { podName: "pcr", serviceAccountName: "pcr", nodeName: "pcr" };
    const post = async (name: string, spec: object) => {
      return (await server.admin.json("POST", REQUESTS, request(name, { ...names, ...uids, ...spec }), node)).status;
    };
    expect(await post("of-node", {})).toBe(201);
    expect(await post("other-node", { nodeName: "n" })).toBe(403);
    expect(await post("other-account", { serviceAccountName: "default" })).toBe(403);
    expect(await post("other-pod", { podUID: "old" })).toBe(500);
    const get = async (path: string, query = {}) =>
      (await server.admin.json("GET", path, undefined, { ...node, query })).status;
    await create(request("of-others"));
    expect([await get(`${REQUESTS}/of-node`), await get(`${REQUESTS}/of-others`)]).toEqual([200, 403]);
    const all = `${GROUP}/podcertificaterequests`;
    expect([await get(all), await get(all, { fieldSelector: "spec.nodeName=pcr" })]).toEqual([403, 200]);
  });
});
