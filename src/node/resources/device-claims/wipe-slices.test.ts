import { expect, it } from "vitest";
import { ApiError } from "../../../api/api-error.ts";
import type { ResourceSlice } from "../../../api/gen/types.ts";
import { SECOND } from "../../../base/clock.ts";
import { silentLog } from "../../../base/log.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import type { KubeClient } from "../../../kube/port.ts";
import { createSliceWipe } from "./wipe-slices.ts";

const slice = (name: string, nodeName: string): ResourceSlice => ({
  metadata: { name, uid: `uid-of-${name}` },
  spec: { driver: "gpu.example.com", nodeName, pool: { name: "p", generation: 1, resourceSliceCount: 1 } },
});

function createRig(answer: () => ResourceSlice[]) {
  const clock = createFakeClock();
  const asked: Array<string | undefined> = [];
  const deleted: string[] = [];
  const client: Pick<KubeClient, "list" | "delete"> = {
    async list(resource, { fieldSelector } = {}) {
      asked.push(fieldSelector);
      return { items: answer().map((item) => resource.read(item)), resourceVersion: "1" };
    },
    async delete(_resource, { name }, { uid } = {}) {
      deleted.push(`${name} ${uid}`);
      if (name === "gone") throw new ApiError("NotFound", "gone");
    },
  };
  return { clock, asked, deleted, wipe: createSliceWipe({ client, clock, log: silentLog }, "node-1") };
}

const { signal } = new AbortController();

it("deletes the slices of the driver on this node, by their UIDs, and no others", async () => {
  const { asked, deleted, wipe } = createRig(() => [
    slice("gone", "node-1"),
    slice("a", "node-1"),
    slice("b", "node-2"),
  ]);
  await wipe("gpu.example.com", signal);
  await wipe(undefined, signal);
  expect(asked).toEqual(["spec.nodeName=node-1,spec.driver=gpu.example.com", "spec.nodeName=node-1"]);
  expect(deleted.slice(0, 2)).toEqual(["gone uid-of-gone", "a uid-of-a"]);
});

it("tries again until the API server answers, ever more seldom", async () => {
  let failures = 3;
  const { clock, asked, deleted, wipe } = createRig(() => {
    if (failures-- > 0) throw new ApiError("Unauthorized", "not yet");
    return [slice("a", "node-1")];
  });
  const done = wipe(undefined, signal);
  await clock.advance(7 * SECOND - 1);
  expect(asked).toHaveLength(3);
  await clock.advance(1);
  await done;
  expect(deleted).toEqual(["a uid-of-a"]);
});

it("has nothing to do where the API server has no slices", async () => {
  const { asked, wipe } = createRig(() => {
    throw new ApiError("NotFound", "the server could not find the requested resource");
  });
  await wipe(undefined, signal);
  expect(asked).toHaveLength(1);
});
