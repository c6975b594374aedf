import { beforeAll, describe, expect, it } from "vitest";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { newNamespace } from "./objects.ts";

const containers = [{ name: "main", image: "example.com/main:1" }];
const template = { metadata: { labels: { app: "a" } }, spec: { containers } };
const selector = { matchLabels: { app: "a" } };
const REQUIRED = "Required value";
const MISMATCH = "`selector` does not match template `labels`";
const LABELS = `spec.template.metadata.labels: Invalid value: {"app":"a"}: ${MISMATCH}`;

/** Bodies that manifests of large projects have, by accident mostly, and what kube-apiserver says to them. */
describe.each(apiServersUnderTest())("manifests of others, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let namespace: string;

  beforeAll(async () => {
    namespace = await newNamespace(server.admin);
  });

  const create = (resource: string, body: object, name = "one") => {
    const [group, plural = ""] = resource.split(" ");
    const prefix = group === "v1" ? "/api/v1" : `/apis/${group}`;
    const isCluster = /configurations$|policies$|volumes$/.test(plural);
    const path = isCluster ? `${prefix}/${plural}` : `${prefix}/namespaces/${namespace}/${plural}`;
    return server.admin.json("POST", path, { metadata: { name }, ...body }, { query: { dryRun: "All" } });
  };
  const webhook = {
    name: "a.example.com",
    admissionReviewVersions: ["v1"],
    clientConfig: { url: "https://a.example.com" },
  };

  it.each<[what: string, resource: string, body: object, problem: string]>([
    ["no selector", "apps/v1 deployments", { spec: { template } }, `[spec.selector: ${REQUIRED}, ${LABELS}]`],
    ["no selector", "apps/v1 statefulsets", { spec: { template } }, `[spec.selector: ${REQUIRED}, ${LABELS}]`],
    ["no selector", "apps/v1 replicasets", { spec: { template } }, `[spec.selector: ${REQUIRED}, ${LABELS}]`],
    ["no selector", "apps/v1 daemonsets", { spec: { template } }, LABELS],
    [
      "no side effects",
      "admissionregistration.k8s.io/v1 validatingwebhookconfigurations",
      { webhooks: [webhook] },
      `webhooks[0].sideEffects: ${REQUIRED}: must specify one of None, NoneOnDryRun`,
    ],
    [
      "no type of a metric",
      "autoscaling/v2 horizontalpodautoscalers",
      {
        spec: {
          maxReplicas: 1,
          scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "a" },
          metrics: [{}],
        },
      },
      `[spec.metrics[0].type: ${REQUIRED}: must specify a metric source type, spec.metrics[0].type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"]`,
    ],
    [
      "a cloud's volume without its disk",
      "v1 pods",
      { spec: { containers, volumes: [{ name: "gce", gcePersistentDisk: {} }] } },
      `spec.volumes[0].persistentDisk.pdName: ${REQUIRED}`,
    ],
    [
      "a volume that is wrong in itself, and its mount,",
      "apps/v1 deployments",
      {
        spec: {
          selector,
          template: {
            ...template,
            spec: {
              containers: [{ ...containers[0], volumeMounts: [{ name: "s", mountPath: "/s" }] }],
              volumes: [{ name: "s", secret: {} }],
            },
          },
        },
      },
      `[spec.template.spec.volumes[0].secret.secretName: ${REQUIRED}, spec.template.spec.containers[0].volumeMounts[0].name: Not found: "s"]`,
    ],
    [
      "a reason that policies may not give",
      "admissionregistration.k8s.io/v1 validatingadmissionpolicies",
      {
        spec: {
          matchConstraints: {
            resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE"] }],
          },
          validations: [{ expression: "true", reason: "Unauthorized" }],
        },
      },
      'spec.validations[0].reason: Unsupported value: "Unauthorized": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
    ],
  ])("%s in %s is refused", async (_what, resource, body, problem) => {
    const answer = await create(resource, body);
    expect(answer).toMatchObject({ status: 422 });
    expect(Object(answer.body).message.replace(/^.*? is invalid: /, "")).toBe(problem);
  });

  it("a job with another job's UID in its selector is refused", async () => {
    const matchLabels = { "controller-uid": "other" };
    const { body } = await create("batch/v1 jobs", {
      spec: {
        selector: { matchLabels },
        template: { spec: { containers, restartPolicy: "Never" }, metadata: { labels: matchLabels } },
      },
    });
    const { message } = Object(body);
    const labels =
      'spec.template.metadata.labels[controller-uid]: Invalid value: {"batch.kubernetes.io/controller-uid":"';
    expect(message).toContain(`Job.batch "one" is invalid: [${labels}`);
    expect(message.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "UID")).toContain(
      ': must be \'UID\', spec.selector: Invalid value: {"matchLabels":{"batch.kubernetes.io/controller-uid":"UID","controller-uid":"other"}}: `selector` not auto-generated]',
    );
  });

  it("a new volume's affinity is refused a value that no label has", async () => {
    const matchExpressions = [{ key: "a", operator: "In", values: ["a b"] }];
    const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions }] } };
    const capacity = { storage: "1Gi" };
    const spec = { capacity, accessModes: ["ReadWriteOnce"], hostPath: { path: "/a" }, nodeAffinity };
    const { status, body } = await create("v1 persistentvolumes", { spec });
    expect(status).toBe(422);
    const field = "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values[0]";
    expect(body).toMatchObject({ details: { causes: [{ field }] } });
  });

  it("a type that is no text is refused as such", async () => {
    const { status, body } = await create("v1 configmaps", { kind: { a: 1 } });
    expect(status).toBe(400);
    expect(Object(body).message).toContain(
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind",
    );
  });

  it("a service, and an ingress's backend, may have a name that begins with a digit", async () => {
    expect(await create("v1 services", { spec: { ports: [{ port: 80 }] } }, "1web")).toMatchObject({ status: 201 });
    const service = { name: "1web", port: { number: 80 } };
    const spec = { defaultBackend: { service } };
    expect(await create("networking.k8s.io/v1 ingresses", { spec })).toMatchObject({ status: 201 });
  });

  it("a template may leave the image to others by a space, and is warned of what apply and probes mix up", async () => {
    const ports = [{ name: "http", containerPort: 80 }];
    const others = [{ name: "http", containerPort: 81 }];
    const annotations = { "container.apparmor.security.beta.kubernetes.io/main": "runtime/default" };
    const { status, headers } = await create("apps/v1 deployments", {
      spec: {
        selector,
        template: {
          metadata: { labels: { app: "a" }, annotations },
          spec: {
            containers: [
              { name: "main", image: " ", ports },
              { name: "side", image: "x", ports: others },
            ],
          },
        },
      },
    });
    expect(status).toBe(201);
    const first = "spec.template.spec.containers[0].ports[0]";
    expect(headers["warning"]).toBe(
      [
        'spec.template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/main]: deprecated since v1.30; use the \\"appArmorProfile\\" field instead',
        `spec.template.spec.containers[1].ports[0]: duplicate port name \\"http\\" with ${first}, services and probes that select ports by name will use ${first}`,
      ]
        .map((warning) => `299 - "${warning}"`)
        .join(", "),
    );
  });
});
