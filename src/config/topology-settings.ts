import type { ConfigurationError } from "./codec.ts";
import { parseGoBoolean } from "./go-boolean.ts";
import type { KubeletConfiguration } from "./kubelet-configuration.ts";

/** How containers are aligned to the machine's NUMA nodes. */
export interface TopologySettings extends TopologyOptions {
  readonly policy: (typeof POLICIES)[number];
  /** Whether each container is aligned for itself, or a pod as a whole. */
  readonly scope: "container" | "pod";
}

interface TopologyOptions {
  /** Where two choices have as many NUMA nodes, the one whose nodes are closer to each other is better. */
  readonly preferClosestNumaNodes: boolean;
  /** A machine with more NUMA nodes is refused, because each set of them is a choice. */
  readonly maxNumaNodes: number;
}

const POLICIES = ["none", "best-effort", "restricted", "single-numa-node"] as const;
const DEFAULT_MAX_NUMA_NODES = 8;

/** Computes the settings. Options that are wrong are errors, in upstream's words, where a policy needs them. */
export function computeTopologySettings(
  configuration: KubeletConfiguration,
  errors: ConfigurationError[],
): TopologySettings {
  const { topologyManagerPolicy, topologyManagerScope, topologyManagerPolicyOptions = {} } = configuration;
  // Another name is an error that the validation of the configuration tells.
  const policy = POLICIES.find((name) => name === topologyManagerPolicy) ?? "none";
  const scope = topologyManagerScope === "pod" ? "pod" : "container";
  const read = readOptions(policy === "none" ? {} : topologyManagerPolicyOptions);
  if (read.ok) return { policy, scope, ...read.options };
  const path = "topologyManagerPolicyOptions";
  errors.push({ path, message: `${path} (--topology-manager-policy-options): ${read.error}` });
  return { policy, scope, preferClosestNumaNodes: false, maxNumaNodes: DEFAULT_MAX_NUMA_NODES };
}

function readOptions(
  options: Readonly<Record<string, string>>,
): { readonly ok: true; readonly options: TopologyOptions } | { readonly ok: false; readonly error: string } {
  let preferClosestNumaNodes = false;
  let maxNumaNodes = DEFAULT_MAX_NUMA_NODES;
  for (const [name, text] of Object.entries(options)) {
    if (name === "prefer-closest-numa-nodes") {
      const value = parseGoBoolean(text);
      if (value === undefined) return { ok: false, error: `bad value for option "${name}": ${JSON.stringify(text)}` };
      preferClosestNumaNodes = value;
    } else if (name === "max-allowable-numa-nodes") {
      if (!/^[+-]?\d{1,9}$/.test(text)) {
        return { ok: false, error: `unable to convert policy option to integer "${name}": ${JSON.stringify(text)}` };
      }
      maxNumaNodes = Number(text);
      if (maxNumaNodes < DEFAULT_MAX_NUMA_NODES) {
        return { ok: false, error: `the minimum value of "${name}" should not be less than ${DEFAULT_MAX_NUMA_NODES}` };
      }
    } else return { ok: false, error: `unknown Topology Manager Policy option: "${name}"` };
  }
  return { ok: true, options: { preferClosestNumaNodes, maxNumaNodes } };
}
