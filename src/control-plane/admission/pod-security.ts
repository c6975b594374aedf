import type { AdmissionPlugin } from "../ports/request.ts";
import { refusal, writtenObject } from "./refusal.ts";

const ENFORCE = "pod-security.kubernetes.io/enforce";
const ADVISORY = ["pod-security.kubernetes.io/warn", "pod-security.kubernetes.io/audit"];

/**
 * Refuses namespaces that ask for the enforcement of pod security, which is not built: a namespace that had the label
 * and let privileged pods in would be worse than none. A namespace that only asks for advice gets a warning.
 */
export function createPodSecurity(): AdmissionPlugin {
  return {
    name: "PodSecurity",
    validate(request) {
      const object = writtenObject(request, "namespaces");
      if (object === undefined) return;
      const labels = object.metadata.labels ?? {};
      const before = request.current?.metadata.labels ?? {};
      const isNew = (name: string) => {
        const level = labels[name];
        return level !== undefined && level !== "privileged" && level !== before[name];
      };
      if (isNew(ENFORCE)) {
        throw refusal(
          request,
          `the pod security level "${labels[ENFORCE]}" cannot be enforced: this API server has no pod security admission, and takes no ${ENFORCE} but "privileged"`,
        );
      }
      for (const name of ADVISORY.filter(isNew)) {
        request.warn(`${name}: this API server has no pod security admission, pods are not checked`);
      }
    },
  };
}
