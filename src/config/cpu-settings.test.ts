import { describe, expect, it } from "vitest";
import type { ConfigurationError } from "./codec.ts";
import { composeConfiguration } from "./compose-configuration.ts";
import { computeCpuSettings } from "./cpu-settings.ts";

function settingsOf(policy: string, options: Record<string, string>) {
  const { configuration, featureGates } = composeConfiguration({ dropIns: [], flags: new Map() });
  const errors: ConfigurationError[] = [];
  const chosen = { ...configuration, cpuManagerPolicy: policy, cpuManagerPolicyOptions: options };
  const settings = computeCpuSettings(chosen, featureGates, errors);
  return { settings, errors: errors.map(({ message }) => message) };
}

describe("the settings of CPUs", () => {
  it("are those of the configuration", () => {
    const options = { "full-pcpus-only": "true", "strict-cpu-reservation": "1" };
    expect(settingsOf("static", options)).toEqual({
      settings: {
        policy: "static",
        reconcileMs: 10_000,
        liftsQuota: true,
        wholeCoresOnly: true,
        isReservationStrict: true,
      },
      errors: [],
    });
  });

  it.each([
    ["static", { "full-pcpus-only": "yes" }, 'bad value for option "full-pcpus-only": "yes"'],
    ["static", { "align-by-socket": "true" }, 'option "align-by-socket" is not supported by nodelet: leave it out'],
    ["static", { other: "1" }, 'unknown CPU Manager Policy option: "other"'],
    ["none", { "full-pcpus-only": "true" }, "None policy: received unsupported options=full-pcpus-only"],
  ])("are refused with the policy %s and %j", (policy, options, problem) => {
    const named = `cpuManagerPolicyOptions (--cpu-manager-policy-options): ${problem}`;
    expect(settingsOf(policy, options).errors).toEqual([named]);
  });
});
