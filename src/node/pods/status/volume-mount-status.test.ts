import { expect, it } from "vitest";
import type { PodStatus, VolumeMountStatus } from "../../../api/gen/types.ts";
import { makeContainer, makePod, makeRuntimeStatus } from "../../runtime/plan/__fixtures__/runtime-status.ts";
import type { ContainerRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";
import { makeStatusInput } from "./__fixtures__/status-input.ts";
import { computePodStatus } from "./compute-pod-status.ts";

const MOUNTS = [
  { name: "model", mountPath: "/model/" },
  { name: "data", mountPath: "/data" },
];

function compute(container: Partial<ContainerRuntimeStatus>, previous?: PodStatus): PodStatus {
  const pod = makePod({});
  const spec = { ...pod.spec, containers: [{ name: "main", image: "main:1", volumeMounts: MOUNTS }] };
  const runtime = makeRuntimeStatus([makeContainer("main running", container)]);
  return computePodStatus(makeStatusInput({ ...pod, spec }, runtime, previous && { previous }));
}

const mountsOf = ({ containerStatuses }: PodStatus): VolumeMountStatus[] | undefined =>
  containerStatuses?.[0]?.volumeMounts;
const shows = (imageRef: string) => [{ ...MOUNTS[0], volumeStatus: { image: { imageRef } } }, MOUNTS[1]];

it("tells which image a mount shows, for as long as the container is the same", () => {
  const imageMounts = [{ path: "/model", imageRef: "sha256:a" }];
  const first = compute({});
  expect(mountsOf(first)).toEqual(MOUNTS);
  const read = compute({ imageMounts }, first);
  expect(mountsOf(read)).toEqual(shows("sha256:a"));
  const unread = compute({ imageMounts: [] }, read);
  expect(mountsOf(unread)).toEqual(shows("sha256:a"));
  const another = compute({ restartCount: 1, imageMounts: [] }, unread);
  expect(mountsOf(another)).toEqual(MOUNTS);
  expect(
    mountsOf(compute({ restartCount: 1, imageMounts: [{ path: "/model", imageRef: "sha256:b" }] }, another)),
  ).toEqual(shows("sha256:b"));
});
