import { isApiError } from "../../../api/api-error.ts";
import type { Pod } from "../../../api/gen/types.ts";
import { PODS } from "../../../api/kube-resource.ts";
import { podReference, podUid } from "../../../api/pods.ts";
import { isAbort } from "../../../base/abort.ts";
import { assertNever } from "../../../base/assert.ts";
import { CodedError, messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { type KubeClient, KubeUnreachableError, type ObjectName } from "../../../kube/port.ts";
import type { DeliveryStep, StatusDelivery } from "./status-delivery.ts";

/**
 * The API was asked and did not do it; to be tried again later. `unreachable`: nobody answered. `refused`: this request
 * was answered with an error. `contested`: nobody was asked, since
 * somebody changes what is sent each time.
 */
export class DeliveryError extends CodedError<"unreachable" | "refused" | "contested"> {
  override readonly name = "DeliveryError";
}

interface DelivererDeps {
  readonly client: Pick<KubeClient, "get" | "patch" | "delete">;
  readonly log: Log;
  /** Called whenever the API has answered, with whatever. */
  onAnswer(): void;
}

/** Takes the steps of a delivery until there is none: every step is one request, but for a patch that does not apply. */
interface Deliverer {
  /**
   * Rejects with a DeliveryError where it has to be tried again, with AbortedError when the signal fires. A contested
   * status is sent only where `mayContest` says that it has waited, and then once.
   */
  deliver(
    delivery: StatusDelivery,
    options: { mayContest: boolean; signal: AbortSignal },
  ): Promise<"told" | "untold" | "over">;
}

export function createDeliverer({ client, log, onAnswer }: DelivererDeps): Deliverer {
  const patch = async (delivery: StatusDelivery, step: StepOf<"patch">, signal: AbortSignal): Promise<void> => {
    const { body, target } = step;
    const options = { subresource: "status", signal };
    delivery.acknowledge(step, await client.patch(PODS, nameOf(target), { type: "strategic", body }, options));
    onAnswer();
    log.debug("Status for pod updated successfully", { ...podReference(target), patch: step.text }, 3);
  };

  /**
   * The one place where the pod is read: what we know of it is so old that a request did not fit. False where the pod of
   * that name is another by now.
   */
  const readAnew = async (delivery: StatusDelivery, target: Pod, signal: AbortSignal): Promise<boolean> => {
    const fresh = await client.get(PODS, nameOf(target), { signal });
    const isSame = podUid(fresh) === podUid(target);
    if (isSame) delivery.reread(fresh);
    else delivery.vanish(target);
    return isSame;
  };

  const takePatch = async (delivery: StatusDelivery, step: StepOf<"patch">, signal: AbortSignal): Promise<void> => {
    try {
      await patch(delivery, step, signal);
    } catch (error) {
      if (!isApiError(error, "Conflict") && !isApiError(error, "Invalid")) throw error;
      if (!(await readAnew(delivery, step.target, signal))) return;
      const again = delivery.next();
      if (again.kind === "patch") await patchAgain(delivery, again, signal);
    }
  };

  const patchAgain = async (delivery: StatusDelivery, step: StepOf<"patch">, signal: AbortSignal): Promise<void> => {
    try {
      await patch(delivery, step, signal);
    } catch (error) {
      if (isApiError(error, "Invalid")) delivery.refuse(step);
      throw error;
    }
  };

  const takeDelete = async (delivery: StatusDelivery, target: Pod, signal: AbortSignal): Promise<void> => {
    try {
      await client.delete(PODS, nameOf(target), { gracePeriodSeconds: 0, uid: podUid(target), signal });
    } catch (error) {
      // As a rule another pod has the name; but a pod that is only being changed must not stay for ever.
      if (!isApiError(error, "Conflict")) throw error;
      if (await readAnew(delivery, target, signal)) throw error;
    }
    onAnswer();
    log.debug("Pod fully terminated and removed from etcd", { ...podReference(target) }, 3);
    delivery.vanish(target);
  };

  const takeStep = async (
    delivery: StatusDelivery,
    step: StepOf<"patch" | "delete">,
    signal: AbortSignal,
  ): Promise<void> => {
    try {
      if (step.kind === "patch") await takePatch(delivery, step, signal);
      else await takeDelete(delivery, step.target, signal);
    } catch (error) {
      if (isApiError(error)) onAnswer();
      if (!isApiError(error, "NotFound")) throw deliveryError(step, error);
      delivery.vanish(step.target);
    }
  };

  return {
    async deliver(delivery, { mayContest, signal }) {
      for (let maySend = mayContest; ; maySend = false) {
        const step = delivery.next();
        switch (step.kind) {
          case "over":
            return "over";
          case "rest":
            return step.isTold ? "told" : "untold";
          case "patch":
          case "delete":
            if (step.kind === "patch" && delivery.isContested && !maySend) {
              throw new DeliveryError("contested", "somebody else changes the pod's status whenever it is sent");
            }
            await takeStep(delivery, step, signal);
            break;
          default:
            assertNever(step, "step of a delivery");
        }
      }
    },
  };
}

type StepOf<Kind extends DeliveryStep["kind"]> = Extract<DeliveryStep, { kind: Kind }>;

function nameOf(pod: Pod): ObjectName {
  const { namespace, name } = podReference(pod);
  return { namespace, name };
}

function deliveryError(step: StepOf<"patch" | "delete">, cause: unknown): unknown {
  if (isAbort(cause)) return cause;
  const what = step.kind === "patch" ? "Failed to update status for pod" : "Failed to delete status for pod";
  const code = cause instanceof KubeUnreachableError ? "unreachable" : "refused";
  return new DeliveryError(code, `${what}: ${messageOf(cause)}`, { cause });
}
