import type { Container, VolumeMount, VolumeMountStatus } from "../../../api/gen/types.ts";

/**
 * Whether what is mounted beneath a read-only mount is read-only too: the same for a mount and for what its container's
 * status says of it (pkg/kubelet/kubelet_pods.go, resolveRecursiveReadOnly).
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

/** What a container's status says of its mounts; undefined for none (convertToAPIContainerStatuses). */
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
