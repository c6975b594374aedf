import { describe, expect, it } from "vitest";
import type { ConfigurationError } from "./codec.ts";
import { composeConfiguration } from "./compose-configuration.ts";
import { computeTopologySettings } from "./topology-settings.ts";

function settingsOf(policy: string, options: Record<string, string>) {
  const { configuration } = composeConfiguration({ dropIns: [], flags: new Map() });
  const errors: ConfigurationError[] = [];
  const chosen = {
    ...configuration,
    topologyManagerPolicy: policy,
    topologyManagerScope: "pod",
    topologyManagerPolicyOptions: options,
  };
  return { settings: computeTopologySettings(chosen, errors), errors: errors.map(({ message }) => message) };
}

describe("the settings of alignment", () => {
  it("are those of the configuration", () => {
    const options = { "prefer-closest-numa-nodes": "T", "max-allowable-numa-nodes": "16" };
    expect(settingsOf("restricted", options)).toEqual({
      settings: { policy: "restricted", scope: "pod", preferClosestNumaNodes: true, maxNumaNodes: 16 },
      errors: [],
    });
  });

  it.each([
    [{ "prefer-closest-numa-nodes": "yes" }, 'bad value for option "prefer-closest-numa-nodes": "yes"'],
    [{ "max-allowable-numa-nodes": "x" }, 'unable to convert policy option to integer "max-allowable-numa-nodes": "x"'],
    [{ "max-allowable-numa-nodes": "7" }, 'the minimum value of "max-allowable-numa-nodes" should not be less than 8'],
    [{ other: "1" }, 'unknown Topology Manager Policy option: "other"'],
  ])("are refused with %j where a policy needs them", (options, problem) => {
    const named = `topologyManagerPolicyOptions (--topology-manager-policy-options): ${problem}`;
    expect(settingsOf("best-effort", options).errors).toEqual([named]);
    expect(settingsOf("none", options).errors).toEqual([]);
  });
});
