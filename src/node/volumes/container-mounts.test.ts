import { expect, it } from "vitest";
import { MountPropagation } from "../../cri/gen/cri-v1.ts";
import { computeVolumeMounts } from "./container-mounts.ts";

const volumes = new Map([["data", "/host/data"]]);
const mountOf = (mount: { mountPath: string; readOnly?: boolean; mountPropagation?: string }) =>
  computeVolumeMounts({ name: "main", volumeMounts: [{ name: "data", ...mount }] }, volumes)[0];

it("gives each volume mount its host path, in order", () => {
  const volumeMounts = [
    { name: "logs", mountPath: "/logs" },
    { name: "data", mountPath: "/data" },
  ];
  const mounts = computeVolumeMounts({ name: "main", volumeMounts }, new Map([...volumes, ["logs", "/host/logs"]]));
  expect(mounts.map(({ hostPath, containerPath }) => `${hostPath} ${containerPath}`)).toEqual([
    "/host/logs /logs",
    "/host/data /data",
  ]);
  expect(computeVolumeMounts({ name: "main" }, volumes)).toEqual([]);
});

it.each([
  [undefined, MountPropagation.PROPAGATION_PRIVATE],
  ["None", MountPropagation.PROPAGATION_PRIVATE],
  ["HostToContainer", MountPropagation.PROPAGATION_HOST_TO_CONTAINER],
  ["Bidirectional", MountPropagation.PROPAGATION_BIDIRECTIONAL],
])("propagation %s", (mountPropagation, propagation) => {
  const mount = mountOf({ mountPath: "/data", ...(mountPropagation === undefined ? {} : { mountPropagation }) });
  expect(mount?.propagation).toBe(propagation);
});

it("is read-only when asked to be, and absolute in the container", () => {
  expect(mountOf({ mountPath: "data" })).toMatchObject({ containerPath: "/data", readonly: false });
  expect(mountOf({ mountPath: "/data", readOnly: true })).toMatchObject({ readonly: true });
});

it.each([
  ["kubernetes.io~secret", true],
  ["kubernetes.io~configmap", true],
  ["kubernetes.io~projected", true],
  ["kubernetes.io~downward-api", true],
  ["kubernetes.io~empty-dir", false],
])("a volume of %s that the pod would write to is read-only: %s", (plugin, readonly) => {
  const paths = new Map([["data", `/var/lib/kubelet/pods/uid-1/volumes/${plugin}/data`]]);
  const container = { name: "main", volumeMounts: [{ name: "data", mountPath: "/data", readOnly: false }] };
  expect(computeVolumeMounts(container, paths)[0]?.readonly).toBe(readonly);
});

it("does not start a container without a volume that it names", () => {
  const container = { name: "main", volumeMounts: [{ name: "gone", mountPath: "/x" }] };
  expect(() => computeVolumeMounts(container, volumes)).toThrow(
    'cannot find volume "gone" to mount into container "main"',
  );
});
