import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { createTimeline, type Timeline } from "../../base/timeline.ts";
import { createPodHistory } from "../../history/pod-history.ts";
import type { HistoryAnswer, HistoryQuery } from "../../history/read-history.ts";
import type { Controller } from "../control-loop/controller.ts";
import { describeDeletion } from "../decisions/describe-deletion.ts";
import type { Deletion } from "../ports/deletion.ts";
import type { ResourceReader } from "../ports/resources.ts";
import type { PodHistoryPlace } from "./control-plane-ports.ts";

interface DecisionsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly reader: ResourceReader;
  /** Default: the decisions are known as long as this process lives. */
  readonly history?: PodHistoryPlace | undefined;
}

/** What the control plane has decided about pods. */
interface Decisions {
  readonly timeline: Pick<Timeline, "record">;
  noteDeletion(deletion: Deletion): void;
  read(query: HistoryQuery): Promise<HistoryAnswer>;
  readonly controllers: readonly Controller[];
}

/** Follows the decisions from the beginning. */
export function composeDecisions({ clock, log, reader, history: place }: DecisionsDeps): Decisions {
  const timeline = createTimeline(clock);
  const noteDeletion = (deletion: Deletion) => {
    const { namespace = "", name = "", uid = "" } = deletion.object.metadata;
    const decision = describeDeletion(deletion);
    if (decision !== undefined) timeline.record({ namespace, name, uid }, decision);
  };
  if (place === undefined) {
    const gaps = ["the control plane keeps no history: it knows its decisions since its start"];
    const read = async (query: HistoryQuery) => ({ records: timeline.readNamed(query), unread: gaps });
    return { timeline, noteDeletion, read, controllers: [] };
  }
  const present = () => {
    const uids = new Set(reader.list("pods").map(({ metadata }) => metadata.uid));
    return (uid: string) => uids.has(uid);
  };
  const { files, ...options } = place;
  const history = createPodHistory({ files, clock, log, timeline, present }, options);
  return { timeline, noteDeletion, read: history.read, controllers: [history] };
}
