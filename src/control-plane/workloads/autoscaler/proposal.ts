import type { MetricStatus } from "../../../api/gen/types.ts";
import type { ForeignReading } from "./foreign-metrics.ts";
import type { UsageInput } from "./replica-count.ts";

/** How many replicas one metric asks for. */
export type MetricProposal =
  | {
      readonly kind: "proposed";
      readonly replicas: number;
      /** How messages name the metric. */
      readonly metric: string;
      readonly status: MetricStatus;
    }
  | {
      readonly kind: "failed";
      /** For the condition and the event. */
      readonly reason: string;
      /** For the condition and the event. */
      readonly message: string;
      /** What the autoscaler as a whole says of it. */
      readonly summary: string;
    };

/** What a metric's proposal is computed of. */
export type ProposalInput = Omit<UsageInput, "resource" | "target"> & {
  readonly namespace: string;
  /** How many replicas the target says there are. */
  readonly statusReplicas: number;
  /** What a server of others says of the metric. */
  readonly reading: ForeignReading;
};
