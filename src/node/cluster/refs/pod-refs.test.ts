import { expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { podUid } from "../../../api/pods.ts";
import { CONFIG_MIRROR_ANNOTATION } from "../../../api/well-known.ts";
import { createPodRefs } from "./pod-refs.ts";

function createRig() {
  const told: string[] = [];
  const note = (what: string) => (pod: Pod | string) =>
    void told.push(`${what} ${typeof pod === "string" ? pod : podUid(pod)}`);
  const tell = {
    object: (_uids: readonly string[]) => {},
    token: (_uid: string) => {},
    certificate: (_uid: string) => {},
  };
  const refs = createPodRefs({
    objects: {
      registerPod: note("objects +"),
      unregisterPod: note("objects -"),
      podUids: () => ["1"],
      subscribe(listener) {
        tell.object = (podUids) => listener({ kind: "Secret", namespace: "a", name: "b", podUids });
        return () => {};
      },
    },
    tokens: {
      forgetPod: note("tokens -"),
      podUids: () => ["2"],
      subscribe(listener) {
        tell.token = listener;
        return () => {};
      },
    },
    trustBundles: { registerPod: note("bundles +"), unregisterPod: note("bundles -"), subscribe: () => () => {} },
    certificates: {
      registerPod: note("certificates +"),
      unregisterPod: note("certificates -"),
      subscribe(listener) {
        tell.certificate = listener;
        return () => {};
      },
    },
    onChanged: note("changed"),
  });
  return { refs, told, tell };
}

const pod: Pod = { metadata: { uid: "1" }, spec: { containers: [] } };

it("keeps what a pod names from when it is shown until it is forgotten", () => {
  const { refs, told } = createRig();
  refs.show(pod);
  refs.forget("1");
  expect(told).toEqual(
    [...["objects +", "bundles +", "certificates +"], ...["objects -", "bundles -", "certificates -", "tokens -"]].map(
      (what) => `${what} 1`,
    ),
  );
  expect(refs.podUids()).toEqual(["1", "2"]);
});

it("keeps nothing for a mirror", () => {
  const { refs, told } = createRig();
  refs.show({ ...pod, metadata: { uid: "m", annotations: { [CONFIG_MIRROR_ANNOTATION]: "hash" } } });
  expect(told).toEqual([]);
});

it("tells of each pod that names what has changed", () => {
  const { told, tell } = createRig();
  tell.object(["1", "3"]);
  tell.token("2");
  tell.certificate("4");
  expect(told).toEqual(["changed 1", "changed 3", "changed 2", "changed 4"]);
});
