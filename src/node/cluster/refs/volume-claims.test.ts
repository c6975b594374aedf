import { beforeEach, describe, expect, it } from "vitest";
import { ApiError, notFoundError } from "../../../api/api-error.ts";
import type { PersistentVolumeClaimStatus } from "../../../api/gen/types.ts";
import type { KubeResource } from "../../../api/kube-resource.ts";
import { applyMergePatch } from "../../../api/patch/merge-patch.ts";
import type { KubePatch, NamespacedName, SubresourceOptions } from "../../../kube/port.ts";
import { createVolumeClaims, type VolumeClaims } from "./volume-claims.ts";

const signal = new AbortController().signal;
let calls: string[];
let answer: () => unknown;
let patches: Array<{ patch: KubePatch; options: SubresourceOptions | undefined }>;
let claims: VolumeClaims;

const respond = async <T>(verb: string, resource: KubeResource<T>, { namespace, name }: NamespacedName): Promise<T> => {
  calls.push(`${verb} ${resource.plural} ${namespace}/${name}`);
  await Promise.resolve();
  return resource.read(answer());
};

beforeEach(() => {
  calls = [];
  patches = [];
  answer = () => ({ metadata: { name: "data" } });
  claims = createVolumeClaims({
    client: {
      get: async (resource, name) => await respond("get", resource, name),
      create: async (resource, object) => {
        const { metadata = {} } = Object(object);
        return await respond("create", resource, { namespace: "", name: metadata.name });
      },
      patch: async (resource, name, patch, options) => {
        patches.push({ patch, options });
        return await respond("patch", resource, name);
      },
      delete: async (resource, name) => void (await respond("delete", resource, name)),
    },
  });
});

it("reads claims and volumes one by one, each time anew", async () => {
  for (let round = 0; round < 2; round++) await claims.claim("shop", "data", signal);
  await claims.volume("pv-1", signal);
  expect(calls).toEqual([
    "get persistentvolumeclaims shop/data",
    "get persistentvolumeclaims shop/data",
    "get persistentvolumes /pv-1",
  ]);
});

it("reads once what several ask for at the same time", async () => {
  await Promise.all(Array.from({ length: 10 }, async () => claims.claim("shop", "data", signal)));
  await Promise.all(Array.from({ length: 10 }, async () => claims.volume("pv-1", signal)));
  expect(calls).toHaveLength(2);
});

it("passes on what the server says, but not what it could not say", async () => {
  answer = () => {
    throw notFoundError({ group: "", resource: "persistentvolumeclaims" }, "data");
  };
  await expect(claims.claim("shop", "data", signal)).rejects.toThrow('persistentvolumeclaims "data" not found');
  answer = () => JSON.parse("<html>secret</html>");
  await expect(claims.claim("shop", "data", signal)).rejects.toThrow(/^the answer is not valid JSON$/);
});

describe("the status of a claim", () => {
  const cases: Array<[string, PersistentVolumeClaimStatus, PersistentVolumeClaimStatus, object]> = [
    [
      "that has grown",
      { capacity: { storage: "1Gi" } },
      { capacity: { storage: "2Gi" } },
      { capacity: { storage: "2Gi" } },
    ],
    ["that is the same", { phase: "Bound" }, { phase: "Bound" }, {}],
    [
      "without a part that it had",
      { phase: "Bound", allocatedResourceStatuses: { storage: "NodeResizePending", other: "x" } },
      { phase: "Bound", allocatedResourceStatuses: { other: "x" } },
      { allocatedResourceStatuses: { storage: null } },
    ],
    [
      "without one of its conditions",
      {
        conditions: [
          { type: "A", status: "True" },
          { type: "B", status: "True" },
        ],
      },
      { conditions: [{ type: "A", status: "True" }] },
      { conditions: [{ type: "A", status: "True" }] },
    ],
  ];
  it.each(cases)("%s is patched", async (_case, before, after, status) => {
    const metadata = { namespace: "shop", name: "data", uid: "uid-1", resourceVersion: "5" };
    await claims.updateClaimStatus({ claim: { metadata, status: before }, status: after }, signal);
    expect(calls).toEqual(["patch persistentvolumeclaims shop/data"]);
    const body = { metadata: { uid: "uid-1", resourceVersion: "5" }, status };
    expect(patches).toMatchObject([{ patch: { type: "merge", body }, options: { subresource: "status" } }]);
    expect(applyMergePatch({ status: before }, { status })).toEqual({ status: after });
  });
});

describe("an attachment", () => {
  const fail = (reason: "NotFound" | "AlreadyExists" | "Forbidden") => {
    answer = () => {
      throw new ApiError(reason, reason);
    };
  };
  const attachment = { metadata: { name: "csi-1" }, spec: { attacher: "d", nodeName: "n", source: {} } };

  it("that is not there is undefined, and gone", async () => {
    fail("NotFound");
    expect(await claims.attachments.get("csi-1", signal)).toBeUndefined();
    await claims.attachments.delete("csi-1", signal);
    await expect(claims.attachments.create(attachment, signal)).rejects.toThrow("NotFound");
  });

  it("that is there already is left alone", async () => {
    fail("AlreadyExists");
    await claims.attachments.create(attachment, signal);
    expect(calls).toEqual(["create volumeattachments /csi-1"]);
  });

  it("that may not be read is no secret", async () => {
    fail("Forbidden");
    await expect(claims.attachments.get("csi-1", signal)).rejects.toThrow("Forbidden");
    await expect(claims.attachments.delete("csi-1", signal)).rejects.toThrow("Forbidden");
  });
});
