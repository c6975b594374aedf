import { describe, expect, it, vi } from "vitest";
import type { KubeObject } from "../../../api/object.ts";
import { servedType } from "../../cel/policies/served-type.ts";
import { createControllerBench } from "../../control-loop/__fixtures__/run-controllers.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { kindsOfPolicy } from "./kinds-of-policy.ts";
import { createPolicyStatus } from "./policy-status.ts";

const RESOURCE = "validatingadmissionpolicies.admissionregistration.k8s.io";
const kindOf = (kind: string, plural: string, group = ""): ResourceKind => ({
  ...{ group, version: "v1", kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
  ...{ shortNames: [], categories: [], namespaced: true, verbs: ["get"], subresources: [], columns: [], strategy: {} },
  schema: {
    decode: (value) => ({ value, errors: [], warnings: [] }),
    node: { kind: "untyped" },
    strategicMerge: true,
    definition: kind,
  },
});
const KINDS = [kindOf("Pod", "pods"), kindOf("ConfigMap", "configmaps"), kindOf("Deployment", "deployments", "apps")];

const rule = (fields: object) => ({
  operations: ["CREATE"],
  apiGroups: [""],
  apiVersions: ["v1"],
  resources: [],
  ...fields,
});

function policy(expressions: readonly string[], rules: readonly object[]): KubeObject {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "p", generation: 1 },
    spec: {
      matchConstraints: { resourceRules: rules },
      validations: expressions.map((expression) => ({ expression })),
    },
  };
}

async function statusOf(object: KubeObject): Promise<unknown> {
  const bench = createControllerBench();
  bench.start(createPolicyStatus({ ...bench.deps, kinds: () => KINDS, typeOf: ({ kind }) => servedType(kind) }));
  await bench.create(RESOURCE, object);
  await vi.waitFor(async () => {
    await bench.clock.advance(1);
    expect(bench.writes).toContain(`update ${RESOURCE}/p status`);
  });
  return bench.reader.get({ resource: RESOURCE, namespace: "", name: "p" })?.["status"];
}

describe("createPolicyStatus", () => {
  it("says that there is nothing to warn of", async () => {
    const rules = [rule({ resources: ["pods"] })];
    expect(await statusOf(policy(["object.spec.hostNetwork"], rules))).toEqual({
      observedGeneration: 1,
      typeChecking: {},
    });
  });

  it("warns of each expression by the kinds with which it is wrong", async () => {
    const rules = [
      rule({ resources: ["pods", "configmaps"] }),
      rule({ apiGroups: ["apps"], resources: ["deployments"] }),
    ];
    expect(await statusOf(policy(["true", "object.spec.replicas > 1"], rules))).toEqual({
      observedGeneration: 1,
      typeChecking: {
        expressionWarnings: [
          {
            fieldRef: "spec.validations[1].expression",
            warning: expect.stringMatching(
              /^\/v1, Kind=ConfigMap: ERROR: .*'spec'[\s\S]*\n\n\/v1, Kind=Pod: ERROR: .*'replicas'/,
            ),
          },
        ],
      },
    });
  });

  it("leaves warnings out that would make the object too large", async () => {
    const long = `object.nosuch == '${"x".repeat(15_000)}'`;
    const status = await statusOf(
      policy(
        Array.from({ length: 12 }, () => long),
        [rule({ resources: ["pods"] })],
      ),
    );
    const text = JSON.stringify(status);
    expect(text.length).toBeLessThan(300_000);
    expect(text).toContain("further expressions have warnings that are too long to show");
  });
});

describe("kindsOfPolicy", () => {
  it.each([
    ["a wildcard for groups", [rule({ apiGroups: ["*"], resources: ["pods"] })], []],
    ["a wildcard for versions", [rule({ apiVersions: ["*"], resources: ["pods"] })], []],
    ["subresources and wildcards", [rule({ resources: ["pods/status", "*", "configmaps"] })], ["ConfigMap"]],
    ["several rules", [rule({ apiGroups: ["", "apps"], resources: ["deployments", "pods"] })], ["Pod", "Deployment"]],
    ["what nobody serves", [rule({ resources: ["nosuch"] })], []],
  ])("takes of %s", (_, resourceRules, kinds) => {
    expect(kindsOfPolicy({ resourceRules }, KINDS).map(({ kind }) => kind)).toEqual(kinds);
  });
});
