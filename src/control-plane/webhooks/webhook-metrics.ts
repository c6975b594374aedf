import type { Metrics } from "../../base/metrics.ts";
import type { AdmissionRequest } from "../ports/request.ts";
import type { Webhook } from "./webhook-configurations.ts";

/** One call of a webhook. */
interface ObservedCall {
  readonly webhook: Webhook;
  readonly operation: AdmissionRequest["operation"];
  readonly seconds: number;
  /** The code of the answer; 0 when the server itself failed. */
  readonly code: number;
  /** Why the request was refused. Default: it was not. */
  readonly rejection?: "calling_webhook_error" | "apiserver_internal_error" | "no_error";
}

/** Counts calls under upstream's names (`apiserver_admission_webhook_…`). */
export interface WebhookMetrics {
  observe(call: ObservedCall): void;
  countFailOpen(webhook: Webhook): void;
}

const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10, 25];
/** Codes beyond this are counted as one, so that no webhook makes series at will. */
const MAX_CODE = 600;
const TYPES = { mutating: "admit", validating: "validating" } as const;

/** Declares the series. Their labels are names of webhooks, of which an administrator makes a few. */
export function createWebhookMetrics(metrics: Metrics): WebhookMetrics {
  const duration = metrics.histogram(
    "apiserver_admission_webhook_admission_duration_seconds",
    "Admission webhook latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).",
    { labels: ["name", "type", "operation", "rejected"], buckets: BUCKETS },
  );
  const total = metrics.counter(
    "apiserver_admission_webhook_request_total",
    "Admission webhook request total, identified by name and broken out for each admission type (validating or mutating) and operation.",
    ["name", "type", "operation", "code", "rejected"],
  );
  const rejections = metrics.counter(
    "apiserver_admission_webhook_rejection_count",
    "Admission webhook rejection count, identified by name and broken out for each admission type (validating or admit) and operation.",
    ["name", "type", "operation", "error_type", "rejection_code"],
  );
  const failOpen = metrics.counter(
    "apiserver_admission_webhook_fail_open_count",
    "Admission webhook fail open count, identified by name and broken out for each admission type (validating or admit).",
    ["name", "type"],
  );
  return {
    observe({ webhook: { name, type }, operation, seconds, code, rejection }) {
      const labels = { name, type: TYPES[type], operation, rejected: String(rejection !== undefined) };
      const shownCode = String(Math.min(code, MAX_CODE));
      duration.observe(seconds, labels);
      total.add({ ...labels, code: shownCode });
      if (rejection === undefined) return;
      rejections.add({ name, type: TYPES[type], operation, error_type: rejection, rejection_code: shownCode });
    },
    countFailOpen({ name, type }) {
      failOpen.add({ name, type: TYPES[type] });
    },
  };
}
