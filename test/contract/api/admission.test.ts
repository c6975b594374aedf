import { beforeAll, describe, expect, it } from "vitest";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { namesOf, newNamespace, pathsIn, pod } from "./objects.ts";

const CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses";

describe.each(apiServersUnderTest())("admission of pods, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let paths: ReturnType<typeof pathsIn>;

  beforeAll(async () => {
    paths = pathsIn(await newNamespace(server.admin));
  });

  const create = (name: string, spec: object = {}) => server.admin.json("POST", paths.pods, pod(name, { spec }));

  it("fills in everything that the author left out", async () => {
    expect(await create("plain", { schedulerName: undefined })).toMatchObject({
      status: 201,
      body: {
        spec: {
          containers: [
            {
              name: "main",
              imagePullPolicy: "IfNotPresent",
              terminationMessagePath: "/dev/termination-log",
              terminationMessagePolicy: "File",
            },
          ],
          dnsPolicy: "ClusterFirst",
          enableServiceLinks: true,
          preemptionPolicy: "PreemptLowerPriority",
          priority: 0,
          restartPolicy: "Always",
          schedulerName: "default-scheduler",
          securityContext: {},
          serviceAccount: "default",
          serviceAccountName: "default",
          terminationGracePeriodSeconds: 30,
        },
        status: { phase: "Pending", qosClass: "BestEffort" },
      },
    });
  });

  it("gives a pod the zone and region of the node that it is bound to", async ({ skip }) => {
    skip(server.minor < 35, "it is done since 1.35");
    const [zone, region] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];
    const name = "contract-zoned";
    await server.admin.object("POST", "/api/v1/nodes", {
      metadata: { name, labels: { [zone]: "z1", [region]: "r1", other: "x" } },
    });
    const placed = pod("placed", { spec: { nodeName: name } });
    const labelsOf = ({ body }: { body: unknown }) => Object(body).metadata.labels;
    // kube-apiserver hears of the node a moment after the client.
    await expect
      .poll(async () => labelsOf(await server.admin.json("POST", paths.pods, placed, { query: { dryRun: "All" } })))
      .toMatchObject({ [zone]: "z1", [region]: "r1" });
    await create("zoned", { schedulerName: "contract" });
    const binding = { apiVersion: "v1", kind: "Binding", metadata: { name: "zoned" }, target: { kind: "Node", name } };
    await server.admin.json("POST", `${paths.pods}/zoned/binding`, binding);
    const labels = labelsOf(await server.admin.json("GET", `${paths.pods}/zoned`));
    expect(labels).toMatchObject({ [zone]: "z1", [region]: "r1" });
    expect(labels).not.toHaveProperty("other");
    const query = { gracePeriodSeconds: 0 };
    await server.admin.json("DELETE", `${paths.pods}/zoned`, undefined, { query });
    await server.admin.json("DELETE", `/api/v1/nodes/${name}`);
  });

  it("gives an Ingress the default class", async () => {
    const group = "/apis/networking.k8s.io/v1";
    const ingresses = `${group}/namespaces/${paths.pods.split("/")[4]}/ingresses`;
    const annotations = { "ingressclass.kubernetes.io/is-default-class": "true" };
    const define = (name: string) =>
      server.admin.object("POST", `${group}/ingressclasses`, {
        metadata: { name, annotations },
        spec: { controller: "example.com/contract" },
      });
    const backend = { service: { name: "s", port: { number: 80 } } };
    const dryRun = { query: { dryRun: "All" } };
    const classOf = async (spec: object = {}) => {
      const body = { metadata: { name: "i" }, spec: { defaultBackend: backend, ...spec } };
      const answer = await server.admin.json("POST", ingresses, body, dryRun);
      return Object(answer.body).spec?.ingressClassName ?? Object(answer.body).message;
    };
    expect(await classOf()).toBeUndefined();
    await define("contract-a");
    await expect.poll(() => classOf()).toBe("contract-a");
    expect(await classOf({ ingressClassName: "other" })).toBe("other");
    await define("contract-b");
    await expect.poll(() => classOf()).toContain("2 default IngressClasses were found, only 1 allowed");
    for (const name of ["a", "b"]) await server.admin.json("DELETE", `${group}/ingressclasses/contract-${name}`);
  });

  it("tolerates unready and unreachable nodes for five minutes", async () => {
    const tolerations = ["not-ready", "unreachable"].map((condition) => {
      return {
        key: `node.kubernetes.io/${condition}`,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 300,
      };
    });
    expect(await create("tolerant")).toMatchObject({ body: { spec: { tolerations } } });
    const own = { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 };
    const { body } = await create("impatient", { tolerations: [own] });
    expect(body).toMatchObject({ spec: { tolerations: [own, tolerations[1]] } });
    expect(body).toHaveProperty("spec.tolerations.length", 2);
  });

  describe("with service accounts", () => {
    const mountPath = "/var/run/secrets/kubernetes.io/serviceaccount";

    it("mounts a token that is renewed, the authority's certificate and the namespace", async () => {
      const name = expect.stringMatching(/^kube-api-access-[a-z0-9]{5}$/);
      const fieldRef = { apiVersion: "v1", fieldPath: "metadata.namespace" };
      const wanted = [
        { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
        { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
        { downwardAPI: { items: [{ path: "namespace", fieldRef }] } },
      ];
      // A distribution's server may add sources of its own; not even then may one of these be missing.
      const sources = candidate.isOurs ? wanted : expect.arrayContaining(wanted);
      expect(await create("mounted")).toMatchObject({
        body: {
          spec: {
            containers: [{ volumeMounts: [{ name, mountPath, readOnly: true }] }],
            volumes: [{ name, projected: { defaultMode: 420, sources } }],
          },
        },
      });
    });

    it("mounts nothing where the pod or the account says so", async () => {
      const { body } = await create("unmounted", { automountServiceAccountToken: false });
      expect(body).not.toHaveProperty("spec.volumes");
      const account = { metadata: { name: "shy" }, automountServiceAccountToken: false };
      await server.admin.object("POST", paths.serviceAccounts, account);
      expect((await create("shy", { serviceAccountName: "shy" })).body).not.toHaveProperty("spec.volumes");
    });

    it("gives the account's pull secrets to pods that have none", async () => {
      const account = { metadata: { name: "puller" }, imagePullSecrets: [{ name: "registry" }] };
      await server.admin.object("POST", paths.serviceAccounts, account);
      expect(await create("pulling", { serviceAccountName: "puller" })).toMatchObject({
        body: {
          spec: { serviceAccountName: "puller", serviceAccount: "puller", imagePullSecrets: [{ name: "registry" }] },
        },
      });
    });

    // kube-apiserver tries ten times, for a second or two: too little for forty namespaces on a busy machine.
    it.runIf(candidate.isOurs)("waits a moment for the account that every namespace is given", async () => {
      const createFirst = async () => {
        const { metadata } = await server.admin.object("POST", "/api/v1/namespaces", {
          metadata: { generateName: "contract-" },
        });
        const { pods, serviceAccounts } = pathsIn(metadata.name ?? "");
        const account = { metadata: { name: "default" } };
        // Where a controller makes the account too, who is first does not matter.
        const [answer] = await Promise.all([
          server.admin.json("POST", pods, pod("early")),
          server.admin.json("POST", serviceAccounts, account),
        ]);
        return answer.status;
      };
      const statuses = await Promise.all(Array.from({ length: 40 }, createFirst));
      expect(new Set(statuses)).toEqual(new Set([201]));
    });

    it("refuses an account that is not there", async () => {
      expect(await create("homeless", { serviceAccountName: "absent" })).toMatchObject({
        status: 403,
        body: { reason: "Forbidden", message: expect.stringMatching(/serviceaccount "absent" not found/) },
      });
    });
  });

  describe("with priorities", () => {
    it("has the classes of the system", async () => {
      const { items } = await server.admin.list(CLASSES);
      expect(namesOf(items)).toEqual(expect.arrayContaining(["system-cluster-critical", "system-node-critical"]));
      expect(items).toContainEqual(expect.objectContaining({ value: 2_000_000_000 }));
      expect(items).toContainEqual(expect.objectContaining({ value: 2_000_001_000 }));
    });

    it("resolves a class", async () => {
      const fields = { value: 1234, preemptionPolicy: "Never", description: "for a test" };
      await server.admin.object("POST", CLASSES, { metadata: { name: "contract-high" }, ...fields });
      const important = () => create("important", { priorityClassName: "contract-high" });
      // A real server hears of the class a moment later.
      await expect.poll(important, { timeout: 10_000 }).toMatchObject({
        status: 201,
        body: { spec: { priorityClassName: "contract-high", priority: 1234, preemptionPolicy: "Never" } },
      });
      expect(await create("critical", { priorityClassName: "system-node-critical" })).toMatchObject({
        status: 201,
        body: { spec: { priority: 2_000_001_000 } },
      });
    });

    it.each([
      ["a class that is not there", { priorityClassName: "absent" }, "no PriorityClass with name absent was found"],
      [
        "a priority that is not the class's",
        { priority: 7 },
        "the integer value of priority (7) must not be provided in pod spec",
      ],
    ])("refuses %s", async (_, spec, message) => {
      expect(await create("wrong", spec)).toMatchObject({
        status: 403,
        body: { reason: "Forbidden", message: expect.stringContaining(message) },
      });
    });

    it("gives the global default to pods without a class", async () => {
      const name = "contract-default";
      await server.admin.object("POST", CLASSES, { metadata: { name }, value: 77, globalDefault: true });
      const isDefault = { body: { spec: { priorityClassName: name, priority: 77 } } };
      await expect.poll(() => create(`default-${Date.now()}`), { timeout: 10_000 }).toMatchObject(isDefault);
      const second = { metadata: { name: "contract-second" }, value: 78, globalDefault: true };
      expect(await server.admin.json("POST", CLASSES, second)).toMatchObject({
        status: 403,
        body: { message: expect.stringContaining(`PriorityClass ${name} is already marked as default`) },
      });
      await server.admin.json("DELETE", `${CLASSES}/${name}`);
    });

    it("reserves the highest values and the system's prefix", async () => {
      const high = { metadata: { name: "too-high" }, value: 1_000_000_001 };
      expect((await server.admin.json("POST", CLASSES, high)).status).toBeGreaterThanOrEqual(400);
      const named = { metadata: { name: "system-mine" }, value: 1 };
      expect(await server.admin.json("POST", CLASSES, named)).toMatchObject({ status: 422 });
    });

    it("does not let a class change its value", async () => {
      await server.admin.object("POST", CLASSES, { metadata: { name: "contract-fixed" }, value: 5 });
      const patch = { value: 6 };
      expect(await server.admin.patch("merge", `${CLASSES}/contract-fixed`, patch)).toMatchObject({ status: 422 });
    });
  });
});
