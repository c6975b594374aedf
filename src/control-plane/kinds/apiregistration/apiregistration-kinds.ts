import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";

/**
 * The registrations of API servers of others. They can be listed but not created: requests for their groups are not
 * passed on.
 */
export const API_REGISTRATION_KINDS: readonly ResourceKind[] = [
  defineKind({
    group: "apiregistration.k8s.io",
    kind: "APIService",
    plural: "apiservices",
    namespaced: false,
    categories: ["api-extensions"],
    status: true,
    strategy: { refusal: "this API server passes no requests on to others, so that none can be registered" },
  }),
];
