import { beforeAll, describe, expect, it } from "vitest";
import { causesOf } from "./causes.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { changed, changedMetadata, configMap, namesOf, newNamespace, pathsIn, pod, secret } from "./objects.ts";

describe.each(apiServersUnderTest())("delete, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let paths: ReturnType<typeof pathsIn>;

  beforeAll(async () => {
    paths = pathsIn(await newNamespace(server.admin));
  });

  const created = (name: string, metadata: object = {}) => {
    return server.admin.object("POST", paths.configMaps, { metadata: { name, ...metadata } });
  };
  const remove = (name: string, options?: object, query = {}) => {
    return server.admin.json("DELETE", `${paths.configMaps}/${name}`, options, { query });
  };
  const get = (name: string) => server.admin.json("GET", `${paths.configMaps}/${name}`);

  it("removes the object, and says which one", async () => {
    const { metadata } = await created("plain");
    expect(await remove("plain")).toMatchObject({
      status: 200,
      body: {
        kind: "Status",
        apiVersion: "v1",
        status: "Success",
        details: { name: "plain", kind: "configmaps", uid: metadata.uid },
      },
    });
    expect(await get("plain")).toMatchObject({ status: 404 });
    expect(await remove("plain")).toMatchObject({ status: 404, body: { reason: "NotFound" } });
  });

  it("lets the name be used again, by another object", async () => {
    const first = await created("again");
    await remove("again");
    const second = await created("again");
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
  });

  it.each([
    ["uid", { uid: "00000000-0000-0000-0000-000000000000" }],
    ["resourceVersion", { resourceVersion: "1" }],
  ])("refuses when the %s is not the expected one", async (field, preconditions) => {
    const name = `guarded-${field.toLowerCase()}`;
    await created(name);
    expect(await remove(name, { preconditions })).toMatchObject({
      status: 409,
      body: { reason: "Conflict", message: expect.stringMatching(/the (UID|ResourceVersion) in the precondition \(/) },
    });
    expect(await get(name)).toMatchObject({ status: 200 });
  });

  it("goes on when preconditions hold", async () => {
    const { uid, resourceVersion } = (await created("expected")).metadata;
    expect(await remove("expected", { preconditions: { uid, resourceVersion } })).toMatchObject({ status: 200 });
  });

  it.each([{ dryRun: "All" }, { options: { dryRun: ["All"] } }])(
    "does nothing with %o",
    async ({ dryRun, options }) => {
      const name = options ? "dry-body" : "dry-query";
      await created(name);
      expect(await remove(name, options, dryRun ? { dryRun } : {})).toMatchObject({ status: 200 });
      expect(await get(name)).toMatchObject({ status: 200 });
    },
  );

  it.each([{ propagationPolicy: "Sideways" }, { propagationPolicy: "Orphan", orphanDependents: true }])(
    "refuses the options %o",
    async (options) => {
      await server.admin.json("POST", paths.configMaps, configMap("optional"));
      expect(await remove("optional", options)).toMatchObject({
        status: 422,
        body: { reason: "Invalid", details: { kind: "DeleteOptions" } },
      });
    },
  );

  describe("of an object with finalizers", () => {
    const finalizers = ["example.com/a", "example.com/b"];

    it("marks it, and removes it with the last of them", async () => {
      await created("finalized", { finalizers });
      const path = `${paths.configMaps}/finalized`;
      const marked = await server.admin.object("DELETE", path);
      expect(marked.metadata).toMatchObject({
        deletionTimestamp: expect.stringMatching(/Z$/),
        deletionGracePeriodSeconds: 0,
        finalizers,
      });
      const half = await server.admin.object("PUT", path, changedMetadata(marked, { finalizers: ["example.com/b"] }));
      expect(half.metadata.finalizers).toEqual(["example.com/b"]);
      expect(await server.admin.patch("merge", path, { metadata: { finalizers: null } })).toMatchObject({
        status: 200,
      });
      expect(await get("finalized")).toMatchObject({ status: 404 });
    });

    it("changes nothing when it is deleted again", async () => {
      await created("twice", { finalizers });
      const first = await remove("twice");
      const second = await remove("twice");
      expect(second.status).toBe(200);
      expect(second.body).toEqual(first.body);
    });

    it("still takes updates, but no new finalizers", async () => {
      await created("growing", { finalizers });
      const marked = await server.admin.object("DELETE", `${paths.configMaps}/growing`);
      const path = `${paths.configMaps}/growing`;
      const grown = changedMetadata(marked, { finalizers: [...finalizers, "example.com/c"] });
      const answer = await server.admin.json("PUT", path, grown);
      expect(answer.status).toBe(422);
      const detail = "no new finalizers can be added if the object is being deleted, found new finalizers";
      const message = `Forbidden: ${detail} []string{"example.com/c"}`;
      expect(causesOf(answer)).toEqual([{ reason: "FieldValueForbidden", field: "metadata.finalizers", message }]);
      const { metadata } = await server.admin.object("PUT", path, changed(marked, { data: { a: "1" } }));
      expect(metadata.deletionTimestamp).toBe(marked.metadata.deletionTimestamp);
    });

    it("cannot be brought back", async () => {
      await created("brought-back", { finalizers });
      const marked = await server.admin.object("DELETE", `${paths.configMaps}/brought-back`);
      const revived = changedMetadata(marked, { deletionTimestamp: undefined, deletionGracePeriodSeconds: undefined });
      const { metadata } = await server.admin.object("PUT", `${paths.configMaps}/brought-back`, revived);
      expect(metadata.deletionTimestamp).toBe(marked.metadata.deletionTimestamp);
    });

    it("says that a name is taken by what is being deleted", async () => {
      await created("occupied", { finalizers });
      await remove("occupied");
      expect(await server.admin.json("POST", paths.configMaps, configMap("occupied"))).toMatchObject({
        status: 409,
        body: { reason: "AlreadyExists", message: 'object is being deleted: configmaps "occupied" already exists' },
      });
    });
  });

  describe("with a propagation policy", () => {
    it.each([
      ["Foreground", "foregroundDeletion"],
      ["Orphan", "orphan"],
    ])("%s leaves the rest to the garbage collector, by the finalizer %s", async (propagationPolicy, finalizer) => {
      const name = `policy-${finalizer.toLowerCase()}`;
      const query = { labelSelector: `name=${name}` };
      const watch = await server.admin.watch(paths.configMaps, query);
      await created(name, { labels: { name } });
      expect(await remove(name, { propagationPolicy })).toMatchObject({
        status: 200,
        body: { metadata: { finalizers: [finalizer], deletionTimestamp: expect.any(String) } },
      });
      expect(await watch.take(2)).toMatchObject([
        { type: "ADDED" },
        { type: "MODIFIED", object: { metadata: { finalizers: [finalizer] } } },
      ]);
      watch.close();
    });

    it("or without one, old kinds leave their pods alone", async () => {
      const labels = { app: "kept" };
      const template = {
        metadata: { labels },
        spec: { restartPolicy: "Always", containers: [{ name: "main", image: "example.com/main:1" }] },
      };
      const controllers = `${paths.pods.replace(/pods$/, "")}replicationcontrollers`;
      const jobs = `${paths.pods.replace("/api/v1", "/apis/batch/v1").replace(/pods$/, "")}jobs`;
      await server.admin.object("POST", controllers, {
        metadata: { name: "old" },
        spec: { replicas: 0, selector: labels, template },
      });
      const once = { ...template.spec, restartPolicy: "Never" };
      await server.admin.object("POST", jobs, {
        metadata: { name: "old" },
        spec: { suspend: true, template: { spec: once } },
      });
      for (const list of [controllers, jobs]) {
        expect(await server.admin.json("DELETE", `${list}/old`)).toMatchObject({
          body: { metadata: { finalizers: expect.arrayContaining(["orphan"]) } },
        });
      }
    });

    it("Background removes the owner at once", async () => {
      await created("background");
      expect(await remove("background", { propagationPolicy: "Background" })).toMatchObject({
        status: 200,
        body: { kind: "Status" },
      });
    });

    it("is taken from the query too", async () => {
      await created("by-query", { finalizers: ["example.com/held"] });
      expect(await remove("by-query", undefined, { propagationPolicy: "Foreground" })).toMatchObject({
        body: { metadata: { finalizers: ["example.com/held", "foregroundDeletion"] } },
      });
    });

    it.skipIf(!candidate.isOurs)("removes or frees the dependents (kube-apiserver alone collects none)", async () => {
      const owner = async (name: string) => {
        const { uid = "" } = (await created(name)).metadata;
        const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name, uid, blockOwnerDeletion: true }];
        const labels = { owner: name };
        await server.admin.object("POST", paths.secrets, { metadata: { name: `of-${name}`, ownerReferences, labels } });
        return server.admin.watch(paths.secrets, { labelSelector: `owner=${name}` });
      };
      for (const policy of ["Background", "Foreground"]) {
        const watch = await owner(policy.toLowerCase());
        await remove(policy.toLowerCase(), { propagationPolicy: policy });
        await watch.until(({ type }) => type === "DELETED");
        watch.close();
      }
      const watch = await owner("orphaning");
      await remove("orphaning", { propagationPolicy: "Orphan" });
      const events = await watch.until(({ object }) => (object.metadata.ownerReferences ?? []).length === 0);
      expect(events.at(-1)).toMatchObject({ type: "MODIFIED", object: { metadata: { name: "of-orphaning" } } });
      watch.close();
    });
  });

  describe("of a pod", () => {
    const onNode = { nodeName: "n1", terminationGracePeriodSeconds: 45 };
    const createPod = (name: string, spec: object) => server.admin.object("POST", paths.pods, pod(name, { spec }));
    const removePod = (name: string, options?: object) => {
      return server.admin.json("DELETE", `${paths.pods}/${name}`, options);
    };

    it("on a node waits for the node, for as long as the pod says", async () => {
      const { metadata } = await createPod("graceful", onNode);
      const { status, body } = await removePod("graceful");
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { kind: "Pod", metadata: { name: "graceful", uid: metadata.uid, deletionGracePeriodSeconds: 45 } },
      });
      const { deletionTimestamp = "" } = (await server.admin.object("GET", `${paths.pods}/graceful`)).metadata;
      const seconds = (Date.parse(deletionTimestamp) - Date.parse(metadata.creationTimestamp ?? "")) / 1000;
      expect(seconds).toBeGreaterThanOrEqual(45);
      expect(seconds).toBeLessThan(60);
    });

    it("goes with a grace period of 0, which is how its node says that it has ended", async () => {
      await createPod("ended", onNode);
      await removePod("ended");
      expect(await removePod("ended", { gracePeriodSeconds: 0 })).toMatchObject({ status: 200, body: { kind: "Pod" } });
      expect(await server.admin.json("GET", `${paths.pods}/ended`)).toMatchObject({ status: 404 });
    });

    it("may be hurried, and not slowed down", async () => {
      await createPod("hurried", onNode);
      await removePod("hurried", { gracePeriodSeconds: 30 });
      expect(await removePod("hurried", { gracePeriodSeconds: 60 })).toMatchObject({
        body: { metadata: { deletionGracePeriodSeconds: 30 } },
      });
      expect(await removePod("hurried", { gracePeriodSeconds: 5 })).toMatchObject({
        body: { metadata: { deletionGracePeriodSeconds: 5 } },
      });
      expect(await removePod("hurried")).toMatchObject({ body: { metadata: { deletionGracePeriodSeconds: 5 } } });
    });

    it("takes a negative grace period for the shortest", async () => {
      await createPod("negative", onNode);
      expect(await removePod("negative", { gracePeriodSeconds: -1 })).toMatchObject({
        body: { metadata: { deletionGracePeriodSeconds: 1 } },
      });
    });

    it("that no node runs goes at once", async () => {
      await createPod("unbound", { terminationGracePeriodSeconds: 45 });
      expect(await removePod("unbound")).toMatchObject({ status: 200, body: { kind: "Pod" } });
      expect(await server.admin.json("GET", `${paths.pods}/unbound`)).toMatchObject({ status: 404 });
    });

    it("that has ended goes at once", async () => {
      const before = await createPod("succeeded", { ...onNode, restartPolicy: "Never" });
      await server.admin.object(
        "PUT",
        `${paths.pods}/succeeded/status`,
        changed(before, { status: { phase: "Succeeded" } }),
      );
      await removePod("succeeded");
      expect(await server.admin.json("GET", `${paths.pods}/succeeded`)).toMatchObject({ status: 404 });
    });

    it("with finalizers outlives its grace period", async () => {
      const held = pod("held", { spec: onNode });
      const metadata = { name: "held", finalizers: ["example.com/held"] };
      await server.admin.object("POST", paths.pods, { ...held, metadata });
      await removePod("held");
      expect(await removePod("held", { gracePeriodSeconds: 0 })).toMatchObject({
        body: { metadata: { deletionGracePeriodSeconds: 0, finalizers: ["example.com/held"] } },
      });
      await server.admin.patch("merge", `${paths.pods}/held`, { metadata: { finalizers: null } });
      expect(await server.admin.json("GET", `${paths.pods}/held`)).toMatchObject({ status: 404 });
    });
  });

  describe("of a collection", () => {
    it("removes what the selectors choose, and lists it", async () => {
      const { secrets } = pathsIn(await newNamespace(server.admin));
      for (const name of ["a", "b", "c"]) {
        await server.admin.object("POST", secrets, secret(name, "", { keep: String(name === "b") }));
      }
      const { status, body } = await server.admin.json("DELETE", secrets, undefined, {
        query: { labelSelector: "keep=false" },
      });
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { kind: "SecretList", items: [{ metadata: { name: "a" } }, { metadata: { name: "c" } }] },
      });
      expect(namesOf((await server.admin.list(secrets)).items)).toEqual(["b"]);
      await server.admin.json("DELETE", secrets, undefined, { query: { fieldSelector: "metadata.name!=b" } });
      expect(namesOf((await server.admin.list(secrets)).items)).toEqual(["b"]);
      await server.admin.json("DELETE", secrets);
      expect((await server.admin.list(secrets)).items).toEqual([]);
    });

    it("removes nothing with dryRun=All", async () => {
      const { secrets } = pathsIn(await newNamespace(server.admin));
      await server.admin.object("POST", secrets, secret("kept"));
      await server.admin.json("DELETE", secrets, { dryRun: ["All"] });
      expect(namesOf((await server.admin.list(secrets)).items)).toEqual(["kept"]);
    });

    it("is not there for namespaces", async () => {
      expect(await server.admin.json("DELETE", "/api/v1/namespaces")).toMatchObject({ status: 405 });
    });
  });
});
