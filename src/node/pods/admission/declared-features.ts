import { computeRequiredFeatures } from "../../../api/declared-features.ts";
import type { AdmitHandler } from "./pod-rejection.ts";

/**
 * Refuses pods that require a feature which the node does not declare. Such a pod was bound by hand, or by a scheduler
 * that does not know of the feature. A pod that runs already is left alone (pkg/kubelet/lifecycle/handlers.go).
 * `declared`: see the node's status; undefined where nodes declare nothing.
 */
export function createDeclaredFeaturesHandler(declared: (() => readonly string[]) | undefined): AdmitHandler {
  return ({ spec, status }) => {
    if (declared === undefined || spec === undefined || (status?.phase ?? "Pending") !== "Pending") return undefined;
    const required = computeRequiredFeatures(spec);
    if (required.length === 0) return undefined;
    const known = declared();
    const missing = required.filter((name) => !known.includes(name));
    if (missing.length === 0) return undefined;
    const message = `Pod requires node features that are not available: ${missing.join(", ")}`;
    return { reason: "PodFeatureUnsupported", message };
  };
}
