import type { Pod } from "../../../../api/gen/types.ts";
import type { Clock } from "../../../../base/clock.ts";
import {
  type FirstReportEvent,
  initialReport,
  isContested,
  type Moment,
  nextReport,
  planStep,
  type ReportEvent,
  type ReportStep,
} from "./report-state.ts";

/** The report of one life of a pod: holds its state, and moves it by the table of `report-state.ts`. */
export interface PodReport {
  note(event: ReportEvent): void;
  /** What is to be asked of the API server now. */
  next(): ReportStep;
  /** The published status was sent several times of late and somebody else changes it each time. */
  readonly isContested: boolean;
  /** The API server is told everything: how long it took since the oldest change; undefined where there was none. */
  takeLatencyMs(): number | undefined;
}

interface PodReportDeps {
  readonly clock: Pick<Clock, "now" | "monotonic">;
  /** The API server's pod that shows the node's, as the watch brought it. */
  apiPod(): Pod | undefined;
}

export function createPodReport({ clock, apiPod }: PodReportDeps, first: FirstReportEvent): PodReport {
  const moment = (): Moment => ({ nowMs: clock.now(), atMs: clock.monotonic() });
  let state = initialReport(first, moment());

  const note = (event: ReportEvent): void => {
    state = nextReport(state, event, moment());
  };

  return {
    note,
    next() {
      const plan = planStep(state, apiPod(), moment());
      state = plan.state;
      return plan.step;
    },
    get isContested() {
      return isContested(state, moment());
    },
    takeLatencyMs() {
      const { untoldSinceMs } = state;
      note({ type: "told" });
      return untoldSinceMs === undefined ? undefined : clock.monotonic() - untoldSinceMs;
    },
  };
}
