import { isApiError } from "../../../../api/api-error.ts";
import type { Pod } from "../../../../api/gen/types.ts";
import { PODS } from "../../../../api/kube-resource.ts";
import { podReference, podUid } from "../../../../api/pods.ts";
import { isAbort } from "../../../../base/abort.ts";
import { assertNever } from "../../../../base/assert.ts";
import { CodedError, messageOf } from "../../../../base/errors.ts";
import type { Log } from "../../../../base/log.ts";
import { type KubeClient, KubeUnreachableError, type NamespacedName } from "../../../../kube/port.ts";
import type { PodReport } from "./pod-report.ts";
import type { ReportStep } from "./report-state.ts";

/**
 * The API server did not do what it was asked, which is to be asked again later. `unreachable`: nothing answered.
 * `refused`: the request was answered with an error. `contested`: no request was made, because something else changes
 * the status each time that it is sent.
 */
export class ReportError extends CodedError<"unreachable" | "refused" | "contested"> {
  override readonly name = "ReportError";
}

interface ReportSenderDeps {
  readonly client: Pick<KubeClient, "get" | "patch" | "delete">;
  readonly log: Log;
  /** Called whenever the API server has answered, also with an error. */
  onAnswer(): void;
}

/**
 * Takes the steps of a report until it rests or is over. A step is one request; a patch that does not apply takes up
 * to three.
 */
interface ReportSender {
  /**
   * Rejects with a ReportError where it has to be tried again, with AbortedError when the signal fires. A contested
   * status is sent only where `mayContest` says that it has waited, and then once.
   */
  send(report: PodReport, options: { mayContest: boolean; signal: AbortSignal }): Promise<"told" | "untold" | "over">;
}

export function createReportSender({ client, log, onAnswer }: ReportSenderDeps): ReportSender {
  const patch = async (report: PodReport, step: StepOf<"patch">, signal: AbortSignal): Promise<void> => {
    const { body, target } = step;
    const options = { subresource: "status", signal };
    const answer = await client.patch(PODS, nameOf(target), { type: "strategic", body }, options);
    report.note({ type: "patched", step, answer });
    onAnswer();
    log.debug("Status for pod updated successfully", { ...podReference(target), patch: step.text }, 3);
  };

  /**
   * The one place where the pod is read: what is known of it is so old that a request did not fit. False where the pod
   * of that name is another by now.
   */
  const readAnew = async (report: PodReport, target: Pod, signal: AbortSignal): Promise<boolean> => {
    const fresh = await client.get(PODS, nameOf(target), { signal });
    const isSame = podUid(fresh) === podUid(target);
    report.note(isSame ? { type: "read", answer: fresh } : { type: "gone", target });
    return isSame;
  };

  const takePatch = async (report: PodReport, step: StepOf<"patch">, signal: AbortSignal): Promise<void> => {
    try {
      await patch(report, step, signal);
    } catch (error) {
      if (!isApiError(error, "Conflict") && !isApiError(error, "Invalid")) throw error;
      if (!(await readAnew(report, step.target, signal))) return;
      const again = report.next();
      if (again.kind === "patch") await patchAgain(report, again, signal);
    }
  };

  const patchAgain = async (report: PodReport, step: StepOf<"patch">, signal: AbortSignal): Promise<void> => {
    try {
      await patch(report, step, signal);
    } catch (error) {
      if (isApiError(error, "Invalid")) report.note({ type: "invalid", step });
      throw error;
    }
  };

  const takeDelete = async (report: PodReport, target: Pod, signal: AbortSignal): Promise<void> => {
    try {
      await client.delete(PODS, nameOf(target), { gracePeriodSeconds: 0, uid: podUid(target), signal });
    } catch (error) {
      // As a rule another pod has the name; but a pod that is only being changed must not stay for ever.
      if (!isApiError(error, "Conflict")) throw error;
      if (await readAnew(report, target, signal)) throw error;
    }
    onAnswer();
    log.debug("Pod fully terminated and removed from etcd", { ...podReference(target) }, 3);
    report.note({ type: "gone", target });
  };

  const takeStep = async (report: PodReport, step: StepOf<"patch" | "delete">, signal: AbortSignal): Promise<void> => {
    try {
      if (step.kind === "patch") await takePatch(report, step, signal);
      else await takeDelete(report, step.target, signal);
    } catch (error) {
      if (isApiError(error)) onAnswer();
      if (!isApiError(error, "NotFound")) throw reportError(step, error);
      report.note({ type: "gone", target: step.target });
    }
  };

  return {
    async send(report, { mayContest, signal }) {
      for (let maySend = mayContest; ; maySend = false) {
        const step = report.next();
        switch (step.kind) {
          case "over":
            return "over";
          case "rest":
            return step.isTold ? "told" : "untold";
          case "patch":
          case "delete":
            if (step.kind === "patch" && report.isContested && !maySend) {
              throw new ReportError("contested", "somebody else changes the pod's status whenever it is sent");
            }
            await takeStep(report, step, signal);
            break;
          default:
            assertNever(step, "step of a report");
        }
      }
    },
  };
}

type StepOf<Kind extends ReportStep["kind"]> = Extract<ReportStep, { kind: Kind }>;

function nameOf(pod: Pod): NamespacedName {
  const { namespace, name } = podReference(pod);
  return { namespace, name };
}

function reportError(step: StepOf<"patch" | "delete">, cause: unknown): unknown {
  if (isAbort(cause)) return cause;
  const what = step.kind === "patch" ? "Failed to update status for pod" : "Failed to delete status for pod";
  const code = cause instanceof KubeUnreachableError ? "unreachable" : "refused";
  return new ReportError(code, `${what}: ${messageOf(cause)}`, { cause });
}
