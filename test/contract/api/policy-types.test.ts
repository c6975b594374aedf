import { describe, expect, it } from "vitest";
import { cronTabDefinition, DEFINITIONS } from "./cron-tabs.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { changed } from "./objects.ts";

const PATH = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";

// With kube-apiserver, this is the work of kube-controller-manager.
const servers = apiServersUnderTest().filter(({ isOurs }) => isOurs);

describe.each(servers)("status.typeChecking of policies, on $name", (candidate) => {
  const server = useApiServer(candidate);

  const policy = (name: string, rule: object, expressions: readonly string[]) => ({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: [{ operations: ["CREATE"], ...rule }] },
      validations: expressions.map((expression) => ({ expression })),
    },
  });
  const pods = { apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };
  const checked = (name: string, generation: number, typeChecking: object) =>
    expect
      .poll(async () => (await server.admin.object("GET", `${PATH}/${name}`))["status"])
      .toEqual({ observedGeneration: generation, typeChecking });

  it("warns of what a pod does not have, until the author mends it", async () => {
    await server.admin.object("POST", PATH, policy("pods", pods, ["object.spec.replicas > 1"]));
    const warning =
      "/v1, Kind=Pod: ERROR: <input>:1:12: undefined field 'replicas'\n" +
      " | object.spec.replicas > 1\n | ...........^\n";
    const fieldRef = "spec.validations[0].expression";
    await checked("pods", 1, { expressionWarnings: [{ fieldRef, warning }] });
    const current = await server.admin.object("GET", `${PATH}/pods`);
    const { spec } = policy("pods", pods, ["object.spec.hostNetwork == true"]);
    await server.admin.object("PUT", `${PATH}/pods`, changed(current, { spec }));
    await checked("pods", 2, {});
  });

  it("knows the schemas of custom resources", async () => {
    const [group, plural] = ["types.example.com", "crontabs"];
    await server.admin.object("POST", DEFINITIONS, cronTabDefinition(group));
    const rule = { apiGroups: [group], apiVersions: ["v1"], resources: [plural] };
    const expressions = ["object.spec.replicas > 1 && object.metadata.labels.size() > 0", "object.spec.nosuch == 1"];
    await expect.poll(async () => (await server.admin.json("GET", `/apis/${group}/v1/${plural}`)).status).toBe(200);
    await server.admin.object("POST", PATH, policy("tabs", rule, expressions));
    const warning = expect.stringContaining(`${group}/v1, Kind=`);
    await checked("tabs", 1, { expressionWarnings: [{ fieldRef: "spec.validations[1].expression", warning }] });
  });
});
