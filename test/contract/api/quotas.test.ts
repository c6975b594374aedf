import { beforeAll, describe, expect, it, vi } from "vitest";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { configMap, newNamespace, pathsIn, pod } from "./objects.ts";

// A kube-apiserver alone has no controller that counts, so that all of it would wait for ever.
const ours = apiServersUnderTest().filter(({ isOurs }) => isOurs);

describe.each(ours)("quotas, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let namespace = "";
  let paths: ReturnType<typeof pathsIn>;
  let quotas = "";

  beforeAll(async () => {
    namespace = await newNamespace(server.admin);
    paths = pathsIn(namespace);
    quotas = `/api/v1/namespaces/${namespace}/resourcequotas`;
  });

  const statusOf = async (name: string) => (await server.admin.object("GET", `${quotas}/${name}`))["status"];
  const counted = async (name: string, used: object) => {
    await vi.waitFor(async () => expect(await statusOf(name)).toMatchObject({ used }), { timeout: 60_000 });
  };
  const limit = async (name: string, hard: Record<string, string>, spec: object = {}) => {
    await server.admin.object("POST", quotas, { metadata: { name }, spec: { hard, ...spec } });
    await vi.waitFor(async () => expect(await statusOf(name)).toMatchObject({ hard }), { timeout: 60_000 });
  };
  const requesting = (name: string, cpu: string) => {
    const containers = [{ name: "main", image: "example.com/main:1", resources: { requests: { cpu } } }];
    return pod(name, { spec: { containers } });
  };

  it("let in what they allow, however many ask at once, and tell it at once", async () => {
    await limit("few", { "count/secrets": "5" });
    const asked = Array.from({ length: 20 }, (_, index) => {
      return server.admin.json("POST", paths.secrets, { metadata: { name: `s${index}` } });
    });
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(5);
    expect(statuses.filter((status) => status === 403)).toHaveLength(15);
    expect(await statusOf("few")).toEqual({ hard: { "count/secrets": "5" }, used: { "count/secrets": "5" } });
  });

  it("count what goes no more", async () => {
    const [first] = (await server.admin.list(paths.secrets)).items;
    await server.admin.json("DELETE", `${paths.secrets}/${first?.metadata.name}`);
    await counted("few", { "count/secrets": "4" });
    expect(await server.admin.json("POST", paths.secrets, { metadata: { name: "again" } })).toMatchObject({
      status: 201,
    });
  });

  it("count devices by their class", async () => {
    const name = "gpu.deviceclass.resource.k8s.io/devices";
    await limit("devices", { [name]: "3" });
    const path = `/apis/resource.k8s.io/v1/namespaces/${namespace}/resourceclaims`;
    const claiming = (count: number) => {
      const requests = [{ name: "r", exactly: { deviceClassName: "gpu", count } }];
      return { metadata: { generateName: "c-" }, spec: { devices: { requests } } };
    };
    expect(await server.admin.json("POST", path, claiming(2))).toMatchObject({ status: 201 });
    expect(await statusOf("devices")).toMatchObject({ used: { [name]: "2" } });
    const refused = await server.admin.json("POST", path, claiming(2));
    const amounts = `requested: ${name}=2, used: ${name}=2, limited: ${name}=3`;
    expect(refused).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining(`exceeded quota: devices, ${amounts}`) },
    });
  });

  it("refuse in upstream's words", async () => {
    await limit("cpu", { "requests.cpu": "1" });
    expect(await server.admin.json("POST", paths.pods, requesting("fits", "600m"))).toMatchObject({ status: 201 });
    expect(await server.admin.json("POST", paths.pods, requesting("over", "600m"))).toMatchObject({
      status: 403,
      body: {
        reason: "Forbidden",
        message:
          'pods "over" is forbidden: exceeded quota: cpu, requested: requests.cpu=600m, used: requests.cpu=600m, limited: requests.cpu=1',
      },
    });
    const silent = await server.admin.json("POST", paths.pods, pod("silent"));
    expect(silent).toHaveProperty(
      "body.message",
      'pods "silent" is forbidden: failed quota: cpu: must specify requests.cpu for: main',
    );
  });

  it("are charged nothing by a dry run, or by what is refused for another reason", async () => {
    await limit("maps", { configmaps: "50" });
    const before = await statusOf("maps");
    const dryRun = { query: { dryRun: "All" } };
    expect(await server.admin.json("POST", paths.configMaps, configMap("dry"), dryRun)).toMatchObject({ status: 201 });
    const taken = await server.admin.json("POST", paths.configMaps, configMap("kube-root-ca.crt"));
    expect(taken).toMatchObject({ status: 409 });
    const large = { ...configMap("large"), data: { text: "x".repeat(2 ** 21) } };
    expect((await server.admin.json("POST", paths.configMaps, large)).status).toBeGreaterThanOrEqual(400);
    expect(await statusOf("maps")).toEqual(before);
  });

  it("have a status that follows their limits", async () => {
    const change = { spec: { hard: { "count/secrets": "2" } } };
    expect(await server.admin.patch("merge", `${quotas}/few`, change)).toMatchObject({ status: 200 });
    await vi.waitFor(async () => expect(await statusOf("few")).toMatchObject(change.spec), { timeout: 60_000 });
    const more = await server.admin.json("POST", paths.secrets, { metadata: { name: "more" } });
    expect(more).toHaveProperty(
      "body.message",
      expect.stringContaining("used: count/secrets=5, limited: count/secrets=2"),
    );
  });
});
