import { containsRange } from "../../api/validation/ip-address.ts";
import type { Log } from "../../base/log.ts";
import { runCommand } from "../processes/run-command.ts";

/** The ranges of a node, each of one family or, separated by a comma, of both. */
interface NodeRanges {
  readonly podCidr: string;
  readonly serviceCidr: string;
  /** The bridge of the pods, whose network is in their range. */
  readonly bridge: string;
}

/** A network that this machine reaches already, in a range that the node takes for its own. */
interface RangeClash {
  readonly flag: "--pod-cidr" | "--service-cidr";
  readonly range: string;
  readonly network: string;
  readonly device: string;
}

/**
 * Tells of networks whose machines will be taken for pods or services, which nothing else would. A wider network, such as
 * all of 10.0.0.0/8, is no mistake: its other addresses stay as they are. Never rejects.
 */
export async function tellRangeClashes(ranges: NodeRanges, log: Log): Promise<void> {
  const tables = await Promise.all(
    ["-4", "-6"].map(async (family) => await runCommand("ip", ["-json", family, "route"]).catch(() => "")),
  );
  for (const clash of tables.flatMap((printed) => findRangeClashes(printed, ranges))) {
    log.error("a network of this machine is in a range of the cluster: choose another one by the flag", { ...clash });
  }
}

/** Finds them in what `ip -json route` prints. */
export function findRangeClashes(printed: string, { podCidr, serviceCidr, bridge }: NodeRanges): RangeClash[] {
  const ranges = [
    ...podCidr.split(",").map((range) => ({ flag: "--pod-cidr", range }) as const),
    ...serviceCidr.split(",").map((range) => ({ flag: "--service-cidr", range }) as const),
  ];
  return readRoutes(printed).flatMap(({ dst: network, dev: device }) => {
    const isOwn = typeof network !== "string" || typeof device !== "string" || device === bridge;
    if (isOwn || network === "default") return [];
    const length = network.includes(":") ? 128 : 32;
    const inner = network.includes("/") ? network : `${network}/${length}`;
    return ranges.filter(({ range }) => containsRange(range, inner)).map((one) => ({ ...one, network, device }));
  });
}

function readRoutes(printed: string): Array<{ dst?: unknown; dev?: unknown }> {
  try {
    const routes: unknown = JSON.parse(printed);
    return Array.isArray(routes) ? routes.filter((route) => typeof route === "object" && route !== null) : [];
  } catch {
    return [];
  }
}
