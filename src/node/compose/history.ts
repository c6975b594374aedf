import type { Part } from "../../base/run-parts.ts";
import { createPodHistory, type PodHistory } from "../../history/pod-history.ts";
import { recordStatusChanges } from "../pods/status/record-changes.ts";
import type { Foundation } from "./foundation.ts";
import type { SourceParts } from "./sources.ts";

/** The decisions about pods that are kept on the disk. */
export interface HistoryParts {
  /** Undefined where the configuration keeps none. */
  readonly history: Pick<PodHistory, "read"> | undefined;
  readonly parts: readonly Part[];
}

/** Follows the timeline from the beginning; what is decided at the end is written, too. */
export function composeHistory(foundation: Foundation, sources: SourceParts): HistoryParts {
  const { ports, config, timeline } = foundation;
  recordStatusChanges(foundation);
  if (config.history === undefined) return { history: undefined, parts: [] };
  const { host, log } = ports;
  const present = () => (uid: string) => sources.desired.byUid(uid) !== undefined;
  const deps = { files: host.files, clock: host.clock, log, timeline, present };
  const history = createPodHistory(deps, config.history);
  return { history, parts: [{ name: "history of pods", run: history.run }] };
}
