import { describe, expect, it } from "vitest";
import { describeFeatureGates, resolveFeatureGates } from "./feature-gates.ts";

const PATH = "featureGates (--feature-gates)";

describe("resolveFeatureGates", () => {
  it("keeps the defaults of what nobody names", () => {
    const { gates, errors, warnings } = resolveFeatureGates({});
    expect(gates).toMatchObject({ NodeSwap: true, EventedPLEG: false, GracefulNodeShutdown: true });
    expect([errors, warnings]).toEqual([[], []]);
    expect(Object.isFrozen(gates)).toBe(true);
  });

  it("lets a gate that is named go before its group", () => {
    const { gates } = resolveFeatureGates({
      AllAlpha: true,
      AllBeta: false,
      EventedPLEG: false,
      PodDeletionCost: true,
    });
    expect(gates).toMatchObject({
      EventedPLEG: false,
      MemoryQoS: true,
      PodDeletionCost: true,
      PodLevelResources: false,
      NodeSwap: true,
    });
  });

  it.each([
    [{ Bogus: true }, "unrecognized feature gate: Bogus"],
    [{ constructor: true }, "unrecognized feature gate: constructor"],
    [{ NodeSwap: false }, "cannot set feature gate NodeSwap to false, feature is locked to true"],
  ])("refuses %j", (requested, message) => {
    expect(resolveFeatureGates(requested).errors).toEqual([{ path: PATH, message }]);
  });

  it.each([
    [{ NodeSwap: true }, "Setting GA feature gate NodeSwap=true. It will be removed in a future release."],
    [
      { DevicePlugins: true },
      "Setting feature gate DevicePlugins=true has no effect. Kubernetes has removed this feature gate.",
    ],
  ])("warns of %j", (requested, warning) => {
    expect(resolveFeatureGates(requested)).toMatchObject({ errors: [], warnings: [warning] });
  });

  it.each([
    [
      { KMSv1: true },
      [
        "Setting deprecated feature gate KMSv1=true. It will be removed in a future release.",
        /KMSv1=true is accepted but has no effect$/,
      ],
    ],
    [{ PodDeletionCost: false }, [/^Feature gate PodDeletionCost=false is accepted but has no effect$/]],
    [{ KubeletTracing: true }, [/^Setting GA feature gate KubeletTracing=true/]],
    [{ ContainerStopSignals: false }, [/=false is accepted but has no effect: what it stands for is always there$/]],
    [{ AllAlpha: false }, []],
  ])("tells that nothing depends on %j", (requested, warnings) => {
    const expected = warnings.map((each) => expect.stringMatching(each));
    expect(resolveFeatureGates(requested)).toMatchObject({ errors: [], warnings: expected });
  });
});

it("describes gates as kubelet's help does, sorted and without what is GA", () => {
  const lines = describeFeatureGates();
  expect(lines).toContain("AllBeta=true|false (BETA - default=false)");
  expect(lines).toContain("EventedPLEG=true|false (ALPHA - default=false)");
  expect(lines.some((line) => line.startsWith("NodeSwap="))).toBe(false);
  expect(lines).toEqual([...lines].sort());
});
