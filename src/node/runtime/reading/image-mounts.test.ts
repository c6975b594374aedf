import { expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import { silentLog } from "../../../base/log.ts";
import { ImageSpec, ImageStatusResponse, Mount } from "../../../cri/gen/cri-v1.ts";
import type { Cri } from "../../../cri/port.ts";
import { createFakeNode, NEVER, STUBBORN } from "./__fixtures__/fake-node.ts";
import { mountPathOf, readImageMounts } from "./image-mounts.ts";
import { readPodRuntimeStatus } from "./read-pods.ts";

const mountOf = (containerPath: string, image?: string) =>
  Mount.fromPartial({ containerPath, ...(image !== undefined && { image: ImageSpec.fromPartial({ image }) }) });

/** An image service that knows these images, and what is logged of its failures. */
function imagesWith(ids: Readonly<Record<string, string | Error>>) {
  const logged: Array<readonly [string, unknown]> = [];
  const images: Pick<Cri["images"], "imageStatus"> = {
    async imageStatus({ image }) {
      const id = ids[image?.image ?? ""];
      if (id instanceof Error) throw id;
      return ImageStatusResponse.fromPartial(id === undefined ? {} : { image: { id } });
    },
  };
  const log = { ...silentLog, error: (message: string, fields: unknown) => void logged.push([message, fields]) };
  return { deps: { images, log }, logged };
}

it("reads the images among a container's mounts, and leaves out what cannot be read or told", async () => {
  const { deps, logged } = imagesWith({
    model: "sha256:model",
    broken: new Error("no such luck"),
    long: "x".repeat(257),
  });
  const mounts = [
    mountOf("/data"),
    mountOf("/empty", ""),
    mountOf("/models//small/", "model"),
    mountOf("/broken", "broken"),
    mountOf("/gone", "gone"),
    mountOf("/long", "long"),
  ];
  const read = await readImageMounts(deps, { id: "c", mounts }, NEVER);
  expect(read).toEqual([{ path: "/models/small", imageRef: "sha256:model" }]);
  expect(logged).toEqual([
    ["error getting image volume digest", { container: "c", path: "/broken", error: "no such luck" }],
  ]);
});

it("is given up with the reading", async () => {
  const giving = new AbortController();
  giving.abort();
  const { cri } = createFakeNode();
  const deps = { images: cri.images, log: silentLog };
  const reading = readImageMounts(deps, { id: "c", mounts: [mountOf("/m", "model")] }, giving.signal);
  await expect(reading).rejects.toThrow("aborted");
});

it("asks for 64 images of a container at most", async () => {
  const { deps } = imagesWith({ model: "m" });
  const mounts = Array.from({ length: 100 }, (_, place) => mountOf(`/${place}`, "model"));
  expect(await readImageMounts(deps, { id: "c", mounts }, NEVER)).toHaveLength(64);
});

it.each([
  ["/a", "/a"],
  ["/a/", "/a"],
  ["//a///b", "/a/b"],
  ["a", "/a"],
  ["/", "/"],
])("%s is %s", (path, expected) => expect(mountPathOf(path)).toBe(expected));

it("is part of a pod's reading where it is asked for", async () => {
  const { cri, host, makePod: run } = createFakeNode();
  const pod: Pod = { metadata: { uid: "a", name: "pod-a", namespace: "default" } };
  await run(pod, { main: { command: STUBBORN } });
  const deps = { runtime: cri.runtime, host };
  const { deps: imageMounts } = imagesWith({});
  const plain = await readPodRuntimeStatus(deps, podReference(pod), NEVER);
  expect(plain.containers[0]?.imageMounts).toBeUndefined();
  const read = await readPodRuntimeStatus({ ...deps, imageMounts }, podReference(pod), NEVER);
  expect(read.containers[0]?.imageMounts).toEqual([]);
});
