import type { Subresource } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";

const TOKEN: Subresource = {
  name: "token",
  group: "authentication.k8s.io",
  version: "v1",
  kind: "TokenRequest",
  verbs: ["create"],
};

/** Service accounts. */
export const serviceAccountKind = defineKind({
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  shortNames: ["sa"],
  strategy: { returnsDeleted: true },
  subresources: [TOKEN],
});
