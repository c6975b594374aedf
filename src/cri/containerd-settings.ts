import { isRecord } from "../api/object.ts";
import type { RuntimeService } from "./port.ts";

/**
 * Reads the settings of containerd's plugin for Kubernetes, as JSON and with its own names. Undefined where another runtime
 * answers: it tells no such settings.
 */
export async function readContainerdSettings(
  runtime: Pick<RuntimeService, "status">,
  options: { readonly signal: AbortSignal; readonly timeoutMs?: number },
): Promise<Record<string, unknown> | undefined> {
  const { info } = await runtime.status({ verbose: true }, options);
  const { config } = info;
  if (config === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(config);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
