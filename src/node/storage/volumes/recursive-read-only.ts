import type { Container, VolumeMount, VolumeMountStatus } from "../../../api/gen/types.ts";

/**
 * Whether mounts below a read-only mount are read-only too. Both the mount and the container's status use this answer
 * (pkg/kubelet/kubelet_pods.go, resolveRecursiveReadOnly).
 */
export function resolveRecursiveReadOnly(
  { name, readOnly, mountPropagation = "None", recursiveReadOnly: mode = "Disabled" }: VolumeMount,
  isSupported: boolean,
): { readonly ok: true; readonly value: boolean } | { readonly ok: false; readonly error: string } {
  if (mode === "Disabled") return { ok: true, value: false };
  const fail = (error: string) => ({ ok: false, error }) as const;
  const asked = `volume "${name}" requested recursive read-only mode`;
  if (readOnly !== true) return fail(`${asked}, but it is not read-only`);
  if (mountPropagation !== "None") {
    return fail(`${asked}, but it is not compatible with propagation "${mountPropagation}"`);
  }
  if (mode === "IfPossible") return { ok: true, value: isSupported };
  if (mode !== "Enabled") return fail(`unknown recursive read-only mode "${mode}"`);
  return isSupported ? { ok: true, value: true } : fail(`${asked}, but it is not supported by the runtime`);
}

/** Computes the mounts in a container's status; undefined for none (convertToAPIContainerStatuses). */
export function computeVolumeMountStatuses(
  { volumeMounts = [] }: Container,
  supportsRecursiveReadOnly: boolean,
): VolumeMountStatus[] | undefined {
  if (volumeMounts.length === 0) return undefined;
  return volumeMounts.map((mount) => {
    const { name, mountPath } = mount;
    if (mount.readOnly !== true) return { name, mountPath };
    const resolved = resolveRecursiveReadOnly(mount, supportsRecursiveReadOnly);
    const recursiveReadOnly = resolved.ok && resolved.value ? "Enabled" : "Disabled";
    return { name, mountPath, readOnly: true, recursiveReadOnly };
  });
}
