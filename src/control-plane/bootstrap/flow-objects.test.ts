import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import {
  MANDATORY_FLOW_OBJECTS,
  reconcileMandatoryFlow,
  reconcileSuggestedFlow,
  SUGGESTED_FLOW_OBJECTS,
} from "./flow-objects.ts";

const AUTOUPDATE = "apf.kubernetes.io/autoupdate-spec";
const named = (objects: readonly KubeObject[], kind: string, name: string) => {
  return objects.find((object) => object.kind === kind && object.metadata.name === name) ?? expect.fail(name);
};
const marked = (object: KubeObject, mark: string | undefined, generation: number): KubeObject => {
  const annotations: Record<string, string> = mark === undefined ? {} : { [AUTOUPDATE]: mark };
  return { ...object, metadata: { ...object.metadata, annotations, generation } };
};

describe("a suggested object", () => {
  const wanted = named(SUGGESTED_FLOW_OBJECTS, "PriorityLevelConfiguration", "system");
  const spec = { type: "Limited", limited: { limitResponse: { type: "Reject" } } };
  const changed = { ...wanted, spec };

  it("is made where it is missing, and left where it is as it should be", () => {
    expect(reconcileSuggestedFlow(undefined, wanted)).toBe(wanted);
    expect(reconcileSuggestedFlow(wanted, wanted)).toBeUndefined();
  });

  it.each([
    ["asked to follow", "true", 2, { mark: "true", spec: wanted["spec"] }],
    ["asked to follow in another word", "T", 2, { mark: "T", spec: wanted["spec"] }],
    ["without a word, and never changed", undefined, 1, { mark: "true", spec: wanted["spec"] }],
    ["without a word, and changed", undefined, 2, { mark: "false", spec }],
    ["with a word that says nothing, and changed", "perhaps", 2, { mark: "false", spec }],
  ])("%s, ends as that says", (_name, mark, generation, { mark: expected, spec: end }) => {
    const next = reconcileSuggestedFlow(marked(changed, mark, generation), wanted);
    expect(next?.metadata.annotations?.[AUTOUPDATE]).toBe(expected);
    expect(next?.["spec"]).toEqual(end);
  });

  it("stays as its owner wants it", () => {
    expect(reconcileSuggestedFlow(marked(changed, "false", 2), wanted)).toBeUndefined();
  });
});

describe("a mandatory object", () => {
  const exempt = named(MANDATORY_FLOW_OBJECTS, "PriorityLevelConfiguration", "exempt");

  it("is restored whatever its annotation says", () => {
    const wanted = named(MANDATORY_FLOW_OBJECTS, "FlowSchema", "catch-all");
    const next = reconcileMandatoryFlow(marked({ ...wanted, spec: {} }, "false", 2), wanted);
    expect(next).toMatchObject({ metadata: { annotations: { [AUTOUPDATE]: "true" } }, spec: wanted["spec"] });
  });

  it("keeps the shares of the exempt level", () => {
    const shares = {
      ...exempt,
      spec: { type: "Exempt", exempt: { nominalConcurrencyShares: 5, lendablePercent: 50 } },
    };
    expect(reconcileMandatoryFlow(shares, exempt)).toBeUndefined();
    expect(reconcileMandatoryFlow({ ...exempt, spec: { type: "Exempt" } }, exempt)).toMatchObject({
      spec: exempt["spec"],
    });
  });
});
