import { describe, expect, it } from "vitest";
import { notFoundError } from "../../../api/api-error.ts";
import type { Pod, Secret } from "../../../api/gen/types.ts";
import { AbortedError } from "../../../base/abort.ts";
import { silentLog } from "../../../base/log.ts";
import { createPullSecrets } from "./pull-secrets.ts";

const pod = (...names: string[]): Pod => ({
  metadata: { namespace: "default", name: "web", uid: "1" },
  spec: { containers: [], imagePullSecrets: [...names.map((name) => ({ name })), {}, { name: "" }] },
});
const secretOf = (name: string): Secret => ({ metadata: { namespace: "default", name } });
const pullSecrets = (secret: (namespace: string, name: string) => Promise<Secret>) =>
  createPullSecrets({ refs: { secret }, log: silentLog });
const readable = pullSecrets(async (namespace, name) => {
  if (namespace !== "default" || name.startsWith("missing"))
    throw notFoundError({ group: "", resource: "secret" }, name);
  // The later secrets arrive earlier.
  for (let turns = name === "a" ? 9 : 1; turns > 0; turns--) await Promise.resolve();
  return secretOf(name);
});
const signal = new AbortController().signal;

describe("pull secrets", () => {
  it("are those that the pod names, in its order", async () => {
    expect(await readable.of(pod("a", "b"), signal)).toEqual({
      secrets: [secretOf("a"), secretOf("b")],
      missing: [],
      warning: undefined,
    });
  });

  it("are none of a pod that names none", async () => {
    expect(await readable.of({}, signal)).toEqual({ secrets: [], missing: [], warning: undefined });
  });

  it("go without those that cannot be had, with upstream's warning", async () => {
    expect(await readable.of(pod("missing-1", "a", "missing-2"), signal)).toEqual({
      secrets: [secretOf("a")],
      missing: ["missing-1", "missing-2"],
      warning: {
        type: "Warning",
        reason: "FailedToRetrieveImagePullSecret",
        message:
          "Unable to retrieve some image pull secrets (missing-1, missing-2); attempting to pull the image may not succeed.",
      },
    });
  });

  it("end with the signal", async () => {
    const aborting = pullSecrets(async () => await Promise.reject(new AbortedError()));
    await expect(aborting.of(pod("a", "b"), signal)).rejects.toThrow(AbortedError);
  });
});
