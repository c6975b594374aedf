import { describe, expect, it } from "vitest";
import { isRecord, type KubeObject } from "../../../src/api/object.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { namesOf, newNamespace, pathsIn } from "./objects.ts";
import { reportPod, untilCount, untilObject, waitingTemplate } from "./workload-steps.ts";

const APPS = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}`;
const statusOf = (object: KubeObject) => Object(object["status"]);
const labels = { app: "web" };
const READY = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };

// Beside kube-apiserver alone there is no controller of stateful sets and daemon sets.
describe.each(apiServersUnderTest().filter(({ isOurs }) => isOurs))("sets of pods, on $name", (candidate) => {
  const server = useApiServer(candidate);

  const revisionsOf = async (namespace: string) => {
    const { items } = await server.admin.list(`${APPS(namespace)}/controllerrevisions`);
    return items.toSorted((a, b) => Number(a["revision"]) - Number(b["revision"]));
  };
  const newPod = async (namespace: string, name: string, but?: string) => {
    return await untilObject(
      server.admin,
      `${pathsIn(namespace).pods}/${name}`,
      ({ metadata }) => metadata.uid !== but,
    );
  };

  it("a stateful set is updated pod by pod, and back as kubectl does it", async () => {
    const namespace = await newNamespace(server.admin);
    const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    const spec = {
      replicas: 2,
      serviceName: "web",
      selector: { matchLabels: labels },
      template: waitingTemplate(labels),
      volumeClaimTemplates: [{ metadata: { name: "data" }, spec: claim }],
    };
    const path = `${APPS(namespace)}/statefulsets/web`;
    await server.admin.object("POST", `${APPS(namespace)}/statefulsets`, { metadata: { name: "web" }, spec });
    const first = await newPod(namespace, "web-0");
    await reportPod(server.admin, first, READY);
    const second = await newPod(namespace, "web-1");
    await reportPod(server.admin, second, READY);
    await untilObject(server.admin, path, (set) => statusOf(set).readyReplicas === 2);
    const claims = await server.admin.list(`/api/v1/namespaces/${namespace}/persistentvolumeclaims`);
    expect(namesOf(claims.items)).toEqual(["data-web-0", "data-web-1"]);

    const containers = [{ name: "main", image: "example.com/main:2" }];
    await server.admin.patch("strategic", path, { spec: { template: { spec: { containers } } } });
    const updated = await newPod(namespace, "web-1", second.metadata.uid);
    expect(Object(updated["spec"]).containers[0].image).toBe("example.com/main:2");
    expect(statusOf(await server.admin.object("GET", path)).updateRevision).toBe(
      updated.metadata.labels?.["controller-revision-hash"],
    );

    // An ordered set takes no step back either before the pods of the step forward are ready.
    await reportPod(server.admin, updated, READY);
    await reportPod(server.admin, await newPod(namespace, "web-0", first.metadata.uid), READY);

    const [before] = await revisionsOf(namespace);
    const data = before?.["data"];
    expect(isRecord(data) && data).toMatchObject({ spec: { template: { $patch: "replace" } } });
    await server.admin.patch("strategic", path, data);
    await newPod(namespace, "web-1", updated.metadata.uid);
    const revisions = await revisionsOf(namespace);
    expect(revisions.map(({ revision }) => revision)).toEqual([2, 3]);
    expect(revisions.at(-1)?.metadata.name).toBe(before?.metadata.name);
  });

  it("a daemon set follows the nodes, and keeps its revisions too", async () => {
    const namespace = await newNamespace(server.admin);
    const nodes = ["daemon-a", "daemon-b"];
    for (const name of nodes) {
      await server.admin.object("POST", "/api/v1/nodes", { metadata: { name, labels: { pool: namespace } } });
    }
    const template = waitingTemplate(labels, {
      nodeSelector: { pool: namespace },
      tolerations: [{ operator: "Exists" }],
    });
    const path = `${APPS(namespace)}/daemonsets/agent`;
    const spec = { selector: { matchLabels: labels }, template };
    await server.admin.object("POST", `${APPS(namespace)}/daemonsets`, { metadata: { name: "agent" }, spec });
    const labelSelector = "app=web";
    const pods = await untilCount(server.admin, pathsIn(namespace).pods, { labelSelector, count: 2 });
    for (const pod of pods) await reportPod(server.admin, pod, READY);
    const settled = await untilObject(server.admin, path, (set) => statusOf(set).numberReady === 2);
    expect(statusOf(settled)).toMatchObject({ desiredNumberScheduled: 2, updatedNumberScheduled: 2 });
    const [revision] = await revisionsOf(namespace);
    expect(pods[0]?.metadata.labels?.["controller-revision-hash"]).toBe(
      revision?.metadata.labels?.["controller-revision-hash"],
    );
    await server.admin.patch("merge", "/api/v1/nodes/daemon-a", { metadata: { labels: { pool: null } } });
    await untilCount(server.admin, pathsIn(namespace).pods, { labelSelector, count: 1 });
    for (const name of nodes) await server.admin.object("DELETE", `/api/v1/nodes/${name}`);
  });
});
