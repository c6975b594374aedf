import { ApiError } from "../../api/api-error.ts";
import { typed } from "../../api/object.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../ports/request.ts";
import { groupResource } from "../ports/resource-kind.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { missing, refusal } from "./refusal.ts";

/** The namespaces that cannot be deleted, because the cluster's own parts need them. */
const IMMORTAL = new Set(["default", "kube-system", "kube-public"]);

/**
 * Access reviews work in namespaces that do not exist too, so that their answers do not reveal which namespaces exist.
 */
const ACCESS_REVIEWS = new Set(["localsubjectaccessreviews.authorization.k8s.io"]);

/**
 * Refuses objects in namespaces that do not exist, and new objects in namespaces that are being deleted
 * (`apiserver/pkg/admission/plugin/namespace/lifecycle`).
 */
export function createNamespaceLifecycle(reader: Pick<ResourceReader, "get">): AdmissionPlugin {
  return {
    name: "NamespaceLifecycle",
    mutate(request) {
      const { operation, namespace } = request;
      const resource = groupResource(request.kind);
      const isWrite = operation === "CREATE" || operation === "UPDATE";
      const isFree = resource === "namespaces" || namespace === "" || ACCESS_REVIEWS.has(resource);
      if (!isWrite || isFree) return undefined;
      const found = reader.get({ resource: "namespaces", namespace: "", name: namespace });
      if (found === undefined) throw missing("namespaces", namespace);
      const isTerminating = typed("Namespace", found).status?.phase === "Terminating";
      if (operation === "CREATE" && isTerminating) throw terminating(request);
      return undefined;
    },
    validate(request) {
      const isDeletion = request.operation === "DELETE" && groupResource(request.kind) === "namespaces";
      if (isDeletion && IMMORTAL.has(request.name)) throw refusal(request, "this namespace may not be deleted");
    },
  };
}

/**
 * The refusal of a namespace that is being deleted. Its cause is the one that client-go's `HasStatusCause(err,
 * NamespaceTerminatingCause)` looks for.
 */
function terminating(request: AdmissionRequest): ApiError {
  const { namespace } = request;
  const detail = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const error = refusal(request, detail);
  const message = `namespace ${namespace} is being terminated`;
  const causes = [{ reason: "NamespaceTerminating", message, field: "metadata.namespace" }];
  return new ApiError("Forbidden", error.message, { ...error.details, causes });
}
