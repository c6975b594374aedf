import type { Planned } from "../../storage/volumes/container-mounts.ts";
import type { EnvironmentVariable } from "./environment.ts";
import { expandVariables, MAX_TEXT_BYTES } from "./expansion.ts";

/**
 * Expands a `subPathExpr` with the values of the container's environment. Unlike elsewhere, each variable must exist
 * and not be empty, because otherwise a part of the path would silently be missing (ExpandContainerVolumeMounts,
 * pkg/kubelet/container/helpers.go).
 */
export function expandSubPath(expression: string, environment: readonly EnvironmentVariable[]): Planned<string> {
  const values = new Map(environment.map(({ name, value }) => [name, value]));
  const missing = new Set<string>();
  const value = expandVariables(expression, (name) => {
    const found = values.get(name) ?? "";
    if (found === "") missing.add(name);
    return found;
  });
  if (value === undefined) return { ok: false, error: `it expands to more than ${MAX_TEXT_BYTES} bytes` };
  if (missing.size === 0) return { ok: true, value };
  return { ok: false, error: `missing value for ${[...missing].sort().join(", ")}` };
}
