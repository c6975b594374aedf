import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type { APIServiceSpec } from "../../../api/gen/types.ts";
import { API_REGISTRATION_KINDS } from "./apiregistration-kinds.ts";

const [KIND] = API_REGISTRATION_KINDS;
const service = { namespace: "wardle", name: "api" };
const base = { group: "wardle.example.com", version: "v1alpha1", groupPriorityMinimum: 1000, versionPriority: 15 };

const apiService = (spec: Partial<APIServiceSpec> = {}, name = "v1alpha1.wardle.example.com") => ({
  apiVersion: "apiregistration.k8s.io/v1",
  kind: "APIService",
  metadata: { name, creationTimestamp: "2026-01-02T03:04:05Z" },
  spec: { ...base, ...spec },
});

describe("the registration of a group and version", () => {
  it.each<[string, Partial<APIServiceSpec>, string | undefined, string[]]>([
    ["of our own", {}, undefined, []],
    ["with a service", { service: { ...service, port: 8443 }, caBundle: "YQ==" }, undefined, []],
    [
      "by another name",
      {},
      "wardle",
      ['metadata.name: Invalid value: "wardle": must be `spec.version+"."+spec.group`: "v1alpha1.wardle.example.com"'],
    ],
    [
      "of no group",
      { group: "" },
      "v1alpha1.",
      ["spec.group: Required value: only v1 may have an empty group and it better be legacy kube"],
    ],
    [
      "without priorities",
      { groupPriorityMinimum: 0, versionPriority: 1001 },
      undefined,
      [
        "spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000",
        "spec.versionPriority: Invalid value: 1001: must be positive and less than 1000",
      ],
    ],
    [
      "of our own with TLS",
      { caBundle: "YWI=", insecureSkipTLSVerify: true },
      undefined,
      [
        'spec.caBundle: Invalid value: "2 bytes": local APIServices may not have a caBundle',
        "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify",
      ],
    ],
    [
      "with a service of no name",
      { service: { port: 0 }, caBundle: "YQ==", insecureSkipTLSVerify: true },
      undefined,
      [
        "spec.service.namespace: Required value",
        "spec.service.name: Required value",
        "spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
        "spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present",
      ],
    ],
  ])("%s is judged as upstream judges it", (_name, spec, name, errors) => {
    const problems = KIND?.strategy.validate?.(apiService(spec, name)) ?? [];
    expect(problems.map(formatFieldError)).toEqual(errors);
  });

  it("is at port 443 unless it says another, and is available at once where it is local", () => {
    expect(KIND?.strategy.default?.(apiService({ service }))).toMatchObject({ spec: { service: { port: 443 } } });
    expect(KIND?.strategy.prepareCreate?.({ ...apiService({ service }), status: { a: 1 } })["status"]).toEqual({});
    expect(KIND?.strategy.prepareCreate?.(apiService())).toMatchObject({
      status: { conditions: [{ type: "Available", status: "True", reason: "Local" }] },
    });
  });

  it("has conditions that are true, false or unknown", () => {
    const status = KIND?.subresources.find(({ name }) => name === "status");
    const judged = (word: string) => {
      const next = { ...apiService(), status: { conditions: [{ type: "Available", status: word }] } };
      return status?.validateUpdate?.(next, next).map(formatFieldError);
    };
    expect(judged("True")).toEqual([]);
    expect(judged("Perhaps")).toEqual([
      'status.conditions[0].status: Unsupported value: "Perhaps": supported values: "False", "True", "Unknown"',
    ]);
  });
});
