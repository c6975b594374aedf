import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClusterUnderTest, startClusterUnderTest } from "./cluster-under-test.ts";
import { newestKubectl } from "./kubectl-binaries.ts";
import { configMap, pod } from "./manifests.ts";

const { minor } = newestKubectl();
const POD = 'Pod in version "v1" cannot be handled as a Pod';

/** What a manifest must be told on standard error. Since 1.27 it is the server that knows a kind's fields, not kubectl. */
const BROKEN: ReadonlyArray<[string, object, string]> = [
  [
    "an unknown field",
    pod({ name: "unknown" }, {}, { imagee: "x" }),
    minor >= 27
      ? `Error from server (BadRequest): error when creating "STDIN": ${POD}: strict decoding error: unknown field "spec.containers[0].imagee"\n`
      : 'error: error validating "STDIN": error validating data: ValidationError(Pod.spec.containers[0]): unknown field "imagee" in io.k8s.api.core.v1.Container; if you choose to ignore these errors, turn validation off with --validate=false\n',
  ],
  [
    "a quantity that is none",
    pod({ name: "quantity" }, {}, { resources: { limits: { cpu: "1x" } } }),
    `spec.containers[0].resources.limits[cpu]: expected quantity such as 500m, 2 or 1.5Gi, got string "1x"\n`,
  ],
  [
    "a text where a number belongs",
    pod({ name: "text" }, {}, { ports: [{ containerPort: "http" }] }),
    minor >= 27
      ? `${POD}: spec.containers[0].ports[0].containerPort: expected integer, got string "http"\n`
      : 'ValidationError(Pod.spec.containers[0].ports[0].containerPort): invalid type for io.k8s.api.core.v1.ContainerPort.containerPort: got "string", expected "integer"',
  ],
  [
    "no name",
    { apiVersion: "v1", kind: "ConfigMap", metadata: {} },
    minor >= 27 ? "resource name may not be empty\n" : "error",
  ],
  [
    "a version that is not served",
    { ...pod({ name: "version" }), apiVersion: "v2" },
    minor >= 24
      ? 'error: resource mapping not found for name: "version" namespace: "" from "STDIN": no matches for kind "Pod" in version "v2"\nensure CRDs are installed first\n'
      : 'error: unable to recognize "STDIN": no matches for kind "Pod" in version "v2"\n',
  ],
  [
    "a kind that nobody knows",
    { apiVersion: "apps/v1", kind: "Gadget", metadata: { name: "kind" } },
    'no matches for kind "Gadget" in version "apps/v1"\n',
  ],
  [
    "a name that is no DNS name",
    pod({ name: "Not_A_Name" }),
    `The Pod "Not_A_Name" is invalid: metadata.name: Invalid value: "Not_A_Name": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')\n`,
  ],
  [
    "several faults at once",
    pod({ name: "several" }, { restartPolicy: "Sometimes" }, { volumeMounts: [{ name: "data", mountPath: "/data" }] }),
    'The Pod "several" is invalid: \n* spec.containers[0].volumeMounts[0].name: Not found: "data"\n* spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"\n',
  ],
];

describe("kubectl with broken manifests", () => {
  let cluster: ClusterUnderTest;
  beforeAll(async () => {
    cluster = await startClusterUnderTest();
  });
  afterAll(async () => await cluster?.stop());

  it.each(BROKEN)("says what is wrong: %s", async (_what, input, message) => {
    const stderr = await cluster.kubectl.fails("apply -f -", { input });
    expect(stderr).toContain(message);
    expect(await cluster.kubectl.ok("get pods -o name")).toBe("");
  });

  it("wants a name or what to make one of", async () => {
    const { kubectl } = cluster;
    const nameless = { ...pod({ name: "" }), metadata: {} };
    expect(await kubectl.fails("create -f -", { input: nameless })).toContain(
      'The Pod "" is invalid: metadata.name: Required value: name or generateName is required\n',
    );
    const generated = { ...configMap({ name: "" }), metadata: { generateName: "made-" } };
    expect(await kubectl.ok("create -f -", { input: generated })).toMatch(/^configmap\/made-[a-z0-9]{5} created\n$/);
  });

  it("lets an unknown field pass when asked to, and drops it", async () => {
    const { kubectl } = cluster;
    const input = pod({ name: "lenient" }, {}, { imagee: "x" });
    expect(await kubectl.ok("create --validate=false -f -", { input })).toBe("pod/lenient created\n");
    expect(await kubectl.ok("get pod lenient -o jsonpath={.spec.containers[0].imagee}")).toBe("");
    await kubectl.ok("delete pod lenient");
    if (minor < 27) return;
    const { code, stderr } = await kubectl.run("create --validate=warn -f -", { input });
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'Warning: unknown field "spec.containers[0].imagee"\n' });
    await kubectl.ok("delete pod lenient");
  });

  it("refuses what is there already, and what cannot be changed", async () => {
    const { kubectl } = cluster;
    await kubectl.ok("apply -f -", { input: pod({ name: "twice" }) });
    expect(await kubectl.fails("create -f -", { input: pod({ name: "twice" }) })).toBe(
      'Error from server (AlreadyExists): error when creating "STDIN": pods "twice" already exists\n',
    );
    const moved = pod({ name: "twice" }, { hostNetwork: true });
    expect(await kubectl.fails("apply -f -", { input: moved })).toMatch(
      /^The Pod "twice" is invalid: spec: Forbidden: pod updates may not change fields other than /,
    );
    const frozen = { ...configMap({ name: "frozen" }), immutable: true };
    await kubectl.ok("apply -f -", { input: frozen });
    const thawed = { ...configMap({ name: "frozen" }, { key: "other" }), immutable: true };
    expect(await kubectl.fails("apply -f -", { input: thawed })).toBe(
      'The ConfigMap "frozen" is invalid: data: Forbidden: field is immutable when `immutable` is set\n',
    );
  });
});
