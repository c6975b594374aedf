import { describe, expect, it } from "vitest";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { changed, configMap, namesOf, newNamespace, pathsIn, pod } from "./objects.ts";

const NAMESPACES = "/api/v1/namespaces";

describe.each(apiServersUnderTest())("namespaces, on $name", (candidate) => {
  const server = useApiServer(candidate);

  /** One that something keeps from going. */
  const terminating = async () => {
    const namespace = await newNamespace(server.admin);
    const held = { metadata: { name: "held", finalizers: ["example.com/held"] } };
    await server.admin.object("POST", pathsIn(namespace).configMaps, held);
    const deleted = await server.admin.object("DELETE", `${NAMESPACES}/${namespace}`);
    return { namespace, deleted };
  };

  it("are there from the start", async () => {
    const watch = await server.admin.watch(NAMESPACES, { fieldSelector: "metadata.name=kube-node-lease" });
    await watch.next();
    watch.close();
    const { items } = await server.admin.list(NAMESPACES);
    expect(namesOf(items)).toEqual(
      expect.arrayContaining(["default", "kube-node-lease", "kube-public", "kube-system"]),
    );
    for (const { metadata } of items)
      expect(metadata.labels).toMatchObject({ "kubernetes.io/metadata.name": metadata.name });
  });

  it("are active once they are created, and kept by a finalizer of their own", async () => {
    const body = { metadata: { name: "contract-new", labels: { l: "1" } }, status: { phase: "Terminating" } };
    expect(await server.admin.object("POST", NAMESPACES, body)).toMatchObject({
      metadata: { labels: { l: "1", "kubernetes.io/metadata.name": "contract-new" } },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
  });

  it("have names that fit into a host name", async () => {
    expect(await server.admin.json("POST", NAMESPACES, { metadata: { name: "with.dots" } })).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: "metadata.name" }] } },
    });
  });

  it("may not be deleted where the cluster needs them", async () => {
    for (const name of ["default", "kube-system", "kube-public"]) {
      expect(await server.admin.json("DELETE", `${NAMESPACES}/${name}`)).toMatchObject({
        status: 403,
        body: { reason: "Forbidden", message: expect.stringContaining("this namespace may not be deleted") },
      });
    }
  });

  it("are terminating once they are deleted, and take nothing new", async () => {
    const { namespace, deleted } = await terminating();
    expect(deleted).toMatchObject({
      metadata: { deletionTimestamp: expect.any(String) },
      status: { phase: "Terminating" },
    });
    expect(await server.admin.json("POST", pathsIn(namespace).configMaps, configMap("late"))).toMatchObject({
      status: 403,
      body: {
        reason: "Forbidden",
        message: `configmaps "late" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
        details: { causes: [{ reason: "NamespaceTerminating", field: "metadata.namespace" }] },
      },
    });
  });

  it("still take updates of what is there while they go", async () => {
    const { namespace } = await terminating();
    const path = `${pathsIn(namespace).configMaps}/held`;
    expect(await server.admin.patch("merge", path, { data: { a: "1" } })).toMatchObject({ status: 200 });
  });

  it("go when their finalizers are taken off by finalize, which nothing else does", async () => {
    const { namespace, deleted } = await terminating();
    const path = `${NAMESPACES}/${namespace}`;
    const ignored = await server.admin.patch("merge", path, { spec: { finalizers: null } });
    expect(ignored).toMatchObject({ body: { spec: { finalizers: ["kubernetes"] } } });
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace }, spec: {} };
    expect(deleted.metadata.name).toBe(namespace);
    expect(await server.admin.json("PUT", `${path}/finalize`, body)).toMatchObject({ status: 200 });
    expect(await server.admin.json("GET", path)).toMatchObject({ status: 404 });
  });

  it.skipIf(!candidate.isOurs)("are emptied and go (kube-apiserver alone does not see to it)", async () => {
    const namespace = await newNamespace(server.admin);
    const paths = pathsIn(namespace);
    await server.admin.object("POST", paths.configMaps, configMap("content"));
    await server.admin.object("POST", paths.pods, pod("content"));
    const fieldSelector = `metadata.name=${namespace}`;
    const watch = await server.admin.watch(NAMESPACES, { fieldSelector });
    await server.admin.json("DELETE", `${NAMESPACES}/${namespace}`);
    await watch.until(({ type }) => type === "DELETED");
    watch.close();
    for (const path of [paths.configMaps, paths.pods, paths.serviceAccounts]) {
      expect((await server.admin.list(path)).items).toEqual([]);
    }
    expect(await server.admin.json("GET", `${NAMESPACES}/${namespace}`)).toMatchObject({ status: 404 });
  });

  it.skipIf(!candidate.isOurs)("say what keeps them (kube-apiserver alone does not see to it)", async () => {
    const { namespace } = await terminating();
    const watch = await server.admin.watch(NAMESPACES, { fieldSelector: `metadata.name=${namespace}` });
    const events = await watch.until(({ object }) => JSON.stringify(object).includes("NamespaceFinalizersRemaining"));
    const conditions = expect.arrayContaining([
      expect.objectContaining({ type: "NamespaceFinalizersRemaining", status: "True" }),
      expect.objectContaining({ type: "NamespaceContentRemaining", status: "True" }),
    ]);
    expect(events.at(-1)?.object).toMatchObject({ status: { conditions } });
    const path = `${pathsIn(namespace).configMaps}/held`;
    const held = await server.admin.object("GET", path);
    await server.admin.json("PUT", path, changed(held, { metadata: { ...held.metadata, finalizers: [] } }));
    await watch.until(({ type }) => type === "DELETED");
    watch.close();
  });

  it.skipIf(!candidate.isOurs)(
    "get a default account and the cluster's certificate (kube-apiserver alone gives none)",
    async () => {
      const { metadata } = await server.admin.object("POST", NAMESPACES, { metadata: { generateName: "contract-" } });
      const paths = pathsIn(metadata.name ?? "");
      const accounts = await server.admin.watch(paths.serviceAccounts, { fieldSelector: "metadata.name=default" });
      await accounts.next();
      accounts.close();
      const certificates = await server.admin.watch(paths.configMaps, {
        fieldSelector: "metadata.name=kube-root-ca.crt",
      });
      const { object } = await certificates.next();
      expect(object).toMatchObject({ data: { "ca.crt": expect.stringContaining("BEGIN CERTIFICATE") } });
      certificates.close();
    },
  );
});
