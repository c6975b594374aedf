import { hostname } from "node:os";
import { checkDnsSubdomain } from "../../api/validation/names.ts";
import { CodedError } from "../../base/errors.ts";
import { parseFlags } from "../../config/parse-flags.ts";
import { readRuntimeOptions } from "./runtime-options.ts";

interface NodeNameChoice {
  readonly kubeletArguments: readonly string[];
  /** Gets a line for a person where the node is not called what the machine is. */
  tell(line: string): void;
  /** What the machine is called now. Default: its host name. */
  readonly machine?: string;
}

/**
 * Chooses the name of the node: that of the kubelet's flag `--hostname-override`, or else that of an earlier start of the
 * state directory, or the machine's. A machine may get another name, from DHCP for example. Under that its node would be a
 * new one: pods would stay on a node that never comes back, and local volumes, which are bound to it, out of reach. A machine
 * may be called what no node may be, with an underscore for example: the name is then the nearest that a node may have.
 * Rejects with `invalid-node-name` where the flag names none.
 */
export async function chooseNodeName(
  stateDirectory: string,
  { kubeletArguments, tell, machine = hostname() }: NodeNameChoice,
): Promise<string> {
  const parsed = parseFlags(kubeletArguments);
  // The node agent itself reports flags that cannot be read.
  const override = parsed.ok ? parsed.values.get("hostname-override") : undefined;
  if (typeof override === "string" && override.trim() !== "") return checkNodeName(override);
  const { nodeName: recorded } = await readRuntimeOptions(stateDirectory);
  const own = toNodeName(machine);
  const nearest = nearestNodeName(own);
  if (recorded === undefined && nearest !== own) {
    tell(`the machine is called ${own}, which is no name for a node: its node is ${nearest}`);
  }
  if (recorded === undefined || recorded === nearest) return nearest;
  tell(
    `the machine is called ${own} now, and its node stays ${recorded}: --kubelet-arg=--hostname-override=${nearest} says else`,
  );
  return recorded;
}

function checkNodeName(override: string): string {
  const name = toNodeName(override);
  const [problem] = checkDnsSubdomain(name);
  if (problem !== undefined) throw new CodedError("invalid-node-name", `--hostname-override=${override}: ${problem}`);
  return name;
}

function nearestNodeName(name: string): string {
  if (checkDnsSubdomain(name).length === 0) return name;
  const labels = name.split(".").map((label) => label.replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, ""));
  return labels.filter((label) => label !== "").join(".") || "node";
}

const toNodeName = (name: string) => name.trim().toLowerCase();
