import type { Pod } from "../../src/api/gen/types.ts";
import { podFullName, podUid } from "../../src/api/pods.ts";
import type { Clock } from "../../src/base/clock.ts";
import type { FakeFiles } from "../../src/host/fake/fake-files.ts";
import { readManifest } from "../../src/node/pods/sources/read-manifest.ts";
import { gracePeriodMs } from "./pod-script.ts";
import type { WantedPods } from "./wanted-pods.ts";

/**
 * The operator's side: what stands in the manifest directory, and so which pods the node agent has to run. Where that
 * depends on what the agent read before (a broken file, two pods of one name), the pods count as uncertain.
 */
export interface Manifests extends WantedPods {
  write(file: string, pods: readonly Pod[], how?: "in place" | "renamed over"): void;
  /** Not a manifest any more; an agent that read it before keeps its pods. */
  spoil(file: string, text: string): void;
  remove(file: string): void;
  move(from: string, to: string): void;
  files(): string[];
  isSpoilt(file: string): boolean;
  /** What was last written well to the file. */
  written(file: string): readonly Pod[];
  /** UIDs by full name; of each name exactly one is to run. */
  groups(): Map<string, string[]>;
  /** The same with pods of earlier contents, which an agent that read them keeps while their file is broken. */
  groupsWithKept(): Map<string, string[]>;
}

export const MANIFEST_DIRECTORY = "/etc/kubernetes/manifests";
export const NODE_NAME = "node-1";

interface ManifestFile {
  written: readonly Pod[];
  pods: readonly Pod[];
  /** Pods of earlier contents, which an agent may still run. */
  kept: readonly Pod[];
}

export function createManifests({ files, clock }: { files: FakeFiles; clock: Clock }): Manifests {
  const state = new Map<string, ManifestFile>();
  const known = new Map<string, Pod>();
  const wanted = new Map<string, number>();
  const unwanted = new Map<string, number>();
  const uncertain = new Map<string, number>();
  const pathOf = (file: string) => `${MANIFEST_DIRECTORY}/${file}`;

  const decode = (file: string, text: string): Pod[] =>
    readManifest(Buffer.from(text), { source: "file", location: pathOf(file), nodeName: NODE_NAME }).pods.map(
      ({ pod }) => pod,
    );

  const groups = (pods: readonly Pod[]): Map<string, string[]> => {
    const found = new Map<string, string[]>();
    for (const pod of pods) {
      const uids = found.get(podFullName(pod)) ?? [];
      if (!uids.includes(podUid(pod))) found.set(podFullName(pod), [...uids, podUid(pod)]);
    }
    return found;
  };

  const withKept = (): Pod[] => [...state.values()].flatMap(({ pods, kept }) => [...pods, ...kept]);

  const settle = () => {
    const now = clock.monotonic();
    const all = withKept();
    const uids = new Set(all.map(podUid));
    for (const pod of all) {
      known.set(podUid(pod), pod);
      unwanted.delete(podUid(pod));
      if (!wanted.has(podUid(pod))) wanted.set(podUid(pod), now);
    }
    for (const uid of [...wanted.keys()].filter((uid) => !uids.has(uid))) {
      wanted.delete(uid);
      unwanted.set(uid, now);
    }
    const clashing = [...groups(all).values()].filter((group) => group.length > 1).flat();
    const kept = [...state.values()].flatMap((file) => file.kept.map(podUid));
    const doubtful = new Set([...clashing, ...kept]);
    for (const [uid, at] of uncertain)
      if (at === Number.POSITIVE_INFINITY && !doubtful.has(uid)) uncertain.set(uid, now);
    for (const uid of doubtful) uncertain.set(uid, Number.POSITIVE_INFINITY);
  };

  const take = (file: string, text: string, written: readonly Pod[] | undefined) => {
    const before = state.get(file) ?? { written: [], pods: [], kept: [] };
    const pods = decode(file, text);
    const isSame = (pod: Pod) => pods.some((other) => podUid(other) === podUid(pod));
    // A broken file that is moved over another one keeps what that one gave, too.
    const isBroken = written === undefined || pods.length < written.length;
    const kept = isBroken ? [...before.pods, ...before.kept].filter((pod) => !isSame(pod)) : [];
    state.set(file, { written: written ?? before.written, pods, kept });
    settle();
  };

  return {
    write(file, pods, how = "in place") {
      const text = pods.map((pod) => JSON.stringify(pod)).join("\n---\n");
      if (how === "in place") files.put(pathOf(file), text);
      else {
        files.put(pathOf(`.${file}`), text);
        files.move(pathOf(`.${file}`), pathOf(file));
      }
      take(file, text, pods);
    },
    spoil(file, text) {
      files.put(pathOf(file), text);
      take(file, text, undefined);
    },
    remove(file) {
      files.delete(pathOf(file));
      state.delete(file);
      settle();
    },
    move(from, to) {
      const { written = [] } = state.get(from) ?? {};
      const text = files.text(pathOf(from)) ?? "";
      files.move(pathOf(from), pathOf(to));
      state.delete(from);
      take(to, text, written);
    },
    files: () => [...state.keys()],
    isSpoilt: (file) => (state.get(file)?.pods.length ?? 0) < (state.get(file)?.written.length ?? 0),
    written: (file) => state.get(file)?.written ?? [],
    wantedSince: (uid) => wanted.get(uid),
    unwantedSince: (uid) => (wanted.has(uid) ? undefined : (unwanted.get(uid) ?? 0)),
    uncertainAt: (uid) => uncertain.get(uid) ?? Number.NEGATIVE_INFINITY,
    pod: (uid) => known.get(uid),
    gracePeriodMs(uid) {
      const pod = known.get(uid);
      const ms = pod === undefined ? 0 : gracePeriodMs(pod);
      return { least: ms, most: ms };
    },
    groups: () => groups([...state.values()].flatMap(({ pods }) => pods)),
    groupsWithKept: () => groups(withKept()),
  };
}
