import { createHash } from "node:crypto";
import type { Pod } from "../../../api/gen/types.ts";
import { podUid } from "../../../api/pods.ts";
import { indexObjects, listObjectKeys, type ManifestObject } from "../../cluster/refs/manifest-objects.ts";
import type { SourcePod } from "./source-snapshot.ts";
import { canonicalJson, withStaticPodUid } from "./static-pod.ts";

/** The annotation of a static pod that is to be made anew when what it names beside itself changes. */
const RESTART_ANNOTATION = "nodelet/restart-on-change";

/** What manifests hold together. */
interface ManifestsRead {
  readonly pods: readonly SourcePod[];
  readonly objects: readonly ManifestObject[];
  /** Some manifest was never read, so that an absent object may be in it. */
  readonly isPartial: boolean;
}

/**
 * Makes a function that gives pods which ask for it a UID of the content of the objects that they name: with other
 * content it is another pod, and the same pod over a restart of the agent. An object that is gone counts as it was last.
 * A pod whose object may be in a manifest that was never read is left out for now: with another UID it would end the
 * one that runs. A pod for which nothing changed is the same value as before.
 */
export function createRestartOnChange(): (read: ManifestsRead) => SourcePod[] {
  let known = new Map<string, string>();
  const made = new WeakMap<Pod, Pod>();

  const remake = ({ pod, ...entry }: SourcePod, keys: readonly string[]): SourcePod => {
    const digests = keys.map((key) => `${key}=${known.get(key) ?? ""}`).toSorted();
    const uid = createHash("md5")
      .update(`${podUid(pod)}\n${digests.join("\n")}`)
      .digest("hex");
    const before = made.get(pod);
    const remade = before !== undefined && podUid(before) === uid ? before : withStaticPodUid(pod, uid);
    made.set(pod, remade);
    return { ...entry, pod: remade };
  };

  return ({ pods, objects, isPartial }) => {
    const asked = new Map(pods.map((entry) => [entry, asksForRestart(entry.pod) ? listObjectKeys(entry.pod) : []]));
    const index = indexObjects(objects);
    const next = new Map<string, string>();
    for (const key of [...asked.values()].flat()) {
      const found = index.get(key);
      const digest = found === undefined ? known.get(key) : digestOf(found);
      if (digest !== undefined) next.set(key, digest);
    }
    known = next;
    return [...asked].flatMap(([entry, keys]) => {
      if (keys.length === 0) return [entry];
      return isPartial && keys.some((key) => !known.has(key)) ? [] : [remake(entry, keys)];
    });
  };
}

/** Returns what is wrong with the annotation; undefined where it is absent, `"true"` or `"false"`. */
export function findRestartProblem({ metadata }: Pod): string | undefined {
  const value = metadata?.annotations?.[RESTART_ANNOTATION];
  if (value === undefined || value === "true" || value === "false") return undefined;
  return `metadata.annotations[${RESTART_ANNOTATION}]: ${JSON.stringify(value)} asks for nothing: write "true" or "false"`;
}

function asksForRestart({ metadata }: Pod): boolean {
  return metadata?.annotations?.[RESTART_ANNOTATION] === "true";
}

function digestOf({ kind, object }: ManifestObject): string {
  const { data = {} } = object;
  const content = kind === "Secret" ? { data, type: object.type } : { data, binaryData: object.binaryData ?? {} };
  return createHash("sha256").update(canonicalJson(content)).digest("hex");
}
