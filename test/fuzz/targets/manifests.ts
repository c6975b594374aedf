import { computeQosClass } from "../../../src/api/qos.ts";
import { computePodLimits, computePodRequests } from "../../../src/api/resources.ts";
import { readManifest } from "../../../src/node/pods/sources/read-manifest.ts";
import { promise, type Target } from "../target.ts";
import { POD_WORDS, POD_YAML, YAML_SEEDS, YAML_WORDS } from "./words.ts";

const ORIGIN = { nodeName: "n1", location: "/etc/kubernetes/manifests/a.yaml", source: "file" } as const;

/** Manifests of static pods: read, defaulted, validated, and their resources summed up. */
export const manifestsTarget: Target = {
  name: "manifests",
  runs: 1_600,
  seeds: [POD_YAML, ...YAML_SEEDS],
  words: [...POD_WORDS, ...YAML_WORDS],
  maxBytes: 4 * 1024,
  setUp: async () => ({
    run(input) {
      const { pods, errors, warnings } = readManifest(input, ORIGIN);
      for (const { pod } of pods) {
        computePodRequests(pod);
        computePodLimits(pod);
        computeQosClass(pod);
      }
      promise(
        [...errors, ...warnings].every((line) => line.length > 0),
        "a problem without words",
      );
    },
  }),
};
