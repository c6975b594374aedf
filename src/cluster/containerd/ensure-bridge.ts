import { existsSync } from "node:fs";
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
    await runCommand("ip", ["address", "add", bridgeAddressOf(podCidr).range, "dev", bridge]);
    await runCommand("ip", ["link", "set", bridge, "up"]);
  } catch (error) {
    log.warn("the bridge of the pods is made with the first pod", { bridge, error: messageOf(error) });
  }
}

/** Computes the first address of the pods' range, which the bridge has: alone, and with the length of the range. */
export function bridgeAddressOf(podCidr: string): { address: string; range: string } {
  const [network = "", bits = ""] = podCidr.split("/");
  const number = network.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const first = number - (number % 2 ** (32 - Number(bits))) + 1;
  const address = [24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256).join(".");
  return { address, range: `${address}/${bits}` };
}
