import { describe, expect, it } from "vitest";
import type { ConfigurationError } from "./codec.ts";
import { composeConfiguration } from "./compose-configuration.ts";
import { computeCpuSettings } from "./cpu-settings.ts";
import { resolveFeatureGates } from "./feature-gates.ts";

interface Case {
  readonly policy?: string;
  readonly gates?: Readonly<Record<string, boolean>>;
  readonly topologyManagerPolicy?: string;
}

function settingsOf(
  options: Record<string, string>,
  { policy = "static", gates = {}, topologyManagerPolicy }: Case = {},
) {
  const { configuration } = composeConfiguration({ dropIns: [], flags: new Map() });
  const { gates: featureGates } = resolveFeatureGates(gates);
  const errors: ConfigurationError[] = [];
  const chosen = { ...configuration, cpuManagerPolicy: policy, cpuManagerPolicyOptions: options };
  if (topologyManagerPolicy !== undefined) chosen.topologyManagerPolicy = topologyManagerPolicy;
  const settings = computeCpuSettings(chosen, featureGates, errors);
  return { settings, errors: errors.map(({ message }) => message) };
}

const ALPHA: Case = { gates: { CPUManagerPolicyAlphaOptions: true } };

describe("the settings of CPUs", () => {
  it("are those of the configuration", () => {
    const options = { "full-pcpus-only": "true", "strict-cpu-reservation": "1", "distribute-cpus-across-numa": "T" };
    expect(settingsOf(options)).toEqual({
      settings: {
        policy: "static",
        reconcileMs: 10_000,
        liftsQuota: true,
        wholeCoresOnly: true,
        isReservationStrict: true,
        dividesAcrossNumaNodes: true,
        alignsToSockets: false,
        spreadsAcrossCores: false,
        prefersOneCache: false,
      },
      errors: [],
    });
  });

  it.each<[string, "alignsToSockets" | "spreadsAcrossCores" | "prefersOneCache"]>([
    ["align-by-socket", "alignsToSockets"],
    ["distribute-cpus-across-cores", "spreadsAcrossCores"],
    ["prefer-align-cpus-by-uncorecache", "prefersOneCache"],
  ])("have the option %s where its stage is let in", (name, setting) => {
    const { settings, errors } = settingsOf({ [name]: "true" }, ALPHA);
    expect([settings[setting], errors]).toEqual([true, []]);
    expect(settingsOf({ [name]: "false" }, ALPHA).settings[setting]).toBe(false);
  });

  const ALPHA_CLOSED = "CPU Manager Policy Alpha-level Options not enabled (feature gate CPUManagerPolicyAlphaOptions)";
  const BETA_CLOSED = "CPU Manager Policy Beta-level Options not enabled (feature gate CPUManagerPolicyBetaOptions)";
  it.each<[Record<string, string>, Case, string]>([
    [{ "full-pcpus-only": "yes" }, {}, 'bad value for option "full-pcpus-only": "yes"'],
    [{ "align-by-socket": "true" }, {}, `${ALPHA_CLOSED}, but option "align-by-socket" provided`],
    [
      { "prefer-align-cpus-by-uncorecache": "true" },
      { gates: { CPUManagerPolicyBetaOptions: false } },
      `${BETA_CLOSED}, but option "prefer-align-cpus-by-uncorecache" provided`,
    ],
    [{ other: "1" }, {}, 'unknown CPU Manager Policy option: "other"'],
    [{ toString: "1" }, {}, 'unknown CPU Manager Policy option: "toString"'],
    [
      { "full-pcpus-only": "true", "distribute-cpus-across-cores": "true" },
      ALPHA,
      "static policy options full-pcpus-only and distribute-cpus-across-cores can not be used at the same time",
    ],
    [
      { "prefer-align-cpus-by-uncorecache": "true", "distribute-cpus-across-numa": "true" },
      ALPHA,
      "static policy options prefer-align-cpus-by-uncorecache and distribute-cpus-across-numa can not be used at the same time",
    ],
    [
      { "align-by-socket": "true" },
      { ...ALPHA, topologyManagerPolicy: "single-numa-node" },
      'option "align-by-socket" is incompatible with topologyManagerPolicy single-numa-node: leave one of them out',
    ],
    [{ "full-pcpus-only": "true" }, { policy: "none" }, "None policy: received unsupported options=full-pcpus-only"],
  ])("are refused: %j, %j", (options, chosen, problem) => {
    const named = `cpuManagerPolicyOptions (--cpu-manager-policy-options): ${problem}`;
    expect(settingsOf(options, chosen).errors).toEqual([named]);
  });
});
