import { beforeAll, describe, expect, it, vi } from "vitest";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { deployment, newNamespace, pathsIn, pod } from "./objects.ts";

const LABEL = "pod-security.kubernetes.io";

describe.each(apiServersUnderTest())("pod security, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let namespace = "";
  let paths: ReturnType<typeof pathsIn>;

  beforeAll(async () => {
    namespace = await newNamespace(server.admin);
    paths = pathsIn(namespace);
    const created = await server.admin.json("POST", paths.pods, pod("before", { spec: { hostNetwork: true } }));
    expect(created.status).toBe(201);
  });

  const label = (labels: Record<string, string | null>) => {
    return server.admin.patch("merge", `/api/v1/namespaces/${namespace}`, { metadata: { labels } });
  };

  it("warns of the pods that are there when a namespace becomes stricter", async () => {
    const { status, headers } = await label({
      [`${LABEL}/enforce`]: "baseline",
      [`${LABEL}/enforce-version`]: "v1.28",
    });
    expect(status).toBe(200);
    expect(headers["warning"]).toContain(
      `existing pods in namespace \\"${namespace}\\" violate the new PodSecurity enforce level \\"baseline:v1.28\\"`,
    );
    expect(headers["warning"]).toContain('"before: host namespaces"');
  });

  it("refuses a pod that violates the standard, and leaves no trace of it", async () => {
    const answer = await server.admin.json(
      "POST",
      paths.pods,
      pod("shared", { spec: { hostPID: true, hostIPC: true } }),
    );
    expect(answer).toMatchObject({
      status: 403,
      body: {
        reason: "Forbidden",
        message:
          'pods "shared" is forbidden: violates PodSecurity "baseline:v1.28": host namespaces (hostPID=true, hostIPC=true)',
      },
    });
    expect(await server.admin.json("GET", `${paths.pods}/shared`)).toMatchObject({ status: 404 });
    expect(await server.admin.json("POST", paths.pods, pod("careful"))).toMatchObject({ status: 201 });
  });

  it("refuses an ephemeral container that violates the standard", async () => {
    const ephemeral = { name: "debug", image: "example.com/debug:1", securityContext: { privileged: true } };
    const path = `${paths.pods}/careful/ephemeralcontainers`;
    const answer = await server.admin.patch("strategic", path, { spec: { ephemeralContainers: [ephemeral] } });
    expect(answer).toMatchObject({ status: 403 });
    expect(answer).toHaveProperty(
      "body.message",
      expect.stringContaining('privileged (container "debug" must not set'),
    );
  });

  it("lets a change through that has nothing to do with the standard", async () => {
    const change = { metadata: { labels: { seen: "yes" } } };
    expect(await server.admin.patch("merge", `${paths.pods}/before`, change)).toMatchObject({ status: 200 });
  });

  it("warns of a workload whose pods it would refuse", async () => {
    expect(await label({ [`${LABEL}/enforce`]: null, [`${LABEL}/warn`]: "restricted" })).toMatchObject({ status: 200 });
    // A kube-apiserver learns of the label by a watch, a moment later.
    const warning = await vi.waitFor(
      async () => {
        const { status, headers } = await server.admin.json(
          "POST",
          `${paths.deployments}?dryRun=All`,
          deployment("web"),
        );
        expect(status).toBe(201);
        expect(headers["warning"]).toContain('would violate PodSecurity \\"restricted:latest\\"');
        return headers["warning"];
      },
      { timeout: 20_000 },
    );
    expect(warning).toContain('containers \\"main\\", \\"side\\" must set');
  });

  it("refuses a namespace with a level or version that there is not", async () => {
    const labels = { [`${LABEL}/enforce`]: "strict", [`${LABEL}/audit-version`]: "1.28" };
    const answer = await server.admin.json("POST", "/api/v1/namespaces", { metadata: { name: "strict", labels } });
    expect(answer).toMatchObject({ status: 422, body: { reason: "Invalid" } });
    expect(answer).toHaveProperty(
      "body.message",
      `Namespace "strict" is invalid: [metadata.labels[${LABEL}/enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted, metadata.labels[${LABEL}/audit-version]: Invalid value: "1.28": must be "latest" or "v1.x"]`,
    );
  });
});
