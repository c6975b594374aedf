import type { Subresource } from "../../ports/resource-kind.ts";

/** `scale`: how many pods there should be, in the same words for every kind that has it. Its handler is the registry's. */
export const SCALE: Subresource = {
  name: "scale",
  group: "autoscaling",
  version: "v1",
  kind: "Scale",
  verbs: ["get", "patch", "update"],
};
