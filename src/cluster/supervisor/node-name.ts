import { hostname } from "node:os";
import { parseFlags } from "../../config/parse-flags.ts";

/**
 * The name that a node agent with these flags will take: its certificate must carry it. Flags that cannot be read are the
 * node agent's to complain of.
 */
export function nodeNameOf(kubeletArguments: readonly string[]): string {
  const parsed = parseFlags(kubeletArguments);
  const override = parsed.ok ? parsed.values.get("hostname-override") : undefined;
  return (typeof override === "string" && override.trim() !== "" ? override : hostname()).trim().toLowerCase();
}
