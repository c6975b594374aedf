import { existsSync } from "node:fs";
import { addressAt } from "../../api/validation/ip-address.ts";
import { assert } from "../../base/assert.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { runCommand } from "../processes/run-command.ts";

interface BridgeOptions {
  bridge: string;
  podCidr: string;
  log: Log;
}

/**
 * Makes the bridge of the pods with the address that the plugin `bridge` would give it, because the API server listens
 * there for pods. Where it cannot be made the plugin makes it with the first pod, and the API server waits for it.
 */
export async function ensureBridge({ bridge, podCidr, log }: BridgeOptions): Promise<void> {
  if (existsSync(`/sys/class/net/${bridge}`)) return;
  try {
    await runCommand("ip", ["link", "add", bridge, "type", "bridge"]);
    for (const subnet of podCidr.split(",")) {
      // Nobody else can have the address of a bridge that was just made, so that it need not be asked for.
      const isIpv6 = subnet.includes(":");
      const address = bridgeAddressOf(subnet).range;
      await runCommand("ip", ["address", "add", address, "dev", bridge, ...(isIpv6 ? ["nodad"] : [])]);
    }
    await runCommand("ip", ["link", "set", bridge, "up"]);
  } catch (error) {
    log.warn("the bridge of the pods is made with the first pod", { bridge, error: messageOf(error) });
  }
}

/** Computes the first address of the pods' first range, which the bridge has: alone, and with the length of the range. */
export function bridgeAddressOf(podCidr: string): { address: string; range: string } {
  const [first = ""] = podCidr.split(",");
  const address = addressAt(first, 1n);
  assert(address !== undefined, `${podCidr} was read as a range`);
  return { address, range: `${address}/${first.split("/")[1]}` };
}
