import { beforeAll, describe, expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/object.ts";
import type { PatchType } from "./client.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { changed, changedMetadata, deployment, newNamespace, pathsIn, pod } from "./objects.ts";

const OTHER_NAME = expect.stringMatching(
  /\(other\) does not match the name on the URL|name in URL does not match name/,
);
const NO_NAME = expect.stringMatching(/name must be provided|name in URL does not match name/);
const OTHER_NAMESPACE = expect.stringContaining(
  "the namespace of the provided object does not match the namespace sent on the request",
);
const MODIFIED = expect.stringContaining(
  "the object has been modified; please apply your changes to the latest version and try again",
);
const badRequest = (message: unknown) => ({ status: 400, body: { reason: "BadRequest", message } });
const conflict = (message: unknown) => ({ status: 409, body: { reason: "Conflict", message } });

describe.each(apiServersUnderTest())("bodies of subresources that mean another object, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let paths: ReturnType<typeof pathsIn>;

  beforeAll(async () => {
    paths = pathsIn(await newNamespace(server.admin));
  });

  describe("deployments/scale", () => {
    const create = async (name: string) => {
      await server.admin.object("POST", paths.deployments, deployment(name, 2));
      const path = `${paths.deployments}/${name}/scale`;
      return { path, scale: await server.admin.object("GET", path) };
    };
    const scaled = (scale: KubeObject, metadata: object) => ({
      ...changedMetadata(scale, { resourceVersion: undefined, ...metadata }),
      spec: { replicas: 5 },
    });
    const replicas = async (path: string) => (await server.admin.object("GET", path))["spec"];

    it.each([
      ["name", { name: "other" }, badRequest(OTHER_NAME)],
      ["empty name", { name: "" }, badRequest(NO_NAME)],
      ["namespace", { namespace: "other" }, badRequest(OTHER_NAMESPACE)],
      ["uid", { uid: "other" }, conflict(expect.stringContaining("Precondition failed: UID in precondition: other"))],
      ["version", { resourceVersion: "1" }, conflict(MODIFIED)],
    ])("is refused with another %s", async (what, metadata, refusal) => {
      const { path, scale } = await create(`put-${what.replace(" ", "-")}`);
      expect(await server.admin.json("PUT", path, scaled(scale, metadata))).toMatchObject(refusal);
      expect(await replicas(path)).toEqual({ replicas: 2 });
    });

    it.each<[string, PatchType, unknown, object]>([
      ["name", "merge", { metadata: { name: "other" } }, badRequest(OTHER_NAME)],
      ["namespace", "merge", { metadata: { namespace: "other" } }, badRequest(OTHER_NAMESPACE)],
      ["version", "merge", { metadata: { resourceVersion: "1" } }, conflict(MODIFIED)],
      ["uid", "json", [{ op: "replace", path: "/metadata/uid", value: "other" }], conflict(expect.any(String))],
    ])("is not patched to have another %s", async (what, type, patch, refusal) => {
      const { path } = await create(`patch-${what}`);
      expect(await server.admin.patch(type, path, patch)).toMatchObject(refusal);
    });

    it("is a Scale, and nothing else", async () => {
      const { path, scale } = await create("typed");
      const send = (body: object, query = "") => server.admin.json("PUT", `${path}${query}`, body);
      expect(await send(changed(scale, { kind: "Deployment" }))).toMatchObject({ status: 400 });
      expect(await send({ ...scale, spec: { replicas: "many" } })).toMatchObject({ status: 400 });
      const unknown = { ...scaled(scale, {}), extra: true };
      expect(await send(unknown, "?fieldValidation=Strict")).toMatchObject(
        badRequest(expect.stringContaining('strict decoding error: unknown field "extra"')),
      );
      expect(await replicas(path)).toEqual({ replicas: 2 });
    });

    it("of a namespace that the body leaves out is that of the path", async () => {
      const { path, scale } = await create("placed");
      const sent = scaled(scale, { namespace: undefined, uid: undefined });
      expect(await server.admin.json("PUT", path, sent)).toMatchObject({
        status: 200,
        body: { spec: { replicas: 5 } },
      });
    });
  });

  describe.each([
    ["binding", { apiVersion: "v1", kind: "Binding", target: { kind: "Node", name: "n1" } }],
    ["eviction", { apiVersion: "policy/v1", kind: "Eviction" }],
  ])("pods/%s", (subresource, body) => {
    it.each([
      ["name", { name: "other" }, OTHER_NAME],
      ["empty name", {}, NO_NAME],
      ["namespace", { name: "same", namespace: "other" }, OTHER_NAMESPACE],
    ])("is refused with another %s", async (what, metadata, message) => {
      const name = `${subresource}-${what.replace(" ", "-")}`;
      const created = await server.admin.object("POST", paths.pods, pod(name));
      const named = Object.hasOwn(metadata, "namespace") ? { ...metadata, name } : metadata;
      const path = `${paths.pods}/${name}/${subresource}`;
      expect(await server.admin.json("POST", path, { ...body, metadata: named })).toMatchObject(badRequest(message));
      expect(await server.admin.object("GET", `${paths.pods}/${name}`)).toEqual(created);
    });
  });

  it("tokens are refused for another account or namespace", async () => {
    const ask = (metadata: object) => {
      const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata, spec: {} };
      return server.admin.json("POST", `${paths.serviceAccounts}/default/token`, body);
    };
    expect(await ask({ namespace: "other" })).toMatchObject(badRequest(OTHER_NAMESPACE));
    const detail = "must match the service account name if specified";
    expect(await ask({ name: "other" })).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining(`metadata.name: Invalid value: "other": ${detail}`) },
    });
  });

  it("reviews of a namespace are refused for another one", async () => {
    const namespace = paths.pods.split("/")[4] ?? "";
    const body = {
      metadata: { namespace: "other" },
      spec: { user: "jane", resourceAttributes: { namespace, verb: "get", resource: "pods" } },
    };
    const path = `/apis/authorization.k8s.io/v1/namespaces/${namespace}/localsubjectaccessreviews`;
    expect(await server.admin.json("POST", path, body)).toMatchObject(badRequest(OTHER_NAMESPACE));
  });

  it.each(["status", "resize", "ephemeralcontainers"])("pods/%s is refused for another pod", async (subresource) => {
    const name = `part-${subresource}`;
    const created = await server.admin.object("POST", paths.pods, pod(name));
    const path = `${paths.pods}/${name}/${subresource}`;
    const put = (metadata: Readonly<Record<string, unknown>>) =>
      server.admin.json("PUT", path, changedMetadata(created, metadata));
    expect(await put({ name: "other" })).toMatchObject(badRequest(OTHER_NAME));
    expect(await put({ namespace: "other" })).toMatchObject(badRequest(OTHER_NAMESPACE));
    expect(await put({ uid: "other" })).toMatchObject({ status: 409 });
    expect(await put({ resourceVersion: "1" })).toMatchObject(conflict(MODIFIED));
    expect(await server.admin.patch("merge", path, { metadata: { name: "other" } })).toMatchObject(
      badRequest(OTHER_NAME),
    );
  });
});
