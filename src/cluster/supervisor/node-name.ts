import { hostname } from "node:os";
import { parseFlags } from "../../config/parse-flags.ts";

/**
 * Returns the name that a node agent with these flags will take. Its certificate must carry this name. The node agent
 * itself reports flags that cannot be read.
 */
export function nodeNameOf(kubeletArguments: readonly string[]): string {
  const parsed = parseFlags(kubeletArguments);
  const override = parsed.ok ? parsed.values.get("hostname-override") : undefined;
  return (typeof override === "string" && override.trim() !== "" ? override : hostname()).trim().toLowerCase();
}
