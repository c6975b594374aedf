import type { Pod, Secret } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import { isAbort } from "../../../base/abort.ts";
import type { Log } from "../../../base/log.ts";
import type { Decision } from "../../../base/timeline.ts";
import { describeKubeFailure } from "../../../kube/outage-log.ts";
import type { ObjectRefs } from "./object-refs.ts";

/** The registry credentials that a pod brings. */
export interface PullSecrets {
  /**
   * Rejects only with AbortedError: without a secret the image may be public, or the node may have its own credentials.
   */
  of(pod: Pod, signal: AbortSignal): Promise<PodPullSecrets>;
}

interface PodPullSecrets {
  /** The secrets are in the pod's order. */
  readonly secrets: Secret[];
  /** The names of the secrets that could not be read. */
  readonly missing: string[];
  /** The warning to the pod's user about the missing secrets; undefined when none is missing. */
  readonly warning: Decision | undefined;
}

interface PullSecretsDeps {
  readonly refs: Pick<ObjectRefs, "secret">;
  readonly log: Log;
}

/** Reads what `spec.imagePullSecrets` names, as `getPullSecretsForPod` does (pkg/kubelet/kubelet_pods.go). */
export function createPullSecrets({ refs, log }: PullSecretsDeps): PullSecrets {
  return {
    async of(pod, signal) {
      const { namespace, name: podName, uid } = podReference(pod);
      const names = (pod.spec?.imagePullSecrets ?? []).flatMap(({ name = "" }) => (name === "" ? [] : [name]));
      const missing: string[] = [];
      const found = names.map(async (name) => {
        try {
          return [await refs.secret(namespace, name, signal)];
        } catch (error) {
          if (isAbort(error)) throw error;
          missing.push(name);
          const fields = { pod: `${podName}_${namespace}`, uid, secret: name, error: describeKubeFailure(error) };
          log.debug("Failed to read a pull secret, the image pull may not succeed", fields, 2);
          return [];
        }
      });
      const secrets = (await Promise.all(found)).flat();
      // Several secrets fail in any order; with a fixed order the message stays the same, and so makes only one event.
      const inOrder = names.filter((name) => missing.includes(name));
      return { secrets, missing: inOrder, warning: inOrder.length > 0 ? warnOf(inOrder) : undefined };
    },
  };
}

function warnOf(missing: readonly string[]): Decision {
  const message = `Unable to retrieve some image pull secrets (${missing.join(", ")}); attempting to pull the image may not succeed.`;
  return { type: "Warning", reason: "FailedToRetrieveImagePullSecret", message };
}
