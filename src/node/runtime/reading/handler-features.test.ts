import { expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { createHandlerFeatures } from "./handler-features.ts";

const runtime = () => ({
  name: "containerd",
  version: "2.1.0",
  handlers: [
    { name: "", features: { recursiveReadOnlyMounts: true, userNamespaces: false } },
    { name: "kata", features: { recursiveReadOnlyMounts: false, userNamespaces: true } },
  ],
  features: { supplementalGroupsPolicy: true, userNamespacesHostNetwork: false, mountOptions: false },
});
const pod = (runtimeClassName?: string): Pod => ({
  spec: { containers: [], ...(runtimeClassName !== undefined && { runtimeClassName }) },
});

it("tells what a handler can do, and nothing of one that the runtime does not have", () => {
  const features = createHandlerFeatures({ health: { runtime }, classes: undefined });
  expect(["", "kata", "none"].map(features.supportsUserNamespaces)).toEqual([false, true, false]);
  expect(["", "kata", "none"].map(features.supportsRecursiveReadOnly)).toEqual([true, false, false]);
  expect(features.supportsSupplementalGroupsPolicy()).toBe(true);
});

it("knows the handler of a pod without a class, and of others by the runtime classes", () => {
  const alone = createHandlerFeatures({ health: { runtime }, classes: undefined });
  expect([pod(), pod("plain")].map(alone.supportsRecursiveReadOnlyOf)).toEqual([true, false]);
  const classes = new Map([["plain", ""]]);
  const knownHandlerOf = ({ spec }: Pod) => classes.get(spec?.runtimeClassName ?? "");
  const joined = createHandlerFeatures({ health: { runtime }, classes: { knownHandlerOf } });
  expect([pod("plain"), pod("unheard")].map(joined.supportsRecursiveReadOnlyOf)).toEqual([true, false]);
});
