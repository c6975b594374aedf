import { describe, expect, it } from "vitest";
import * as types from "../types.ts";
import { type CheckedKind, checkPolicyTypes, expressionWarnings } from "./check-types.ts";
import { servedType } from "./served-type.ts";

const DEPLOYMENT: CheckedKind = { group: "apps", version: "v1", kind: "Deployment", type: servedType("Deployment") };
const POD: CheckedKind = { group: "", version: "v1", kind: "Pod", type: servedType("Pod") };

const problemsOf = (expression: string, more: object = {}, kind = DEPLOYMENT) =>
  checkPolicyTypes({ validations: [{ expression, ...more }] }, kind, undefined).map(({ text }) => text);

describe("checkPolicyTypes", () => {
  it.each([
    ["object.spec.replicas > 1"],
    ["object.metadata.namespace == 'a' && object.metadata.__namespace__ == 'a'"],
    ["object.spec.template.spec.containers.all(c, c.resources.limits.cpu == '1')"],
    ["object.spec.strategy.rollingUpdate.maxSurge == 1"],
    ["object.metadata.labels['a'].startsWith('b') && object.metadata.labels.a == 'b'"],
    ["object.metadata.creationTimestamp.getFullYear() > 2000"],
    ["has(oldObject.spec.paused) ? oldObject.spec.paused : request.operation == 'CREATE'"],
    ["object.metadata.managedFields.exists(f, f.fieldsV1.a == 1)"],
    ["authorizer.group('').resource('pods').check('get').allowed()"],
  ])("finds nothing wrong with %s", (expression) => {
    expect(problemsOf(expression)).toEqual([]);
  });

  it("tells what is wrong in cel-go's words, by the kind", () => {
    expect(problemsOf("object.spec.replicas > 1 && object.spec.nosuch")).toEqual([
      "apps/v1, Kind=Deployment: ERROR: <input>:1:40: undefined field 'nosuch'\n" +
        " | object.spec.replicas > 1 && object.spec.nosuch\n | .......................................^\n",
    ]);
    expect(problemsOf("object.spec.replicas == '1'", {}, POD)[0]).toMatch(/^\/v1, Kind=Pod: ERROR: .*'replicas'/);
    expect(problemsOf("object.spec.replicas > '1'")[0]).toContain(
      "found no matching overload for '_>_' applied to '(int, string)'",
    );
  });

  it("checks messages, too", () => {
    const problems = checkPolicyTypes(
      { validations: [{ expression: "true", messageExpression: "object.nosuch" }] },
      DEPLOYMENT,
      undefined,
    );
    expect(problems).toMatchObject([{ fieldRef: "spec.validations[0].messageExpression" }]);
  });

  it("knows the types of variables, but nothing of the objects in them", () => {
    const variables = [
      { name: "replicas", expression: "object.spec.replicas" },
      { name: "template", expression: "object.spec.template" },
      { name: "wrong", expression: "object.nosuch" },
    ];
    const check = (expression: string) =>
      checkPolicyTypes({ variables, validations: [{ expression }] }, DEPLOYMENT, undefined);
    expect(check("variables.replicas > 1 && variables.template.nosuch && variables.wrong.any")).toEqual([]);
    expect(check("variables.replicas == 'a'")).toHaveLength(1);
    expect(check("variables.nosuch")).toHaveLength(1);
  });

  it("knows the type of parameters, where they have one", () => {
    const spec = {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      validations: [{ expression: "params.data.a == 1" }],
    };
    expect(checkPolicyTypes(spec, POD, servedType("ConfigMap"))).toHaveLength(1);
    expect(checkPolicyTypes(spec, POD, undefined)).toEqual([]);
    expect(checkPolicyTypes(spec, POD, types.DYN)).toEqual([]);
  });
});

describe("expressionWarnings", () => {
  it("joins what is wrong with one expression, in the order of the kinds", () => {
    expect(
      expressionWarnings([
        { fieldRef: "spec.validations[0].expression", text: "a\n" },
        { fieldRef: "spec.validations[1].expression", text: "b\n" },
        { fieldRef: "spec.validations[0].expression", text: "c\n" },
      ]),
    ).toEqual([
      { fieldRef: "spec.validations[0].expression", warning: "a\n\nc\n" },
      { fieldRef: "spec.validations[1].expression", warning: "b\n" },
    ]);
  });
});
