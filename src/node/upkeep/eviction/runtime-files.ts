import { isRecord } from "../../../api/object.ts";
import type { ContainerStatusResponse } from "../../../cri/gen/cri-v1.ts";

/** The files that a runtime makes for a pod and mounts into its containers. The containers may write them. */
const RUNTIME_FILES: ReadonlySet<unknown> = new Set(["/etc/hostname", "/etc/resolv.conf"]);

/**
 * Finds these files on the host in the verbose status of a container, in which containerd and CRI-O show the
 * container's OCI configuration. The result is empty for a runtime that shows something else. Files that the pod itself
 * mounts at these paths are left out.
 */
export function findRuntimeFiles({ info, status }: ContainerStatusResponse): string[] {
  const own = new Set(status?.mounts.map(({ containerPath }) => containerPath));
  const spec = parseRecord(info["info"])?.["runtimeSpec"];
  const mounts = isRecord(spec) && Array.isArray(spec["mounts"]) ? spec["mounts"] : [];
  return mounts.filter(isRecord).flatMap(({ destination, source }) => {
    const isFound = typeof source === "string" && source.startsWith("/") && RUNTIME_FILES.has(destination);
    return isFound && !own.has(String(destination)) ? [source] : [];
  });
}

function parseRecord(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
