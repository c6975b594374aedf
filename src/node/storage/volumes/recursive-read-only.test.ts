import { expect, it } from "vitest";
import type { VolumeMount } from "../../../api/gen/types.ts";
import { computeVolumeMountStatuses, resolveRecursiveReadOnly } from "./recursive-read-only.ts";

const mount = (more: Partial<VolumeMount>): VolumeMount => ({ name: "data", mountPath: "/x", readOnly: true, ...more });
const asked = 'volume "data" requested recursive read-only mode';

// pkg/kubelet/kubelet_pods_test.go, TestResolveRecursiveReadOnly.
it.each<[Partial<VolumeMount>, boolean, boolean | string]>([
  [{}, true, false],
  [{ recursiveReadOnly: "Disabled" }, true, false],
  [{ recursiveReadOnly: "Disabled", readOnly: false }, true, false],
  [{ recursiveReadOnly: "IfPossible" }, true, true],
  [{ recursiveReadOnly: "IfPossible" }, false, false],
  [{ recursiveReadOnly: "IfPossible", mountPropagation: "None" }, true, true],
  [{ recursiveReadOnly: "Enabled" }, true, true],
  [{ recursiveReadOnly: "Enabled" }, false, `${asked}, but it is not supported by the runtime`],
  [{ recursiveReadOnly: "Enabled", readOnly: false }, true, `${asked}, but it is not read-only`],
  [{ recursiveReadOnly: "IfPossible", readOnly: false }, false, `${asked}, but it is not read-only`],
  [
    { recursiveReadOnly: "Enabled", mountPropagation: "HostToContainer" },
    true,
    `${asked}, but it is not compatible with propagation "HostToContainer"`,
  ],
  [{ recursiveReadOnly: "Always" }, true, 'unknown recursive read-only mode "Always"'],
])("%o on a runtime that supports it (%s): %s", (more, isSupported, expected) => {
  const resolved = resolveRecursiveReadOnly(mount(more), isSupported);
  expect(resolved).toEqual(
    typeof expected === "string" ? { ok: false, error: expected } : { ok: true, value: expected },
  );
});

it("a container's status tells each of its mounts, and of the read-only ones how far that goes", () => {
  const volumeMounts = [
    mount({ readOnly: false, subPath: "a" }),
    mount({ name: "ro", mountPath: "/ro" }),
    mount({ name: "rro", mountPath: "/rro", recursiveReadOnly: "IfPossible" }),
    mount({ name: "cannot", mountPath: "/no", recursiveReadOnly: "Enabled", mountPropagation: "Bidirectional" }),
  ];
  const statuses = (isSupported: boolean) => computeVolumeMountStatuses({ name: "main", volumeMounts }, isSupported);
  const readOnly = (name: string, mountPath: string, recursiveReadOnly: string) => ({
    name,
    mountPath,
    readOnly: true,
    recursiveReadOnly,
  });
  expect(statuses(true)).toEqual([
    { name: "data", mountPath: "/x" },
    readOnly("ro", "/ro", "Disabled"),
    readOnly("rro", "/rro", "Enabled"),
    readOnly("cannot", "/no", "Disabled"),
  ]);
  expect(statuses(false)?.[2]).toEqual(readOnly("rro", "/rro", "Disabled"));
  expect(computeVolumeMountStatuses({ name: "main" }, true)).toBeUndefined();
});
