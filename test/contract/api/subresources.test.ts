import { beforeAll, describe, expect, it } from "vitest";
import { isRecord, type KubeObject } from "../../../src/api/object.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { changed, changedMetadata, deployment, newNamespace, pathsIn, pod } from "./objects.ts";

const RUNNING = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };

describe.each(apiServersUnderTest())("subresources, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let paths: ReturnType<typeof pathsIn>;

  beforeAll(async () => {
    paths = pathsIn(await newNamespace(server.admin));
  });

  const createPod = (name: string, options: Parameters<typeof pod>[1] = {}) => {
    return server.admin.object("POST", paths.pods, pod(name, options));
  };

  describe("pods/binding", () => {
    const bind = (name: string, target: object, metadata: object = {}) => {
      const body = { apiVersion: "v1", kind: "Binding", metadata: { name, ...metadata }, target };
      return server.admin.json("POST", `${paths.pods}/${name}/binding`, body);
    };
    const node = { apiVersion: "v1", kind: "Node", name: "n1" };

    it("puts a pod on a node, and says that it is scheduled", async () => {
      await createPod("bound");
      const answer = await bind("bound", node, { annotations: { "example.com/by": "scheduler" } });
      expect(answer).toMatchObject({ status: 201, body: { kind: "Status", status: "Success" } });
      expect(await server.admin.object("GET", `${paths.pods}/bound`)).toMatchObject({
        metadata: { annotations: { "example.com/by": "scheduler" } },
        spec: { nodeName: "n1" },
        status: { conditions: [{ type: "PodScheduled", status: "True" }] },
      });
    });

    it("is no change of the pod that its author would count", async () => {
      if (server.minor < 34) return;
      await createPod("counted");
      await bind("counted", node);
      expect(await server.admin.object("GET", `${paths.pods}/counted`)).toMatchObject({ metadata: { generation: 1 } });
    });

    it("does so once", async () => {
      await createPod("rebound");
      await bind("rebound", node);
      expect(await bind("rebound", { ...node, name: "n2" })).toMatchObject({
        status: 409,
        body: {
          reason: "Conflict",
          message:
            'Operation cannot be fulfilled on pods/binding "rebound": pod rebound is already assigned to node "n1"',
          details: { name: "rebound", kind: "pods/binding" },
        },
      });
    });

    it("is not for a pod that waits at a gate", async () => {
      await createPod("gated", { spec: { schedulingGates: [{ name: "example.com/wait" }] } });
      const message =
        'Operation cannot be fulfilled on pods/binding "gated": pod gated has non-empty .spec.schedulingGates';
      expect(await bind("gated", node)).toMatchObject({ status: 409, body: { message } });
    });

    it("ends what was planned for the pod", async () => {
      if (server.minor < 34) return;
      const created = await createPod("nominated");
      const nominated = changed(created, { status: { nominatedNodeName: "n2" } });
      await server.admin.object("PUT", `${paths.pods}/nominated/status`, nominated);
      expect(await bind("nominated", node)).toMatchObject({ status: 201 });
      expect(await server.admin.object("GET", `${paths.pods}/nominated`)).not.toHaveProperty(
        "status.nominatedNodeName",
      );
    });

    it("is of the pod with the uid and the version that it names, if it names any", async () => {
      const { metadata } = await createPod("exact");
      const { resourceVersion } = metadata;
      expect(await bind("exact", node, { uid: "another" })).toMatchObject({ status: 409 });
      expect(await bind("exact", node, { resourceVersion: "1" })).toMatchObject({ status: 409 });
      expect(await server.admin.object("GET", `${paths.pods}/exact`)).toMatchObject({ metadata: { resourceVersion } });
      expect(await bind("exact", node, { uid: metadata.uid, resourceVersion })).toMatchObject({ status: 201 });
    });

    it("refuses what is no node", async () => {
      await createPod("unbound");
      expect((await bind("unbound", { kind: "Pod", name: "x" })).status).toBeGreaterThanOrEqual(400);
      expect((await bind("unbound", { kind: "Node", name: "" })).status).toBeGreaterThanOrEqual(400);
      expect(await server.admin.object("GET", `${paths.pods}/unbound`)).not.toHaveProperty("spec.nodeName");
    });

    it("knows no pod that is not there", async () => {
      expect(await bind("absent", node)).toMatchObject({ status: 404 });
    });
  });

  describe("pods/eviction", () => {
    const evict = (name: string, deleteOptions?: object) => {
      const body = {
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: { name },
        ...(deleteOptions && { deleteOptions }),
      };
      return server.admin.json("POST", `${paths.pods}/${name}/eviction`, body);
    };
    /** A pod that runs, is ready, and would take a while to stop. */
    const runPod = async (name: string) => {
      const created = await createPod(name, { labels: { app: name }, spec: { nodeName: "n1" } });
      await server.admin.object("PUT", `${paths.pods}/${name}/status`, changed(created, { status: RUNNING }));
    };
    /** A budget for the pod, which runs already, with the status that its controller gives it. */
    const budget = async (name: string, disruptionsAllowed: number) => {
      const desiredHealthy = 1 - disruptionsAllowed;
      const spec = { minAvailable: desiredHealthy, selector: { matchLabels: { app: name } } };
      const created = await server.admin.object("POST", paths.budgets, { metadata: { name }, spec });
      const counts = { currentHealthy: 1, desiredHealthy, expectedPods: 1, disruptionsAllowed };
      const status = { ...counts, observedGeneration: created.metadata.generation ?? 1 };
      const path = `${paths.budgets}/${name}`;
      if (candidate.isOurs) {
        await expect.poll(async () => await server.admin.object("GET", path)).toMatchObject({ status });
      } else await server.admin.object("PUT", `${path}/status`, changed(created, { status }));
    };

    it("deletes gracefully where nothing stands against it", async () => {
      await runPod("free");
      expect(await evict("free")).toMatchObject({ status: 201, body: { kind: "Status", status: "Success" } });
      const { metadata } = await server.admin.object("GET", `${paths.pods}/free`);
      expect(metadata).toMatchObject({ deletionTimestamp: expect.any(String), deletionGracePeriodSeconds: 30 });
    });

    it("is refused by a budget that allows no disruption", async () => {
      await runPod("guarded");
      await budget("guarded", 0);
      expect(await evict("guarded")).toMatchObject({
        status: 429,
        body: {
          reason: "TooManyRequests",
          message: "Cannot evict pod as it would violate the pod's disruption budget.",
          details: {
            causes: [
              {
                reason: "DisruptionBudget",
                message: "The disruption budget guarded needs 1 healthy pods and has 1 currently",
              },
            ],
          },
        },
      });
      const { metadata } = await server.admin.object("GET", `${paths.pods}/guarded`);
      expect(metadata).not.toHaveProperty("deletionTimestamp");
    });

    it("uses up what a budget allows", async () => {
      await runPod("spent");
      await budget("spent", 1);
      expect(await evict("spent")).toMatchObject({ status: 201 });
      const spent = await server.admin.object("GET", `${paths.budgets}/spent`);
      expect(spent).toMatchObject({ status: { disruptionsAllowed: 0 } });
      // The controller takes the pod off the list as soon as it sees that it is deleted.
      const disruptedPods = { spent: expect.stringMatching(/Z$/) };
      if (!candidate.isOurs) expect(spent).toMatchObject({ status: { disruptedPods } });
    });

    it("waits for a budget that its controller has not seen yet", async () => {
      // Ours has seen it before this case can ask.
      if (candidate.isOurs) return;
      const spec = { minAvailable: 1, selector: { matchLabels: { app: "unseen" } } };
      await server.admin.object("POST", paths.budgets, { metadata: { name: "unseen" }, spec });
      await runPod("unseen");
      expect(await evict("unseen")).toMatchObject({
        status: 429,
        headers: { "retry-after": "10" },
        body: {
          details: {
            causes: [{ reason: "DisruptionBudget", message: expect.stringContaining("still being processed") }],
          },
        },
      });
    });

    it("asks no budget for a pod that does not run", async () => {
      const spec = { minAvailable: 1, selector: { matchLabels: { app: "pending" } } };
      await server.admin.object("POST", paths.budgets, { metadata: { name: "pending" }, spec });
      await createPod("pending", { labels: { app: "pending" } });
      expect(await evict("pending")).toMatchObject({ status: 201 });
      expect(await server.admin.json("GET", `${paths.pods}/pending`)).toMatchObject({ status: 404 });
    });

    it("does nothing with dryRun", async () => {
      await runPod("dry");
      await budget("dry", 1);
      expect(await evict("dry", { dryRun: ["All"] })).toMatchObject({ status: 201 });
      expect((await server.admin.object("GET", `${paths.pods}/dry`)).metadata).not.toHaveProperty("deletionTimestamp");
      expect(await server.admin.object("GET", `${paths.budgets}/dry`)).toMatchObject({
        status: { disruptionsAllowed: 1 },
      });
    });

    it("knows no pod that is not there", async () => {
      expect(await evict("absent")).toMatchObject({ status: 404 });
    });
  });

  describe("deployments/scale", () => {
    const scaleOf = (name: string) => `${paths.deployments}/${name}/scale`;

    it("is printed as a scale", async () => {
      await server.admin.object("POST", paths.deployments, deployment("printed", 2));
      const headers = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
      const { body } = await server.admin.json("GET", scaleOf("printed"), undefined, { headers });
      const { columnDefinitions, rows } = Object(body);
      const names = columnDefinitions.map((column: { name: string }) => column.name);
      expect(names).toEqual(["Name", "Desired", "Available", "Age"]);
      expect(rows[0].cells.slice(0, 2)).toEqual(["printed", 2]);
    });

    it("shows and sets the number of replicas", async () => {
      const { metadata } = await server.admin.object("POST", paths.deployments, deployment("scaled", 2));
      const scale = await server.admin.object("GET", scaleOf("scaled"));
      expect(scale).toMatchObject({
        apiVersion: "autoscaling/v1",
        kind: "Scale",
        metadata: {
          name: "scaled",
          namespace: metadata.namespace,
          uid: metadata.uid,
          resourceVersion: expect.any(String),
        },
        spec: { replicas: 2 },
        status: { replicas: expect.any(Number), selector: "app=scaled" },
      });
      // A controller may have written a status meanwhile.
      const unversioned = changedMetadata(scale, { resourceVersion: undefined });
      const answer = await server.admin.json("PUT", scaleOf("scaled"), { ...unversioned, spec: { replicas: 7 } });
      expect(answer).toMatchObject({ status: 200, body: { kind: "Scale", spec: { replicas: 7 } } });
      expect(await server.admin.object("GET", `${paths.deployments}/scaled`)).toMatchObject({
        metadata: { generation: 2 },
        spec: { replicas: 7 },
      });
    });

    it("takes patches, refuses what is stale and what is no number", async () => {
      await server.admin.object("POST", paths.deployments, deployment("patched", 2));
      const before = await server.admin.object("GET", scaleOf("patched"));
      expect(await server.admin.patch("merge", scaleOf("patched"), { spec: { replicas: 3 } })).toMatchObject({
        status: 200,
        body: { spec: { replicas: 3 } },
      });
      const stale = changed(before, { spec: { replicas: 9 } });
      expect(await server.admin.json("PUT", scaleOf("patched"), stale)).toMatchObject({ status: 409 });
      expect(await server.admin.patch("merge", scaleOf("patched"), { spec: { replicas: -1 } })).toMatchObject({
        status: 422,
        body: { reason: "Invalid" },
      });
    });

    it("takes a strategic merge patch that names the kind of what is scaled, as Ansible's do", async () => {
      await server.admin.object("POST", paths.deployments, deployment("named", 2));
      const patch = { kind: "Deployment", metadata: { name: "named" }, spec: { replicas: 3 } };
      expect(await server.admin.patch("strategic", scaleOf("named"), patch)).toMatchObject({
        status: 200,
        body: { kind: "Scale", spec: { replicas: 3 } },
      });
    });

    it("is applied for a manager, who owns the replicas from then on", async () => {
      const owner = { query: { fieldManager: "first" } };
      await server.admin.json("POST", paths.deployments, deployment("owned", 2), owner);
      const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "owned" }, spec: { replicas: 3 } };
      const apply = (query: Readonly<Record<string, string>>) =>
        server.admin.patch("apply", scaleOf("owned"), scale, { query });
      expect(await apply({})).toMatchObject({ status: 422, body: { reason: "Invalid" } });
      expect(await apply({ fieldManager: "second" })).toMatchObject({
        status: 409,
        body: {
          reason: "Conflict",
          details: { causes: [{ reason: "FieldManagerConflict", field: ".spec.replicas" }] },
        },
      });
      expect(await apply({ fieldManager: "second", force: "true" })).toMatchObject({
        status: 200,
        body: { spec: { replicas: 3 } },
      });
      const { metadata, spec } = await server.admin.object("GET", `${paths.deployments}/owned`);
      expect(spec).toMatchObject({ replicas: 3 });
      expect(metadata.managedFields).toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            manager: "second",
            operation: "Apply",
            subresource: "scale",
            fieldsV1: { "f:spec": { "f:replicas": {} } },
          }),
        ]),
      );
      expect(metadata.managedFields?.find(({ manager }) => manager === "first")).not.toHaveProperty([
        "fieldsV1",
        "f:spec",
        "f:replicas",
      ]);
    });

    it("knows no deployment that is not there", async () => {
      expect(await server.admin.json("GET", scaleOf("absent"))).toMatchObject({ status: 404 });
    });
  });

  describe("pods/ephemeralcontainers", () => {
    const debugger_ = { name: "debug", image: "example.com/debug:1" };

    it("adds containers to a pod, which an update of the pod cannot", async () => {
      const created = await createPod("debugged");
      const path = `${paths.pods}/debugged/ephemeralcontainers`;
      const patch = { spec: { ephemeralContainers: [debugger_] } };
      expect(await server.admin.patch("strategic", `${paths.pods}/debugged`, patch)).toMatchObject({ status: 422 });
      expect(await server.admin.patch("strategic", path, patch)).toMatchObject({
        status: 200,
        body: { metadata: { uid: created.metadata.uid }, spec: { ephemeralContainers: [debugger_] } },
      });
    });

    it("never takes one away, nor changes one", async () => {
      await createPod("stuck");
      const path = `${paths.pods}/stuck/ephemeralcontainers`;
      const { body } = await server.admin.patch("strategic", path, { spec: { ephemeralContainers: [debugger_] } });
      const spec = isRecord(body) && isRecord(body["spec"]) ? body["spec"] : {};
      const without = { ...Object(body), spec: { ...spec, ephemeralContainers: [] } };
      expect(await server.admin.json("PUT", path, without)).toMatchObject({ status: 422 });
      const other = { spec: { ephemeralContainers: [{ ...debugger_, image: "example.com/other:1" }] } };
      expect(await server.admin.patch("strategic", path, other)).toMatchObject({ status: 422 });
    });
  });

  describe("serviceaccounts/token", () => {
    const request = async (spec: object, name = "default") => {
      const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
      return server.admin.json("POST", `${paths.serviceAccounts}/${name}/token`, body);
    };

    it("issues a token that the server knows again, for as long as was asked", async () => {
      const { status, body } = await request({ expirationSeconds: 3600 });
      expect({ status, body }).toMatchObject({
        status: 201,
        body: {
          kind: "TokenRequest",
          spec: { expirationSeconds: 3600, audiences: [expect.any(String)] },
          status: { token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/), expirationTimestamp: expect.any(String) },
        },
      });
      const review = await server.admin.object("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {
        spec: { token: tokenOf(body) },
      });
      const groups = expect.arrayContaining(["system:serviceaccounts", "system:authenticated"]);
      const username = expect.stringMatching(/^system:serviceaccount:contract-\w+:default$/);
      expect(review).toMatchObject({ status: { authenticated: true, user: { username, groups } } });
    });

    it("is for the audience that was asked, and no other", async () => {
      const { body } = await request({ audiences: ["vault"], expirationSeconds: 3600 });
      const review = (spec: object) =>
        server.admin.object("POST", "/apis/authentication.k8s.io/v1/tokenreviews", { spec });
      const token = tokenOf(body);
      expect(await review({ token, audiences: ["vault"] })).toMatchObject({
        status: { authenticated: true, audiences: ["vault"] },
      });
      expect(await review({ token })).not.toHaveProperty("status.authenticated", true);
      expect(await server.connect({ token }).json("GET", "/api")).toMatchObject({ status: 401 });
    });

    it("is bound to a pod where one is named", async () => {
      const { metadata } = await createPod("holder");
      const boundObjectRef = { kind: "Pod", apiVersion: "v1", name: "holder", uid: metadata.uid };
      const { status, body } = await request({ expirationSeconds: 3600, boundObjectRef });
      expect(status).toBe(201);
      const client = server.connect({ token: tokenOf(body) });
      expect(await client.json("GET", "/api")).toMatchObject({ status: 200 });
      await server.admin.json("DELETE", `${paths.pods}/holder`, { gracePeriodSeconds: 0 });
      if (candidate.isOurs) expect(await client.json("GET", "/api")).toMatchObject({ status: 401 });
    });

    it.each([
      ["too short a life", { expirationSeconds: 60 }, 422],
      ["a pod that is not there", { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "absent" } }, 404],
    ])("refuses %s", async (_, spec, status) => {
      expect(await request(spec)).toMatchObject({ status });
    });

    it("knows no account that is not there", async () => {
      expect(await request({}, "absent")).toMatchObject({ status: 404 });
    });
  });

  it("shows the object with GET, and knows no others", async () => {
    const created: KubeObject = await createPod("shown");
    expect(await server.admin.object("GET", `${paths.pods}/shown/status`)).toEqual(created);
    for (const path of ["shown/nosuchthing", "shown/scale"]) {
      expect(await server.admin.json("GET", `${paths.pods}/${path}`)).toMatchObject({ status: 404 });
    }
    const renamed = changedMetadata(created, { name: "other" });
    expect(await server.admin.json("PUT", `${paths.pods}/shown/status`, renamed)).toMatchObject({ status: 400 });
  });
});

function tokenOf(request: unknown): string {
  const status = isRecord(request) && isRecord(request["status"]) ? request["status"] : {};
  return String(status["token"]);
}
