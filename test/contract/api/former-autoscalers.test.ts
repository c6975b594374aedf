import { beforeAll, describe, expect, it } from "vitest";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { newNamespace } from "./objects.ts";

const BEHAVIOR = "autoscaling.alpha.kubernetes.io/behavior";
const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };

describe.each(apiServersUnderTest())("autoscalers in both versions, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let former = "";
  let newer = "";

  beforeAll(async () => {
    const namespace = await newNamespace(server.admin);
    former = `/apis/autoscaling/v1/namespaces/${namespace}/horizontalpodautoscalers`;
    newer = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
  });

  it("are the same objects", async () => {
    const spec = { scaleTargetRef, maxReplicas: 5, targetCPUUtilizationPercentage: 60 };
    await server.admin.object("POST", former, { metadata: { name: "web" }, spec });
    expect(await server.admin.object("GET", `${newer}/web`)).toMatchObject({
      apiVersion: "autoscaling/v2",
      spec: {
        scaleTargetRef,
        minReplicas: 1,
        maxReplicas: 5,
        metrics: [
          { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } } },
        ],
      },
    });
    const patch = { spec: { targetCPUUtilizationPercentage: 70 } };
    const headers = { "content-type": "application/merge-patch+json" };
    await server.admin.json("PATCH", `${former}/web`, patch, { headers });
    expect(await server.admin.object("GET", `${newer}/web`)).toMatchObject({
      spec: { metrics: [{ resource: { target: { averageUtilization: 70 } } }] },
    });
  });

  it("keep in annotations what the former one cannot say", async () => {
    const behavior = { scaleDown: { policies: [{ type: "Pods", value: 1, periodSeconds: 60 }] } };
    await server.admin.object("POST", newer, {
      metadata: { name: "slow" },
      spec: { scaleTargetRef, maxReplicas: 5, behavior },
    });
    const seen = await server.admin.object("GET", `${former}/slow`);
    expect(seen).toMatchObject({ apiVersion: "autoscaling/v1", spec: { targetCPUUtilizationPercentage: 80 } });
    expect(JSON.parse(seen.metadata.annotations?.[BEHAVIOR] ?? "{}")).toMatchObject({
      ScaleDown: { Policies: [{ Type: "Pods", Value: 1, PeriodSeconds: 60 }] },
    });
    await server.admin.object("PUT", `${former}/slow`, { ...seen, spec: { scaleTargetRef, maxReplicas: 7 } });
    const after = await server.admin.object("GET", `${newer}/slow`);
    expect(after).toMatchObject({ spec: { maxReplicas: 7, behavior } });
    expect(after.metadata).not.toHaveProperty("annotations");
  });

  it("are changed by a status of the former one in nothing else", async () => {
    const spec = { scaleTargetRef, maxReplicas: 5 };
    await server.admin.object("POST", former, { metadata: { name: "told" }, spec });
    const current = await server.admin.object("GET", `${former}/told/status`);
    await server.admin.object("PUT", `${former}/told/status`, {
      ...current,
      spec: { ...spec, maxReplicas: 9 },
      status: { currentReplicas: 2, desiredReplicas: 3, currentCPUUtilizationPercentage: 40 },
    });
    expect(await server.admin.object("GET", `${newer}/told`)).toMatchObject({
      spec: { maxReplicas: 5 },
      status: {
        currentReplicas: 2,
        desiredReplicas: 3,
        currentMetrics: [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: 40 } } }],
      },
    });
  });

  it("are refused by what both must keep to", async () => {
    const spec = { scaleTargetRef, maxReplicas: 0 };
    expect(await server.admin.json("POST", former, { metadata: { name: "none" }, spec })).toMatchObject({
      status: 422,
    });
  });

  describe("that are applied", () => {
    const manifest = (version: string, name: string, spec: object) => ({
      ...{ apiVersion: `autoscaling/${version}`, kind: "HorizontalPodAutoscaler" },
      ...{ metadata: { name }, spec: { scaleTargetRef, maxReplicas: 5, ...spec } },
    });
    const apply = async (version: string, name: string, spec: object, query: Record<string, string>) =>
      await server.admin.patch("apply", `${version === "v1" ? former : newer}/${name}`, manifest(version, name, spec), {
        query,
      });
    const cpu = (averageUtilization: number) => ({
      metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } }],
    });
    const owned = async (name: string, manager: string) => {
      const { metadata } = await server.admin.object("GET", `${newer}/${name}`);
      return JSON.stringify(metadata.managedFields?.filter((entry) => entry.manager === manager));
    };

    it("have the owners of the other version's fields, too", async () => {
      await apply("v1", "shared", { targetCPUUtilizationPercentage: 60 }, { fieldManager: "one" });
      expect(await apply("v2", "shared", cpu(60), { fieldManager: "two" })).toMatchObject({ status: 200 });
      const refused = await apply("v2", "shared", cpu(70), { fieldManager: "two" });
      expect(refused).toMatchObject({ status: 409 });
      expect(JSON.stringify(refused.body)).toContain(".spec.targetCPUUtilizationPercentage");
      expect(await owned("shared", "one")).toContain("f:targetCPUUtilizationPercentage");
      await apply("v2", "shared", cpu(70), { fieldManager: "two", force: "true" });
      expect(await owned("shared", "one")).not.toContain("f:targetCPUUtilizationPercentage");
      expect(await owned("shared", "one")).toContain("f:maxReplicas");
      const taken = await apply("v1", "shared", { targetCPUUtilizationPercentage: 60 }, { fieldManager: "one" });
      expect(taken).toMatchObject({ status: 409 });
      expect(JSON.stringify(taken.body)).toContain(".spec.metrics");
    });

    it("lose what their manager applied in one version and not in the other", async () => {
      const first = { minReplicas: 3, targetCPUUtilizationPercentage: 60 };
      await apply("v1", "moved", first, { fieldManager: "one" });
      await apply("v2", "moved", cpu(60), { fieldManager: "one" });
      const moved = await server.admin.object("GET", `${newer}/moved`);
      expect(moved).toMatchObject({ spec: { minReplicas: 1, ...cpu(60) } });
      const own = moved.metadata.managedFields?.filter(({ manager }) => manager === "one");
      expect(own?.map(({ apiVersion }) => apiVersion)).toEqual(["autoscaling/v2"]);
      await apply("v1", "moved", { targetCPUUtilizationPercentage: 60 }, { fieldManager: "one" });
      expect(await server.admin.object("GET", `${newer}/moved`)).toMatchObject({ spec: cpu(60) });
    });

    it("keep what somebody else owns in the other version", async () => {
      const first = { minReplicas: 3, targetCPUUtilizationPercentage: 60 };
      await apply("v1", "kept", first, { fieldManager: "one" });
      await apply("v2", "kept", { minReplicas: 3, ...cpu(60) }, { fieldManager: "two" });
      await apply("v1", "kept", {}, { fieldManager: "one" });
      expect(await server.admin.object("GET", `${newer}/kept`)).toMatchObject({
        spec: { minReplicas: 3, ...cpu(60) },
      });
    });
  });
});
